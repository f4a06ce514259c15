// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Binaries of the loaded kernel that are not run again, since what came of them
// is known, and digests of the optimised IR and of the PTX that were made into
// them: where one of these comes up again, the rest of the build is left out.
// Any thread.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace r3::replay {

class KnownCode {
public:
  /// A digest that led to a binary, and that one's.
  using Way = std::pair<std::string, std::string>;

  void clear() {
    std::lock_guard Guard(Lock);
    Codes.clear();
    Seen.clear();
    Ways.clear();
  }
  /// Ir, Ptx: of its build, empty where there is none.
  void add(const std::string &Code, const std::string &Ir,
           const std::string &Ptx) {
    std::lock_guard Guard(Lock);
    Codes.insert(Code);
    for (const std::string &From : {Ir, Ptx})
      if (!From.empty() && Seen.insert(From).second)
        Ways.emplace_back(From, Code);
  }
  bool has(const std::string &Code) const {
    std::lock_guard Guard(Lock);
    return Codes.count(Code);
  }
  /// All but the first so many, in the order in which they were added.
  std::vector<Way> waysFrom(size_t First) const {
    std::lock_guard Guard(Lock);
    if (First >= Ways.size())
      return {};
    return {Ways.begin() + static_cast<std::ptrdiff_t>(First), Ways.end()};
  }

private:
  mutable std::mutex Lock;
  std::set<std::string> Codes, Seen;
  std::vector<Way> Ways;
};

} // namespace r3::replay
