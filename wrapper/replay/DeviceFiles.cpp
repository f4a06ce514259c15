// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/replay/DeviceFiles.h"

#include "runtime/support/Options.h"

#include <filesystem>

namespace r3::replay {

namespace {

constexpr const char *System[] = {"/usr", "/lib", "/lib32", "/lib64",
                                  "/etc", "/opt", "/run",   "/nix/store",
                                  "/sys", "/proc"};
constexpr const char *Devices[] = {"/dev/null",    "/dev/zero", "/dev/random",
                                   "/dev/urandom", "/dev/shm",  "/dev/dxg"};

/// Folders of a list such as PATH; relative ones depend on where one is.
void addFolders(std::vector<std::string> &To, const std::string &List) {
  for (size_t At = 0; At < List.size();) {
    const size_t End = std::min(List.find(':', At), List.size());
    if (End > At && List[At] == '/')
      To.push_back(List.substr(At, End - At));
    At = End + 1;
  }
}

std::vector<std::string> without(const std::vector<std::string> &Paths,
                                 const std::string &Hidden) {
  std::vector<std::string> Result;
  for (const std::string &Each : Paths)
    for (std::string &Path : pathsWithout(Each, Hidden))
      Result.push_back(std::move(Path));
  return Result;
}

} // namespace

FileAccess deviceFiles(const std::string &StorePath) {
  FileAccess All;
  All.Readable.assign(std::begin(System), std::end(System));
  addFolders(All.Readable, systemVariable("LD_LIBRARY_PATH").value_or(""));
  All.Writable.assign(std::begin(Devices), std::end(Devices));
  std::error_code Ignored;
  for (const auto &Each : std::filesystem::directory_iterator("/dev", Ignored))
    if (Each.path().filename().string().starts_with("nvidia"))
      All.Writable.push_back(Each.path());
  if (const auto Cache = systemVariable("CUDA_CACHE_PATH"))
    All.Writable.push_back(*Cache);
  else if (const auto Home = systemVariable("HOME"))
    All.Writable.push_back(*Home + "/.nv");
  All.Readable = without(All.Readable, StorePath);
  All.Writable = without(All.Writable, StorePath);
  All.Writable.push_back("/proc/self"); // the child's own: names of threads
  return All;
}

} // namespace r3::replay
