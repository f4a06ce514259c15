// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3 inspect: finds out what a file is by its first bytes, or what an id names,
// and prints it. How each format is printed is in InspectFormats.cpp.
#include "runtime/support/Files.h"
#include "wrapper/r3/Command.h"
#include "wrapper/r3/InspectFormats.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace r3 {

namespace fs = std::filesystem;

namespace {

using Bytes = std::span<const uint8_t>;

/// How a file is known, and who prints it.
struct FormatRow {
  std::string_view Magic; // at the beginning
  Expected<std::string> (*Print)(Bytes Content, const std::string &Path);
};

const FormatRow Formats[] = {
    {std::string_view("R3REC\0\0\0", 8), manifestText},
    {std::string_view("R3PACK\0\0", 8), packText},
    {std::string_view("R3INDEX\0", 8), packIndexText},
    {std::string_view("R3RUN\0\0\0", 8), runText},
    {std::string_view("R3UNIT\0\0", 8), unitSectionText},
    {std::string_view("\x7f"
                      "ELF",
                      4),
     elfText},
    {std::string_view("SQLite format 3\0", 16), journalText},
    {"// r3 profile header", headerText},
    {"format =", kernelProfileText},
    {"{", unitJsonText},
};

Expected<std::string> fileText(const std::string &Path) {
  auto Content = readFile(Path);
  if (!Content)
    return Content.error();
  std::string_view Start(reinterpret_cast<const char *>(Content->data()),
                         std::min<size_t>(Content->size(), 64));
  for (const FormatRow &Row : Formats)
    if (Start.starts_with(Row.Magic))
      return Row.Print(*Content, Path);
  return fail(ErrorCode::Damaged,
              "%s: no file of R3: neither manifest, pack, run, unit, profile, "
              "journal nor program",
              Path.c_str());
}

class Inspect : public Command {
public:
  void declare(Flags &Options) override {
    Options.texts("FILE", Names, "",
                  "files, or ids of recordings, units, runs, variants or "
                  "kernels (their first digits)");
  }

  Expected<int> run(Context &Given) override {
    if (Names.empty())
      return fail(ErrorCode::Usage,
                  "which file or id? (see r3 inspect --help)");
    for (const std::string &Name : Names) {
      std::error_code Failure;
      auto Text = fs::is_regular_file(Name, Failure) ? fileText(Name)
                                                     : idText(Given, Name);
      if (!Text)
        return Text.error();
      Given.Out.print(*Text);
    }
    return 0;
  }

private:
  /// Everything in the store whose id begins with Id: one thing, or a list.
  static Expected<std::string> idText(const Context &Given,
                                      const std::string &Id) {
    auto From = Store::open(Given.StorePath, /*Create=*/false);
    if (!From || Id.find('/') != std::string::npos || Id.size() < 4)
      return fail(ErrorCode::NotFound, "%s: no such file%s", Id.c_str(),
                  From ? ", and no id of the store (at least 4 digits)" : "");
    std::set<std::string> Files;
    auto Note = [&](const std::vector<std::string> &Paths) {
      for (const std::string &Path : Paths) {
        fs::path P(Path);
        // A kernel's key names the folder of its recordings.
        if (P.filename().string().starts_with(Id) ||
            (P.extension() == ".r3rec" &&
             P.parent_path().filename().string().starts_with(Id)))
          Files.insert(Path);
      }
    };
    Note(From->listRecordings());
    Note(From->listUnits());
    Note(From->listRuns());
    auto Variants = variantTexts(From->journalPath(), Id);
    if (!Variants)
      return Variants.error();
    if (Files.empty() && Variants->empty())
      return fail(ErrorCode::NotFound, "%s: nothing in %s has this id",
                  Id.c_str(), From->path().c_str());
    std::string Text;
    for (const std::string &Path : Files) {
      auto One = fileText(Path);
      if (!One)
        return One.error();
      Text += "== " + Path + "\n" + *One;
    }
    return Text + *Variants;
  }

  std::vector<std::string> Names;
};

} // namespace

std::unique_ptr<Command> makeInspect() { return std::make_unique<Inspect>(); }

} // namespace r3
