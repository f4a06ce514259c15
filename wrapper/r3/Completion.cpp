// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3 completion: prints the script of a shell. The scripts are small and ask
// `r3 complete WORDS...` for candidates, which come from the same tables as
// the help, and from the store for names of kernels.
#include "runtime/support/Files.h"
#include "runtime/support/Process.h"
#include "wrapper/r3/Catalogue.h"
#include "wrapper/r3/CommandLine.h"

#include <filesystem>
#include <set>

namespace r3 {

namespace {

class Completion : public Command {
public:
  void declare(Flags &Options) override {
    Options.choice("SHELL", Shell, {"bash", "zsh", "fish"},
                   "whose script is printed");
  }

  Expected<int> run(Context &Given) override {
    if (Shell.empty())
      return fail(ErrorCode::Usage, "which shell: bash, zsh or fish? (see r3 "
                                    "completion --help)");
    auto Text =
        readTextFile(installationPath("share/r3/completion/r3." + Shell));
    if (!Text)
      return Text.error();
    Given.Out.print(*Text);
    return 0;
  }

private:
  std::string Shell;
};

std::vector<std::string> kernelNames() {
  auto Variables = Environment::read();
  std::error_code Failure;
  std::string Here = std::filesystem::current_path(Failure).string();
  if (!Variables || Failure)
    return {};
  auto From =
      Store::open(Store::pathFor(Here, Variables->text("R3_STORE")), false);
  std::set<std::string> Names;
  if (From)
    for (const CatalogueKernel &K : Catalogue::read(*From).Kernels)
      Names.insert(K.Display);
  return {Names.begin(), Names.end()};
}

/// What may follow Command, given the word before the unfinished one.
std::vector<std::string> candidates(const std::string &Command,
                                    const std::string &Before) {
  if (Before == "--device")
    return {"cuda", "cpu"};
  if (Before == "--accept")
    return {"weak"};
  if (Command == "completion")
    return {"bash", "zsh", "fish"};
  std::vector<std::string> Words = Parser().optionNames(Command);
  if (Command == "store")
    Words.push_back("gc");
  static const std::set<std::string> OfKernels = {
      "replay",   "remix",  "try",         "explain",
      "minimise", "bisect", "export-test", "apply"};
  if (OfKernels.count(Command))
    for (std::string &Name : kernelNames())
      Words.push_back(std::move(Name));
  return Words;
}

} // namespace

std::vector<std::string> completeLine(const std::vector<std::string> &Line) {
  std::string Last = Line.empty() ? "" : Line.back();
  std::vector<std::string> Words;
  if (Line.size() <= 1)
    for (const CommandRow &Row : commandTable())
      Words.push_back(Row.Name);
  else
    Words = candidates(Line[0], Line[Line.size() - 2]);
  std::erase_if(
      Words, [&](const std::string &Word) { return !Word.starts_with(Last); });
  return Words;
}

std::unique_ptr<Command> makeCompletion() {
  return std::make_unique<Completion>();
}

} // namespace r3
