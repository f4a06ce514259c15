// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM ends the process where an option is registered twice. A second copy of
// this library in one clang therefore uses the options of the first.
#include "plugin/Settings.h"

#include "llvm/Support/CommandLine.h"

using namespace llvm;

namespace r3::plugin {

using TextOption = cl::opt<std::string>;

static TextOption *textOption(StringRef Name, const char *Help,
                              const char *Default) {
  auto &Registered = cl::getRegisteredOptions();
  auto It = Registered.find(Name);
  if (It != Registered.end())
    return static_cast<TextOption *>(It->second);
  return new TextOption(Name, cl::desc(Help), cl::init(std::string(Default)));
}

// Registered when the library is loaded: clang parses -mllvm right after.
static TextOption *const Header =
    textOption("r3-profile-header", "the unit's header in the R3 profile", "");
static TextOption *const Mode = textOption(
    "r3-mode", "record: apply and embed; use: apply the profile only",
    "record");

std::string profileHeader() { return Header->getValue(); }

bool embedsDeviceCode() { return Mode->getValue() != "use"; }

} // namespace r3::plugin
