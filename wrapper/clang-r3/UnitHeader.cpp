// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An existing header is never touched: its time of change is what make and
// ninja look at.
#include "wrapper/clang-r3/UnitHeader.h"

#include "runtime/support/Files.h"
#include "runtime/support/Profile.h"
#include "runtime/support/Store.h"

#include <filesystem>

namespace fs = std::filesystem;

namespace r3::clangr3 {

namespace {

Error createEmpty(const std::string &Path) {
  if (Error Problem = createFolder(fs::path(Path).parent_path().string()))
    return Problem;
  return writeFileAtomically(Path, unitHeaderText({}));
}

bool exists(const std::string &Path) {
  std::error_code Ignored;
  return fs::exists(Path, Ignored);
}

// Path as the user would write it beside Source.
std::string spelling(const fs::path &Path, const std::string &Source) {
  if (fs::path(Source).is_absolute())
    return Path.string();
  std::error_code Problem;
  fs::path Relative = fs::proximate(Path, Problem);
  return Problem ? Path.string() : Relative.string();
}

// Where headers go if the profile folder is read-only.
Expected<std::string> pathInStore(const std::string &Root,
                                  const std::string &StoreOverride,
                                  const std::string &Name, bool Create) {
  std::string Folder = Store::pathFor(Root, StoreOverride);
  Expected<Store> Opened = Store::open(Folder, Create);
  if (!Opened)
    return Opened.error();
  std::string Path = Opened->cachePath(Name);
  if (Create && !exists(Path))
    if (Error Problem = createEmpty(Path))
      return Problem;
  return Path;
}

} // namespace

Expected<UnitHeader> unitHeader(const std::string &Source,
                                const std::string &Profile,
                                const std::string &StoreOverride, bool Create) {
  std::error_code Problem;
  fs::path Absolute = fs::weakly_canonical(fs::absolute(Source), Problem);
  if (Problem || Source == "-")
    return UnitHeader{};
  Expected<std::string> Root = findRoot(Absolute.parent_path().string());
  if (!Root && Profile.empty())
    return UnitHeader{};
  fs::path Base =
      Root ? fs::path(*Root) : fs::absolute(Profile).parent_path();
  fs::path Folder =
      Profile.empty() ? Base / "r3.profile" : fs::absolute(Profile);
  std::string Name = Absolute.lexically_proximate(Base).generic_string();
  // A source outside the root would leave the profile folder: no header.
  if (Name.starts_with(".."))
    return UnitHeader{};

  std::string Relative = unitHeaderPath(Name);
  fs::path Path = Folder / Relative;
  if (!Create || exists(Path.string()))
    return UnitHeader{spelling(Path, Source), false};
  if (Error ReadOnly = createEmpty(Path.string())) {
    Expected<std::string> Kept =
        pathInStore(Base.string(), StoreOverride, Relative, Create);
    if (!Kept)
      return ReadOnly;
    return UnitHeader{spelling(*Kept, Source), true};
  }
  return UnitHeader{spelling(Path, Source), false};
}

} // namespace r3::clangr3
