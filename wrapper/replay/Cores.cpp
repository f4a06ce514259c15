// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A quota is two numbers of microseconds in cpu.max, "200000 100000" for two
// cores, or "max" for none.
#include "wrapper/replay/Cores.h"

#include <algorithm>
#include <fstream>
#include <sched.h>
#include <thread>

namespace r3::replay {

static unsigned boundCores() {
  cpu_set_t Usable;
  CPU_ZERO(&Usable);
  if (sched_getaffinity(0, sizeof(Usable), &Usable) == 0)
    return static_cast<unsigned>(CPU_COUNT(&Usable));
  return std::thread::hardware_concurrency(); // more than a set holds
}

/// This process' group of version 2, which has the number 0: "0::/a/b".
static std::string ownGroup() {
  std::ifstream File("/proc/self/cgroup");
  for (std::string Line; std::getline(File, Line);)
    if (Line.starts_with("0::"))
      return Line.substr(3);
  return "/";
}

unsigned quotaCores(const std::string &Root, std::string Group) {
  unsigned Least = 0;
  for (;;) {
    std::ifstream File(Root + Group + "/cpu.max");
    unsigned long Quota = 0, Period = 0;
    if (File >> Quota >> Period && Quota && Period) {
      const auto Cores = static_cast<unsigned>((Quota + Period - 1) / Period);
      Least = Least ? std::min(Least, Cores) : Cores;
    }
    if (Group.size() <= 1)
      return Least;
    Group.resize(Group.rfind('/'));
  }
}

unsigned usableCores() {
  const unsigned Bound = std::max(boundCores(), 1u);
  const unsigned Quota = quotaCores("/sys/fs/cgroup", ownGroup());
  return Quota ? std::min(Bound, Quota) : Bound;
}

} // namespace r3::replay
