// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3 version: what this build is made of.
#include "runtime/support/Protocol.h"
#include "wrapper/r3/Command.h"
#include "wrapper/remix/Schema.h"

namespace r3 {

namespace {

class Version : public Command {
public:
  void declare(Flags &Options) override { (void)Options; }

  Expected<int> run(Context &Given) override {
    Given.Out.print(format("r3 %s\nbuild %s\nllvm %s\njournal version %d\n",
                           R3_VERSION, buildId().c_str(), R3_LLVM_VERSION,
                           journalVersion()));
    return 0;
  }
};

} // namespace

std::unique_ptr<Command> makeVersion() { return std::make_unique<Version>(); }

} // namespace r3
