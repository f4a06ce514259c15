// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The handler runs on the stack of whatever faulted, and so calls nothing but
// write and sigaction.
#include "wrapper/replay/ReadOnly.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <unistd.h>

namespace r3::replay {

namespace {

constexpr std::string_view Words = "a store to read-only memory at 0x";

std::vector<MemoryRange> Watched;
struct sigaction Before;
bool Installed = false;

bool isWatched(uint64_t At) {
  for (const MemoryRange &R : Watched)
    if (At >= R.Begin && At < R.end())
      return true;
  return false;
}

void onFault(int, siginfo_t *Info, void *) {
  const auto At = reinterpret_cast<uint64_t>(Info->si_addr);
  if (isWatched(At)) {
    char Line[Words.size() + 17];
    char *To = std::copy(Words.begin(), Words.end(), Line);
    for (int Shift = 60; Shift >= 0; Shift -= 4)
      *To++ = "0123456789abcdef"[At >> Shift & 15];
    *To++ = '\n';
    [[maybe_unused]] const ssize_t Said =
        ::write(STDERR_FILENO, Line, sizeof(Line));
  }
  // The access faults again, and this time it counts.
  ::sigaction(SIGSEGV, &Before, nullptr);
}

} // namespace

std::vector<MemoryRange>
readOnlyMemory(const std::vector<MemoryRange> &Segments, const PlanLaunch &L,
               std::span<const uint64_t> Written, uint64_t Unit) {
  if (!Unit)
    return {};
  std::vector<MemoryRange> Holes;
  for (uint64_t Range : Written)
    if (Range < L.Ranges.size() &&
        L.Ranges[Range].What != PlanRange::Kind::Global)
      Holes.push_back({L.Ranges[Range].Address, L.Ranges[Range].Size});
  std::sort(Holes.begin(), Holes.end(),
            [](auto &A, auto &B) { return A.Begin < B.Begin; });
  std::vector<MemoryRange> Result;
  size_t Next = 0;
  for (const MemoryRange &S : Segments) {
    uint64_t From = S.Begin;
    auto Add = [&](uint64_t To) {
      if (From < To)
        Result.push_back({From, To - From});
    };
    for (; Next < Holes.size() && Holes[Next].Begin < S.end(); ++Next) {
      Add(Holes[Next].Begin / Unit * Unit);
      From = (Holes[Next].end() + Unit - 1) / Unit * Unit;
    }
    Add(S.end());
  }
  return Result;
}

void tellDeniedWrites(const std::vector<MemoryRange> &Ranges) {
  Watched = Ranges;
  if (Installed || Ranges.empty())
    return;
  struct sigaction Action = {};
  Action.sa_sigaction = onFault;
  Action.sa_flags = SA_SIGINFO;
  Installed = !::sigaction(SIGSEGV, &Action, &Before);
}

std::optional<uint64_t> deniedWrite(std::string_view LastWords) {
  const size_t At = LastWords.rfind(Words);
  if (At == LastWords.npos)
    return std::nullopt;
  uint64_t Address = 0;
  const char *Begin = LastWords.data() + At + Words.size();
  const auto Read =
      std::from_chars(Begin, LastWords.data() + LastWords.size(), Address, 16);
  if (Read.ec != std::errc() || Read.ptr - Begin != 16)
    return std::nullopt;
  return Address;
}

} // namespace r3::replay
