// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The original, once a recording, in the traced build: what it reads and
// writes, and so what may be poisoned. Where that cannot be known, the reason
// is kept and nothing is poisoned. Each new source runs in the traced build
// before it runs in any other: an access outside of the recorded memory is
// named with its line and faults no device. A read of what only earlier
// launches can have left is told where the variant is right otherwise.
#include "wrapper/replay/Evaluation.h"

#include "runtime/support/BlockShape.h"
#include "runtime/support/TraceAbi.h"

#include <algorithm>
#include <set>

namespace r3::replay {

namespace {

/// Every access is a call and up to two atomic operations.
constexpr unsigned TracedSlower = 5; // than others may take

const char *verbOf(uint32_t Kind) {
  return !(Kind & trace::Write)  ? "reads"
         : !(Kind & trace::Read) ? "writes"
                                 : "reads and writes";
}

std::string placeOf(const NotedAccess &A,
                    const std::vector<std::string> &Sites) {
  return format("(%s; block %u,%u,%u thread %u,%u,%u; %llu such accesses)",
                A.Site < Sites.size() ? Sites[A.Site].c_str() : "?", A.Block[0],
                A.Block[1], A.Block[2], A.Thread[0], A.Thread[1], A.Thread[2],
                static_cast<unsigned long long>(A.Count));
}

/// On accesses that were skipped. Who: "it", "the original".
trust::Judgement judgeSkipped(const std::string &Who, const NotedAccess &A,
                              const std::vector<std::string> &Sites) {
  const std::string Why =
      A.Alignment ? format("which is no multiple of %u ", A.Alignment)
      : A.Kind & trace::InShared ? "outside of the block's shared variables "
                                 : "outside of the recorded memory ";
  return {A.Alignment ? Outcome::IllegalAccess : Outcome::OutOfBounds,
          Who +
              format(" %s %llu bytes at 0x%llx, ", verbOf(A.Kind),
                     static_cast<unsigned long long>(A.Size),
                     static_cast<unsigned long long>(A.Address)) +
              Why + placeOf(A, Sites)};
}

/// Ranges that a launch of the original may change, or that are changed for it.
std::vector<uint64_t> writtenRanges(const Footprint &Print,
                                    const Recording &R) {
  std::set<uint64_t> Ranges;
  for (size_t I = 0; I < Print.Ranges.size(); ++I)
    if (!Print.Ranges[I].Written.empty())
      Ranges.insert(I);
  for (const SymbolicWord &S : R.Symbolic)
    if (S.Allocation < Print.Ranges.size())
      Ranges.insert(S.Allocation);
  return {Ranges.begin(), Ranges.end()};
}

} // namespace

/// Builds and loads the traced code, once a kernel; a sentence where that is
/// not possible.
std::string Session::loadTraced() {
  if (Traced)
    return Traced->Why;
  Traced.emplace();
  Build B = Compiler->build("{}", Setup.BuildDeadlineMs, "trace");
  if (B.Ending != Outcome::Ok)
    return Traced->Why = "the traced build fails: " + B.Message;
  if (!B.Unseen.empty())
    return Traced->Why = "the kernel has accesses that cannot be traced: " +
                         B.Unseen.front();
  Traced->Sites = std::move(B.Sites);
  Traced->Numbers = std::move(B.Numbers);
  Attempt A =
      Device->setCode(TracedSlot, std::move(B.Binary), Kernel->first().Name);
  if (!A.ok())
    Traced->Why = "the traced code cannot be loaded: " + A.Message;
  return Traced->Why;
}

Attempt Session::runTraced(size_t Index, const char *Slot) {
  DeviceLink::RunRequest R{Index, Slot};
  R.Trace = true;
  R.DeadlineMs = deadlineMs(Index, TracedSlower);
  return Device->run(R);
}

trust::Judgement Session::traceOriginal(size_t Index, Prepared &P) {
  P.Print = Preparations[Index].Print; // where it was traced before
  if (!P.Print) {
    P.Untraced = loadTraced();
    if (!P.Untraced.empty())
      return {};
    Attempt A = runTraced(Index, TracedSlot);
    P.Ms["trace"] = A.Ms["launch"];
    if (!A.ok() || !A.Traced) {
      P.Untraced = "the traced launch: " + A.Message;
      return {};
    }
    P.Print = std::move(A.Traced);
  }
  // Where no launch shows it, its compiler has removed the access.
  if (P.Print->Outside.Count && P.Print->Outside.Alignment) {
    P.Untraced =
        judgeSkipped("the original", P.Print->Outside, Traced->Sites).Message;
    P.Print.reset();
    return {};
  }
  P.Where = Poison(*P.Print);
  Kernel->setWritten(Index, *P.Print);
  P.Written = writtenRanges(*P.Print, Kernel->recordings()[Index].Manifest);
  const NotedAccess &O = P.Print->Outside;
  if (!O.Count)
    return {};
  return judgeSkipped("the original", O, Traced->Sites);
}

Session::CheckOutcome Session::checkTrace(Evaluation &E) {
  Variant Source;
  Source.Patch = E.Change.Patch;
  Source.Launch = E.Change.Launch;
  // The launch of another shape of block is only right for a kernel that is
  // made for it.
  if (auto Shape = BlockShape::parse(E.Change.Remap); Shape)
    Shape->putInto(Source);
  if (Source.isOriginal())
    return {{}, "source and launch are the original's"};
  std::string Json = Source.canonicalJson();
  if (Json != TracedSource.VariantJson ||
      E.Recordings != TracedSource.Recordings) {
    TracedSource = {};
    TracedSource.Verdict = traceSource(E, Json);
    TracedSource.VariantJson = std::move(Json);
    TracedSource.Recordings = E.Recordings;
  }
  return {TracedSource.Verdict, ""};
}

trust::Judgement Session::traceSource(const Evaluation &E,
                                      const std::string &VariantJson) {
  TracedReads = {};
  VariantSites.reset();
  Build B = Compiler->build(VariantJson, Setup.BuildDeadlineMs, "trace");
  if (B.Ending != Outcome::Ok)
    return {B.Ending, "the traced build: " + B.Message};
  if (!B.Unseen.empty() && Traced && Traced->Why.empty())
    return {Outcome::Refused,
            "unlike the original, it has accesses that cannot be traced: " +
                B.Unseen.front()};
  if (B.Sites.empty()) { // it touches no memory, and so needs no bitmaps
    TracedSource.Prints.resize(E.Recordings.size(), Footprint());
    return {};
  }
  Attempt Loaded = loadVariant(TracedVariantSlot, std::move(B.Binary), E);
  if (!Loaded.ok())
    return {Loaded.Ending, "the traced build: " + Loaded.Message};
  VariantSites = std::move(B.Sites);
  for (size_t Index : E.Recordings) {
    std::optional<Footprint> Print;
    if (auto J = runTracedVariant(Index, Print); !J.ok())
      return J;
    TracedSource.Prints.emplace_back();
    if (!Print)
      continue;
    if (const auto &Original = Preparations[Index].Print; !Original)
      TracedReads = {{}, Preparations[Index].Untraced};
    else if (TracedReads.Verdict.ok())
      TracedReads.Verdict = judgeReads(Index, *Print, *Original, *VariantSites);
    if (B.Unseen.empty())
      TracedSource.Prints.back() = std::move(Print);
  }
  return {};
}

trust::Judgement Session::runTracedVariant(size_t Index,
                                           std::optional<Footprint> &Print) {
  Attempt A = runTraced(Index, TracedVariantSlot);
  if (!A.ok())
    return {A.Ending, "in the traced build: " + A.Message};
  Print = std::move(A.Traced);
  if (Print && Print->Outside.Count)
    return judgeSkipped("it", Print->Outside, *VariantSites);
  return {};
}

/// Told after the verification: what is wrong says more about itself.
Session::CheckOutcome Session::checkReads(Evaluation &E) {
  if (E.Change.Patch.empty())
    return {{}, "the source is the original's"};
  if (!E.wants(Check::Trace))
    return {{}, "it was not traced"};
  return TracedReads;
}

/// What earlier launches left in memory is none of a variant's business.
trust::Judgement
Session::judgeReads(size_t Index, const Footprint &Variant,
                    const Footprint &Original,
                    const std::vector<std::string> &Sites) const {
  const NotedAccess &A = Variant.Unwritten;
  if (A.Count && !Original.Unwritten.Count)
    return {Outcome::Refused,
            format("it %s %llu bytes of shared memory that its block has not "
                   "written ",
                   verbOf(A.Kind), static_cast<unsigned long long>(A.Size)) +
                placeOf(A, Sites)};
  const auto Foreign = foreignRead(Variant, Original);
  if (!Foreign)
    return {};
  const auto &Buffers = Kernel->recordings()[Index].Buffers;
  return {Outcome::Refused,
          format("it reads %llu bytes of %s, from offset %llu on, that the "
                 "original never reads and that it has not written itself",
                 static_cast<unsigned long long>(Foreign->Bytes),
                 Buffers[Foreign->Range].Name.c_str(),
                 static_cast<unsigned long long>(Foreign->Offset))};
}

} // namespace r3::replay
