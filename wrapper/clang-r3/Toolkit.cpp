// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finding the CUDA Toolkit in the order of clang's CudaInstallationDetector:
// --cuda-path, the folder above the first ptxas in PATH, /usr/local/cuda,
// /usr/lib/cuda. A ptxas may be a script that stands elsewhere, so a toolkit is
// where its headers are. Where clang finds none: the folders above the other
// ptxas in PATH, then the newest /usr/local/cuda-X.Y.
#include "wrapper/clang-r3/Toolkit.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace fs = std::filesystem;

namespace r3::clangr3 {

namespace {

// What a toolkit can build begins here, from this version on.
struct Floor {
  unsigned Version;
  const char *Architecture;
};
constexpr Floor Floors[] = {{13000, "sm_75"}};

// CUDA_VERSION in cuda.h; 0 where there is no toolkit.
unsigned versionAt(const std::string &Path) {
  std::ifstream In(Path + "/include/cuda.h");
  const std::string Define = "#define CUDA_VERSION ";
  for (std::string Line; std::getline(In, Line);)
    if (Line.starts_with(Define))
      return static_cast<unsigned>(
          std::strtoul(Line.c_str() + Define.size(), nullptr, 10));
  return 0;
}

// The folders above each bin/ptxas in PATH; empty for one in another folder.
std::vector<std::string> pathsOfAssemblers(const std::string &SearchPath) {
  std::vector<std::string> Paths;
  std::istringstream In(SearchPath);
  for (std::string Folder; std::getline(In, Folder, ':');) {
    std::error_code Ignored;
    if (Folder.empty() || !fs::exists(Folder + "/ptxas", Ignored))
      continue;
    fs::path Real = fs::canonical(Folder + "/ptxas", Ignored);
    Paths.push_back(Real.parent_path().filename() == "bin"
                        ? Real.parent_path().parent_path().string()
                        : "");
  }
  return Paths;
}

// /usr/local/cuda-X.Y, newest first.
std::vector<std::string> versionedFolders(const std::string &Root) {
  std::vector<std::pair<double, std::string>> Found;
  std::error_code Ignored;
  for (const fs::directory_entry &E :
       fs::directory_iterator(Root + "/usr/local", Ignored)) {
    std::string Name = E.path().filename().string();
    if (Name.starts_with("cuda-"))
      Found.emplace_back(std::strtod(Name.c_str() + 5, nullptr),
                         E.path().string());
  }
  std::sort(Found.rbegin(), Found.rend());
  std::vector<std::string> Paths;
  for (auto &[Version, Path] : Found)
    Paths.push_back(Path);
  return Paths;
}

} // namespace

std::string Toolkit::cccl() const {
  std::string Folder = Path + "/include/cccl";
  std::error_code Ignored;
  return !Path.empty() && fs::is_directory(Folder, Ignored) ? Folder : "";
}

std::string Toolkit::lowestArchitecture() const {
  std::string Lowest;
  for (const Floor &F : Floors)
    if (Version >= F.Version)
      Lowest = F.Architecture;
  return Lowest;
}

Toolkit findToolkit(const std::string &Given, const std::string &SearchPath,
                    const std::string &Root) {
  auto at = [](const std::string &Path, bool FoundByClang) {
    return Toolkit{Path, versionAt(Path), FoundByClang};
  };
  if (!Given.empty())
    return at(Given, true);
  std::vector<std::string> Assemblers = pathsOfAssemblers(SearchPath);
  std::string First = Assemblers.empty() ? "" : Assemblers[0];
  for (const std::string &Path :
       {First, Root + "/usr/local/cuda", Root + "/usr/lib/cuda"})
    if (!Path.empty() && versionAt(Path))
      return at(Path, true);
  for (const auto &Paths : {Assemblers, versionedFolders(Root)})
    for (const std::string &Path : Paths)
      if (!Path.empty() && versionAt(Path))
        return at(Path, false);
  return {};
}

} // namespace r3::clangr3
