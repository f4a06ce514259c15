// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3 init: r3.toml, whose place is the project's root, and an empty profile.
// What is there already stays as it is.
#include "wrapper/r3/Command.h"
#include "wrapper/r3/Config.h"

#include "runtime/support/Files.h"

#include <filesystem>

namespace r3 {

namespace {

const char *const ReadmeText =
    "Tuned kernels, written by `r3 apply` and read by clang-r3: one folder a\n"
    "kernel, and in units/ one header for each source file. Commit all of "
    "it.\n";

class Init : public Command {
public:
  void declare(Flags &Options) override { (void)Options; }

  Expected<int> run(Context &Given) override {
    std::error_code Failure;
    std::string Here = std::filesystem::current_path(Failure).string();
    // In a project already: a second root below it would hide the first.
    if (Given.HasRoot && Given.Root != Here)
      Given.warn(Given.Root + "/r3.toml is above: what lies below " + Here +
                 " belongs to the new r3.toml from now on");
    if (Error E = writeOnce(Given, Here + "/r3.toml", ConfigTemplate))
      return E;
    if (Error E = createFolder(Here + "/r3.profile"))
      return E;
    if (Error E = writeOnce(Given, Here + "/r3.profile/README", ReadmeText))
      return E;
    Given.Out.print("next: build with clang-r3 as the compiler, for example\n"
                    "  make CXX=clang-r3\n"
                    "  cmake -B build -DCMAKE_CXX_COMPILER=clang-r3 "
                    "-DCMAKE_CUDA_COMPILER=clang-r3\n"
                    "then: r3 record -- ./program\n");
    return 0;
  }

private:
  static Error writeOnce(Context &Given, const std::string &Path,
                         const char *Text) {
    std::error_code Failure;
    bool There = std::filesystem::exists(Path, Failure);
    if (!There)
      if (Error E = writeFileAtomically(Path, std::string_view(Text)))
        return E;
    Given.Out.print((There ? "kept    " : "written ") + Path + "\n");
    return Error::success();
  }
};

} // namespace

std::unique_ptr<Command> makeInit() { return std::make_unique<Init>(); }

} // namespace r3
