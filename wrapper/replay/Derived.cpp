// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A session of its own, with the code that is loaded in this one, so that both
// memories are there at once and derived launches are judged by the rules of
// recorded ones. Their expected outcome is one plain launch of the original; a
// launch that the original cannot make, or not reproduce, is dropped.
#include "wrapper/replay/Evaluation.h"

#include "wrapper/trust/Perturb.h"

#include <algorithm>
#include <set>

namespace r3::replay {

namespace {

constexpr unsigned Repetitions = 3;
/// In these terms the original takes much longer with other inputs: it does
/// something else.
constexpr double MostSlower = 4;
/// Below this, times of the CPU device tell nothing.
constexpr double LeastNs = 1e5;

double fastest(const std::vector<double> &Ns) {
  return Ns.empty() ? 0 : *std::min_element(Ns.begin(), Ns.end());
}

} // namespace

Expected<std::unique_ptr<Session>>
Session::derive(KernelSet Launches, const std::vector<size_t> &Origins,
                std::vector<std::string> Launcher) const {
  auto S = std::make_unique<Session>(Setup, All, Cancelled);
  DeviceLink::Options O = Device->options();
  O.Launcher = std::move(Launcher);
  S->Device.emplace(std::move(O), All);
  if (Error E = S->Device->open())
    return E;
  S->Compiler = Compiler;
  S->Kernel.emplace(std::move(Launches));
  if (Error E = S->loadMemory())
    return E;
  S->Device->takeCodes(*Device, Origins);
  S->Checked = Checked;
  S->Traced = Traced;
  S->Instrumented = Instrumented;
  S->VariantSites = VariantSites;
  S->Preparations.resize(S->Kernel->recordings().size());
  for (size_t I = 0; I < S->Preparations.size(); ++I)
    if (Error E = S->checkMemory(I))
      return E;
  return S;
}

double Session::fastestNs(size_t Index, const char *Slot, unsigned Launches) {
  std::vector<double> Ns;
  for (unsigned I = 0; I < Launches; ++I)
    if (Attempt A = Device->run(request(Index, Slot, Poison(), 0)); A.ok())
      Ns.push_back(A.Ns);
  return fastest(Ns);
}

/// Takes what the last launch left behind for the expected outcome.
std::string Session::keepOutcome(size_t Index, const Attempt &A,
                                 const LoadedRecording &Recorded,
                                 DerivedChunks &Chunks) {
  const LoadedRecording &L = Kernel->recordings()[Index];
  if (A.Digests.size() != L.Before.size())
    return "digests are missing";
  for (size_t At : trust::differing(L.Before, A.Digests)) {
    const size_t Range =
        std::upper_bound(L.RangeStart.begin(), L.RangeStart.end(), At) -
        L.RangeStart.begin() - 1;
    if (Range >= L.Buffers.size())
      return "the original writes outside of the recorded memory";
    const uint64_t Chunk = At - L.RangeStart[Range];
    auto Bytes = Device->read(Index, Range, {Chunk});
    if (!Bytes)
      return Bytes.error().message();
    auto Was =
        Kernel->chunk(Recorded.After[Recorded.RangeStart[Range] + Chunk]);
    if (!Was)
      return Was.error().message();
    if (trust::hasNewNonNumber(*Was, *Bytes, L.Buffers[Range].Type))
      return "the original makes NaN or infinity of it";
    if (Chunks.addResult(std::move(*Bytes)) != A.Digests[At])
      return "memory changed after the launch";
  }
  Kernel->setOutcome(Index, A.Digests);
  return {};
}

/// Finds out what the original makes of a derived launch; a sentence where that
/// is no evidence.
std::string Session::settle(size_t Index, const LoadedRecording &Recorded,
                            double RecordedNs, DerivedChunks &Chunks) {
  // What goes astray does so in the traced build, and faults no device.
  Prepared &Known = Preparations[Index];
  if (auto J = traceOriginal(Index, Known); !J.ok())
    return J.Message;
  if (!Known.Untraced.empty())
    return Known.Untraced;
  Attempt A = Device->run(request(Index, OriginalSlot, Poison(), 0));
  if (!A.ok())
    return "the original: " + A.Message;
  if (std::string Why = keepOutcome(Index, A, Recorded, Chunks); !Why.empty())
    return Why;
  if (Error E = replayOriginal(Index, Repetitions))
    return E.message();
  const Prepared &P = Preparations[Index];
  if (!P.Verdict.ok())
    return P.Verdict.Message;
  if (fastest(P.Ns) > MostSlower * std::max(RecordedNs, LeastNs))
    return "the original takes more than 4 times as long";
  return {};
}

Expected<DerivedOutcome> Session::runDerived(const DerivedLaunches &Launches,
                                             Evaluation &E,
                                             const DerivedStep &Also) {
  auto S =
      derive(Kernel->derive(Launches.List, Launches.Chunks), Launches.Origins);
  if (!S)
    return S.error();
  Evaluation Now;
  Now.Change = E.Change;
  Now.Wanted = E.Wanted;
  Now.MayRound = E.MayRound;
  Now.CloseTo = E.CloseTo;
  // Another one's code may be in the slot else.
  const bool TracesVariant =
      VariantSites && E.wants(Check::Trace) && E.Change.Ptx.empty() &&
      !(E.Change.Patch.empty() && E.Change.Launch.empty());
  DerivedOutcome Result;
  for (size_t I = 0; I < Launches.List.size() && !Cancelled; ++I) {
    const size_t Origin = Launches.Origins[I];
    const LoadedRecording &Recorded = Kernel->recordings()[Origin];
    if (std::string Why = (*S)->settle(
            I, Recorded, fastest(Preparations[Origin].Ns), *Launches.Chunks);
        !Why.empty()) {
      ++Result.Dropped;
      Result.Why = Why;
      continue;
    }
    ++Result.Made;
    trust::Judgement &J = Result.Verdict;
    std::optional<Footprint> Print;
    if (TracesVariant)
      J = (*S)->runTracedVariant(I, Print);
    if (J.ok())
      J = (*S)->verify(I, Now);
    if (J.ok() && Also)
      J = Also(**S, I);
    if (!J.ok()) {
      J.Message = "recording " + Recorded.Id.substr(0, 8) + ": " + J.Message;
      break;
    }
  }
  for (const auto &[Step, Ms] : Now.Ms)
    E.Ms[Step] += Ms;
  return Result;
}

} // namespace r3::replay
