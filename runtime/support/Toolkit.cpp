// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/support/Toolkit.h"

#include "runtime/support/Options.h"

#include <algorithm>
#include <unistd.h>

namespace r3 {

std::vector<std::string> toolkitPrograms(const std::string &Name) {
  std::vector<std::string> Folders;
  if (std::optional<std::string> Cuda = systemVariable("CUDA_PATH"))
    Folders.push_back(*Cuda + "/bin");
  std::string Path = systemVariable("PATH").value_or("");
  for (size_t Begin = 0; Begin < Path.size();) {
    const size_t End = std::min(Path.find(':', Begin), Path.size());
    Folders.push_back(Path.substr(Begin, End - Begin));
    Begin = End + 1;
  }
  Folders.push_back("/usr/local/cuda/bin");
  std::vector<std::string> Found;
  for (const std::string &Folder : Folders)
    if (std::string Candidate = Folder + "/" + Name;
        access(Candidate.c_str(), X_OK) == 0)
      Found.push_back(Candidate);
  return Found;
}

} // namespace r3
