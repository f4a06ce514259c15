// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading and writing r3.profile.
#include "wrapper/r3/ProfileFolder.h"

#include "runtime/support/Files.h"

#include <filesystem>

namespace r3 {

namespace fs = std::filesystem;

Expected<ProfileFolder> ProfileFolder::open(const std::string &Root) {
  ProfileFolder Result(Root + "/r3.profile");
  std::error_code Failure;
  for (fs::directory_iterator At(Result.Path, Failure), End;
       !Failure && At != End; At.increment(Failure)) {
    std::string File = (At->path() / "kernel.toml").string();
    if (!fs::exists(File))
      continue;
    auto Text = readTextFile(File);
    if (!Text)
      return Text.error();
    auto Kernel = KernelProfile::parse(*Text, File);
    if (!Kernel)
      return Kernel.error();
    std::string Key = Kernel->Key;
    Result.Kernels[Key] = {At->path().filename().string(), std::move(*Kernel),
                           std::move(*Text), false};
  }
  return Result;
}

KernelProfile ProfileFolder::find(const std::string &Key) const {
  auto Known = Kernels.find(Key);
  if (Known != Kernels.end())
    return Known->second.Kernel;
  KernelProfile Fresh;
  Fresh.Key = Key;
  return Fresh;
}

bool ProfileFolder::put(const KernelProfile &Kernel) {
  Entry &E = Kernels[Kernel.Key];
  // A folder that is there keeps its name, whatever the kernel is called now.
  if (E.Folder.empty())
    E.Folder = Kernel.folder();
  std::string Text = Kernel.toml();
  bool Differs = Text != E.Text;
  E.Kernel = Kernel;
  E.Text = std::move(Text);
  E.Changed |= Differs;
  return Differs;
}

std::string ProfileFolder::folderOf(const std::string &Key) const {
  auto Known = Kernels.find(Key);
  return Known == Kernels.end() ? "" : Known->second.Folder;
}

Error ProfileFolder::writeKernels() {
  for (auto &[Key, E] : Kernels) {
    if (!E.Changed)
      continue;
    std::string Folder = Path + "/" + E.Folder;
    if (Error Failure = createFolder(Folder))
      return Failure;
    if (Error Failure = writeFileAtomically(Folder + "/kernel.toml",
                                            std::string_view(E.Text)))
      return Failure;
    E.Changed = false;
  }
  return Error::success();
}

Expected<std::vector<std::string>> ProfileFolder::writeHeaders() {
  // Header -> kernel folder -> text.
  std::map<std::string, std::map<std::string, std::string>> Headers;
  std::map<std::string, std::string> SourceOf;
  for (const auto &[Key, E] : Kernels)
    for (const std::string &Source : E.Kernel.Units) {
      Headers[unitHeaderPath(Source)][E.Folder] = E.Text;
      SourceOf[unitHeaderPath(Source)] = Source;
    }
  std::error_code Failure;
  for (fs::recursive_directory_iterator At(Path + "/units", Failure), End;
       !Failure && At != End; At.increment(Failure))
    if (At->path().extension() == ".h")
      Headers[fs::relative(At->path(), Path).string()];

  std::vector<std::string> Rewritten;
  for (const auto &[Header, Folders] : Headers) {
    std::string File = Path + "/" + Header;
    std::string Text = unitHeaderText(Folders);
    auto Before = readTextFile(File);
    if (Before && *Before == Text)
      continue;
    if (Error E = createFolder(fs::path(File).parent_path().string()))
      return E;
    if (Error E = writeFileAtomically(File, std::string_view(Text)))
      return E;
    auto Source = SourceOf.find(Header);
    Rewritten.push_back(Source == SourceOf.end() ? Header : Source->second);
  }
  return Rewritten;
}

} // namespace r3
