// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Timing costs two events: the first launches and then one in 64 at random.
// Classifying costs microseconds for a launch with new arguments, so kernels
// that are launched very often are looked at only now and then; a reservoir
// over a random part is still uniform.
#include "runtime/record/Policy.h"

#include <algorithm>

namespace r3::record {

static constexpr uint64_t SampledAtFirst = 8;
static constexpr uint64_t SampleOneIn = 64;
static constexpr uint64_t ClassifiedAtFirst = 1000;
static constexpr uint64_t ClassifyOneIn = 16;
static constexpr unsigned MaxFailures = 3;
static constexpr uint64_t MaxWait = 64;
static constexpr size_t MaxKeys = 4096;

Policy::Policy(const PolicyOptions &Options, uint64_t Seed)
    : Options(Options), Wanted(Options.Wanted), Random(Seed) {}

Policy::Choice Policy::next(uint64_t Key,
                            const std::function<std::string()> &ClassOf) {
  Choice Out;
  ++Launches;
  Out.Sample = Launches <= SampledAtFirst || Random() % SampleOneIn == 0;
  if (!Wanted || Launches <= Options.Skip || !Options.Count)
    return Out;
  if (Launches > Options.Skip + ClassifiedAtFirst &&
      Random() % ClassifyOneIn != 0)
    return Out;
  int Index = classify(Key, ClassOf);
  if (Index < 0)
    return Out;
  Out.Class = Index;
  Out.Record = place(Kept[Index], Out);
  return Out;
}

int Policy::classify(uint64_t Key,
                     const std::function<std::string()> &ClassOf) {
  if (auto It = ByKey.find(Key); It != ByKey.end())
    return It->second;
  // Beyond the limit all new classes are the same: none of ours.
  auto [It, New] = ByText.try_emplace(ClassOf(), -1);
  if (New) {
    if (Kept.size() < Options.Classes) {
      It->second = int(Kept.size());
      Kept.push_back({0, std::vector<Place>(Options.Count)});
    } else {
      ByText.erase(It);
      It = ByText.end();
    }
  }
  int Index = It == ByText.end() ? -1 : It->second;
  if (ByKey.size() >= MaxKeys)
    ByKey.clear();
  ByKey[Key] = Index;
  return Index;
}

bool Policy::place(Class &C, Choice &Out) {
  C.Seen += C.Places[0] != Place::Empty;
  for (uint64_t Slot = 0; Slot < Options.Count; ++Slot)
    if (C.Places[Slot] == Place::Empty) {
      Out.Slot = uint32_t(Slot);
      return true;
    }
  if (isTryDue(C, Out))
    return true;
  if (Options.Count == 1)
    return false;
  uint64_t Draw = Random() % C.Seen;
  if (Draw >= Options.Count - 1)
    return false;
  Out.Slot = uint32_t(1 + Draw);
  Out.Replaces = true;
  return true;
}

/// Whether this launch is tried in the place of one that changed nothing.
bool Policy::isTryDue(Class &C, Choice &Out) {
  auto It = std::find(C.Places.begin(), C.Places.end(), Place::Unchanged);
  if (It == C.Places.end() || --C.Left)
    return false;
  C.Left = C.Wait = std::min(2 * C.Wait, MaxWait);
  Out.Slot = uint32_t(It - C.Places.begin());
  Out.Replaces = true;
  return true;
}

bool Policy::keep(const Choice &C, bool Changed) {
  Failures = 0;
  Class &Of = Kept[C.Class];
  Place &Where = Of.Places[C.Slot];
  if (Where != Place::Empty && !Changed)
    return false;
  Where = Changed ? Place::Changed : Place::Unchanged;
  if (Changed)
    Of.Left = Of.Wait = 1; // the next one may be another
  return true;
}

void Policy::dropped(const Choice &) {
  if (++Failures >= MaxFailures)
    Wanted = false;
}

} // namespace r3::record
