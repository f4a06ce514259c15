// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Breadth first: everything that was newly reached is scanned in one batch on
// the stream, each scan with flags of its own, then waited for once.
#include "runtime/record/Closure.h"

#include "runtime/record/LeaveBehind.h"

#include <algorithm>

namespace r3::record {

ptrdiff_t targetOf(std::span<const Allocation> Targets, Address Word) {
  auto It = std::upper_bound(
      Targets.begin(), Targets.end(), Word,
      [](Address W, const Allocation &A) { return W < A.Begin; });
  if (It == Targets.begin())
    return -1;
  --It;
  return Word <= It->end() ? It - Targets.begin() : -1;
}

namespace {

class Walk {
public:
  Walk(Device &D, StreamHandle Stream, std::span<const Allocation> Targets,
       uint64_t TimeoutMs)
      : D(D), Stream(Stream), Targets(Targets), TimeoutMs(TimeoutMs),
        Reached(Targets.size()) {
    for (const Allocation &A : Targets)
      Ranges.push_back({A.Begin, A.Size});
  }

  void reach(size_t Index) {
    if (Reached[Index])
      return;
    Reached[Index] = true;
    Frontier.push_back(Index);
  }

  void reachWord(Address Word) {
    ptrdiff_t Index = targetOf(Targets, Word);
    if (Index < 0)
      return;
    reach(Index);
    // At a border the word is one allocation's begin and the other's end.
    if (Index > 0 && Targets[Index - 1].end() == Word)
      reach(Index - 1);
  }

  Error follow() {
    while (!Frontier.empty()) {
      std::vector<size_t> Now = std::exchange(Frontier, {});
      std::vector<std::vector<uint8_t>> Flags(
          Now.size(), std::vector<uint8_t>(Targets.size()));
      Error E;
      for (size_t I = 0; I < Now.size() && !E; ++I)
        E = D.scanPointers(Targets[Now[I]].Begin, Targets[Now[I]].Size, Ranges,
                           Flags[I].data(), Stream);
      // Also after an error: scans under way write into Flags.
      if (Error S = D.synchronize(Stream, TimeoutMs)) {
        // The memory has to outlive work that nobody can wait for.
        leaveBehind(std::move(Flags));
        return S;
      }
      if (E)
        return E;
      for (const auto &Found : Flags)
        for (size_t I = 0; I < Found.size(); ++I)
          if (Found[I])
            reach(I);
    }
    return Error::success();
  }

  std::vector<size_t> result() const {
    std::vector<size_t> Out;
    for (size_t I = 0; I < Reached.size(); ++I)
      if (Reached[I])
        Out.push_back(I);
    return Out;
  }

private:
  Device &D;
  StreamHandle Stream;
  std::span<const Allocation> Targets;
  uint64_t TimeoutMs;
  std::vector<AddressRange> Ranges;
  std::vector<bool> Reached;
  std::vector<size_t> Frontier;
};

} // namespace

Expected<std::vector<size_t>> reachable(Device &D, StreamHandle Stream,
                                        std::span<const uint8_t> Arguments,
                                        std::span<const Allocation> Targets,
                                        std::span<const size_t> Roots,
                                        const ClosureOptions &Options) {
  Walk W(D, Stream, Targets, Options.TimeoutMs);
  for (size_t Index : Roots)
    W.reach(Index);
  eachWord(Arguments, [&](size_t, uint64_t Word) { W.reachWord(Word); });
  if (Options.Everything)
    for (size_t I = 0; I < Targets.size(); ++I)
      W.reach(I);
  else if (Error E = W.follow())
    return E;
  return W.result();
}

} // namespace r3::record
