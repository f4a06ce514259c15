// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A variant against the original in batches (RunBatch.cpp). Digests
// of what each timed launch has changed are compared with those of launches
// that were found right; the last result of each batch is still there, and
// judged like any other where it differs from them. Where results are known to
// vary, those before it are held against it by sketches (trust/SketchCheck.h).
#include "wrapper/replay/Compare.h"
#include "wrapper/replay/Evaluation.h"

#include "wrapper/trust/MedianBound.h"
#include "wrapper/trust/Timing.h"
#include "wrapper/trust/Values.h"

#include "runtime/support/Worker.h"

#include <algorithm>

namespace r3::replay {

namespace {

constexpr size_t LaunchesOfBatch = 4;
constexpr size_t EmptyLaunches = 32;
/// Pieces of memory that are digested after each launch.
constexpr size_t MostPieces = 64;
/// Launches that may show that a side's results are not always the same.
constexpr unsigned DoubtLaunches = 4;

std::string batchJson(const Batch &B) {
  auto Clocks = [](const ClockSample &C) {
    return Message()
        .real("smMhz", C.SmMhz)
        .real("memoryMhz", C.MemoryMhz)
        .number("reasons", C.Reasons)
        .json();
  };
  return Message()
      .raw("before", Clocks(B.Before))
      .raw("after", Clocks(B.After))
      .reals("originalUs", {B.OriginalUs.begin(), B.OriginalUs.end()})
      .reals("variantUs", {B.VariantUs.begin(), B.VariantUs.end()})
      .json();
}

double shorterMedian(const std::vector<Batch> &All) {
  std::vector<double> Original, Variant;
  for (const Batch &B : All) {
    Original.insert(Original.end(), B.OriginalUs.begin(), B.OriginalUs.end());
    Variant.insert(Variant.end(), B.VariantUs.begin(), B.VariantUs.end());
  }
  return std::min(trust::median(Original), trust::median(Variant));
}

double totalUs(const std::array<double, 2> &Us) { return Us[0] + Us[1]; }

IntervalSet toIntervals(const std::vector<bool> &Flags) {
  IntervalSet Result;
  for (size_t I = 0; I < Flags.size(); ++I)
    if (Flags[I])
      Result.append({I, I + 1});
  return Result;
}

/// Chunks of bytes that the traced launch wrote.
void addWritten(const Footprint &Print, const LoadedRecording &L,
                std::vector<bool> &Chunks) {
  for (size_t R = 0; R < Print.Ranges.size(); ++R)
    for (const Interval &I : Print.Ranges[R].Written.intervals())
      for (uint64_t At = I.Begin / ChunkBytes; At * ChunkBytes < I.End; ++At)
        Chunks[L.RangeStart[R] + At] = true;
}

/// Chunks with symbolic words: these differ from code to code while it runs.
std::vector<bool> symbolicChunks(const LoadedRecording &L) {
  std::vector<bool> Chunks(L.Before.size());
  for (const SymbolicWord &S : L.Manifest.Symbolic)
    if (S.Allocation < L.Buffers.size())
      for (uint64_t Byte : {S.Offset, S.Offset + 7})
        Chunks[L.RangeStart[S.Allocation] + Byte / ChunkBytes] = true;
  return Chunks;
}

bool isUnordered(const LoadedRecording &L, size_t Buffer) {
  return std::any_of(L.Unordered.begin(), L.Unordered.end(),
                     [&](const trust::UnorderedRecords &Records) {
                       return Records.Buffer == Buffer;
                     });
}

/// By range: the type of what sketches can tell; Bytes for all other ranges.
std::vector<ValueType> sketchedTypes(const LoadedRecording &L) {
  std::vector<ValueType> Types(L.Buffers.size(), ValueType::Bytes);
  for (size_t I = 0; I < Types.size(); ++I)
    if (trust::hasTolerance(L.Buffers[I].Type) && !isUnordered(L, I))
      Types[I] = L.Buffers[I].Type;
  return Types;
}

/// A chunk of which each launch gives the digest.
struct TimedChunk {
  uint64_t Number = 0;
  size_t Range = 0;
  std::optional<size_t> Sketch; // its place among those of one launch
};

std::vector<TimedChunk> timedChunks(const BatchRequest &R,
                                    const std::vector<ValueType> &Sketched,
                                    const LoadedRecording &L) {
  std::vector<TimedChunk> Result;
  size_t Sketches = 0;
  for (const Interval &I : R.Digested.intervals())
    for (uint64_t Chunk = I.Begin; Chunk < I.End; ++Chunk) {
      const auto Next =
          std::upper_bound(L.RangeStart.begin(), L.RangeStart.end(), Chunk);
      const size_t Range = size_t(Next - L.RangeStart.begin()) - 1;
      Result.push_back({Chunk, Range, {}});
      if (Range < Sketched.size() && Sketched[Range] != ValueType::Bytes)
        Result.back().Sketch = Sketches++;
    }
  return Result;
}

} // namespace

struct Session::Measuring {
  size_t Index = 0;
  unsigned Wanted = 0;
  std::mt19937_64 Random;
  BatchRequest Form; // without launches
  /// Of the original and the variant: what launches that were found right left,
  /// and whether all left the same.
  struct {
    std::vector<Digest> Left;
    bool Same = true;
  } Known[2];
  std::vector<bool> Symbolic; // chunks
  std::vector<TimedChunk> Chunks;
  std::vector<ValueType> Sketched; // BatchRequest::Sketched, once it is needed
  /// Of the seeds of sketches: nobody knows them before.
  std::random_device SketchSeeds;
  std::vector<Batch> Done;
  std::vector<double> EmptyUs;
  std::string EmptyFailed; // why there are no such times
  double SubtractUs = 0;
  std::string ClocksUnread, HostText;
  size_t HostDisagreed = 0; // batches

  bool varies() const { return !Known[0].Same || !Known[1].Same; }
  size_t sketches() const { // of each launch
    return size_t(
        std::count_if(Chunks.begin(), Chunks.end(), [](const TimedChunk &C) {
          return C.Sketch.has_value();
        }));
  }
  std::string hostWarning() const {
    if (2 * HostDisagreed <= Done.size())
      return {};
    return format("%s (in %zu of %zu batches)", HostText.c_str(), HostDisagreed,
                  Done.size());
  }
};

/// Launches both sides with each pattern of poison: what they leave, and which
/// chunks they change.
trust::Judgement Session::learnResults(Evaluation &E, Measuring &M) {
  const LoadedRecording &L = Kernel->recordings()[M.Index];
  const Prepared &P = Preparations[M.Index];
  std::vector<bool> Changed(L.Before.size());
  if (P.Print)
    addWritten(*P.Print, L, Changed);
  for (bool IsVariant : {false, true})
    for (size_t Pattern = 0; Pattern < std::size(PoisonBytes); ++Pattern) {
      double Ns = 0;
      trust::Judgement J = runSlot(
          M.Index, IsVariant ? VariantSlot : OriginalSlot, Pattern, Ns, E);
      if (!J.ok())
        return J;
      auto &Known = M.Known[IsVariant];
      Known.Same &= Known.Left.empty() || Known.Left == E.Left;
      Known.Left = E.Left;
      for (size_t Chunk : trust::differing(L.Before, E.Left))
        Changed[Chunk] = true;
    }
  M.Form.Launch = M.Index;
  M.Form.Where = P.Where;
  M.Form.Flushes = flushes();
  M.Form.Written = P.Written;
  M.Form.Restored = toIntervals(Changed);
  M.Form.Digested = coarsened(M.Form.Restored, MostPieces);
  M.Symbolic = symbolicChunks(L);
  M.Sketched = sketchedTypes(L);
  M.Chunks = timedChunks(M.Form, M.Sketched, L);
  return {};
}

/// A timed launch has left what no launch did that was compared, and all of
/// those left the same: either its results vary now and then, and others show
/// it, or it does not compute them while it is timed.
trust::Judgement Session::doubt(bool IsVariant, Evaluation &E, Measuring &M) {
  auto &Known = M.Known[IsVariant];
  for (unsigned I = 0; Known.Same && I < DoubtLaunches; ++I) {
    double Ns = 0;
    trust::Judgement J =
        runSlot(M.Index, IsVariant ? VariantSlot : OriginalSlot,
                M.Random() % std::size(PoisonBytes), Ns, E);
    if (!J.ok())
      return J;
    Known.Same = Known.Left == E.Left;
  }
  if (!Known.Same)
    return {};
  return {Outcome::Wrong,
          "a timed launch left other results than all launches that were "
          "compared"};
}

/// How far from the record a side's results may be in one buffer.
double Session::reachOf(size_t Index, size_t Buffer, bool IsVariant,
                        const trust::SketchPair &Pair,
                        const Evaluation &E) const {
  const Prepared &P = Preparations[Index];
  if (IsVariant && E.MayRound && !P.Rounding.empty())
    return P.Rounding[Buffer]->reach();
  return trust::reachOfSpread(P.Base->noise()[Buffer].Spread, Pair.Elements,
                              IsVariant ? E.CloseTo : 0, Pair.norm());
}

/// What a launch that is not the last one left, beside what the last one did,
/// which was found right. Bytes that are no floating point are the same;
/// records in any order are not looked at.
trust::Judgement Session::compareWithLast(const BatchRequest &R,
                                          const BatchAttempt &B, size_t Launch,
                                          const Evaluation &E,
                                          const Measuring &M) const {
  const LoadedRecording &L = Kernel->recordings()[M.Index];
  const size_t Last = R.Slots.size() - 1;
  const size_t Sketches = B.Sketches.size() / R.Slots.size();
  std::map<size_t, trust::SketchPair> Pairs; // by buffer
  for (size_t I = 0; I < M.Chunks.size(); ++I) {
    const TimedChunk &C = M.Chunks[I];
    const size_t Count = M.Chunks.size();
    if (M.Symbolic[C.Number] ||
        B.Digests[Launch * Count + I] == B.Digests[Last * Count + I])
      continue;
    if (!C.Sketch) {
      if (isUnordered(L, C.Range))
        continue;
      return {Outcome::Wrong,
              placeOf(L, Device->rangeAddress(M.Index, C.Range) +
                             (C.Number - L.RangeStart[C.Range]) * ChunkBytes) +
                  ": a timed launch left other bytes than the last one"};
    }
    trust::SketchPair &Pair = Pairs[C.Range];
    addTo(Pair.Got, B.Sketches[Launch * Sketches + *C.Sketch]);
    addTo(Pair.Last, B.Sketches[Last * Sketches + *C.Sketch]);
    const trust::Buffer &Where = L.Buffers[C.Range];
    Pair.Elements +=
        Recording::chunkSize(Where.Size, C.Number - L.RangeStart[C.Range]) /
        trust::elementSize(Where.Type);
  }
  for (const auto &[Buffer, Pair] : Pairs) {
    const double Reach =
        reachOf(M.Index, Buffer, R.Slots[Launch] == VariantSlot, Pair, E) +
        reachOf(M.Index, Buffer, R.Slots[Last] == VariantSlot, Pair, E);
    if (auto J = trust::judgeSketches(L.Buffers[Buffer], Pair, Reach); !J.ok())
      return J;
  }
  return {};
}

/// Models of rounding are made here where only they can explain it.
trust::Judgement Session::judgeVarying(const BatchRequest &R,
                                       const BatchAttempt &B, size_t Launch,
                                       Evaluation &E, const Measuring &M) {
  trust::Judgement J = compareWithLast(R, B, Launch, E, M);
  if (R.Slots[Launch] == VariantSlot && findModels(M.Index, J, E))
    J = compareWithLast(R, B, Launch, E, M);
  return J;
}

trust::Judgement Session::judgeBatch(const BatchRequest &R,
                                     const BatchAttempt &B, Evaluation &E,
                                     Measuring &M) {
  bool Doubted[2] = {};
  for (size_t Launch = 0; Launch < R.Slots.size(); ++Launch) {
    const bool IsVariant = R.Slots[Launch] == VariantSlot;
    for (size_t I = 0; I < M.Chunks.size(); ++I)
      if (const uint64_t Chunk = M.Chunks[I].Number;
          !M.Symbolic[Chunk] && B.Digests[Launch * M.Chunks.size() + I] !=
                                    M.Known[IsVariant].Left[Chunk])
        Doubted[IsVariant] = true;
  }
  auto Blame = [](bool Variant, trust::Judgement J) {
    if (J.ok() || Variant)
      return J;
    return trust::Judgement{Outcome::NotVerifiable,
                            "the original, between launches of the variant: " +
                                J.Message};
  };
  // The last one first: its result is still there.
  const bool IsVariant = R.Slots.back() == VariantSlot;
  if (B.Run.Digests != M.Known[IsVariant].Left) {
    trust::Judgement J = judgeResult(M.Index, IsVariant, B.Run, E);
    // The models' replays have overwritten it: another batch takes its place.
    if (IsVariant && findModels(M.Index, J, E)) {
      M.Done.pop_back();
      return {};
    }
    if (!J.ok())
      return Blame(IsVariant, J);
    M.Known[IsVariant].Same = false;
  }
  for (bool Variant : {false, true})
    if (Doubted[Variant])
      if (auto J = Blame(Variant, doubt(Variant, E, M)); !J.ok())
        return J;
  for (size_t Launch = 0; Launch + 1 < R.Slots.size(); ++Launch)
    if (const bool Variant = R.Slots[Launch] == VariantSlot;
        !M.Known[Variant].Same && !R.Sketched.empty())
      if (auto J = Blame(Variant, judgeVarying(R, B, Launch, E, M)); !J.ok())
        return J;
  return {};
}

trust::Judgement Session::runBatch(Evaluation &E, Measuring &M) {
  BatchRequest R = M.Form;
  const bool VariantFirst = M.Random() & 1;
  for (bool Outer : {true, false, false, true}) {
    R.Slots.push_back(Outer == VariantFirst ? VariantSlot : OriginalSlot);
    R.PoisonBytes.push_back(PoisonBytes[M.Random() % std::size(PoisonBytes)]);
  }
  const bool Varied = M.varies();
  if (Varied) {
    R.Sketched = M.Sketched;
    R.SketchSeed = uint64_t(M.SketchSeeds()) << 32 | M.SketchSeeds();
  }
  const uint64_t Launches =
      LaunchesOfBatch * (R.Mode == CacheMode::Warm ? 2 : 1);
  BatchAttempt B = Device->runBatch(R, Launches * deadlineMs(M.Index));
  if (!B.Run.ok())
    return judgeEnding(M.Index, B.Run);
  if (B.Times.Us.size() != LaunchesOfBatch ||
      B.Digests.size() != LaunchesOfBatch * M.Chunks.size() ||
      B.Sketches.size() != (Varied ? LaunchesOfBatch * M.sketches() : 0) ||
      B.Run.Digests.size() != M.Symbolic.size())
    return {Outcome::Crashed, "the device process answers with another number "
                              "of results than were asked for"};
  Batch Done{B.Times.Before, B.Times.After};
  size_t Originals = 0, Variants = 0;
  for (size_t I = 0; I < LaunchesOfBatch; ++I)
    (R.Slots[I] == VariantSlot ? Done.VariantUs[Variants++]
                               : Done.OriginalUs[Originals++]) = B.Times.Us[I];
  M.Done.push_back(Done);
  M.ClocksUnread = B.Times.ClocksUnread;
  if (B.Times.HostUs > 0)
    if (std::string Text = trust::compareWithHost(
            B.Times.EventsUs, B.Times.HostUs, B.Times.EmptyHostUs);
        !Text.empty()) {
      ++M.HostDisagreed;
      M.HostText = Text;
    }
  trust::Judgement J = judgeBatch(R, B, E, M);
  // Nothing tells what the launches before the last did: others count.
  if (J.ok() && !Varied && M.varies())
    M.Done.pop_back();
  return J;
}

/// What is to be taken off the times, where they are so short that it matters.
trust::Judgement Session::subtractEmpty(Measuring &M) {
  const double ShorterUs = shorterMedian(M.Done);
  if (ShorterUs < trust::ShortUs) {
    BatchRequest R;
    R.Launch = M.Index;
    R.Mode = M.Form.Mode;
    R.Flushes = M.Form.Flushes;
    R.Slots.assign(EmptyLaunches, EmptySlot);
    R.PoisonBytes.assign(EmptyLaunches, 0);
    BatchAttempt B = Device->runBatch(R, deadlineMs(M.Index));
    if (B.Run.ok())
      M.EmptyUs = B.Times.Us;
    else
      M.EmptyFailed = B.Run.Message;
  }
  trust::Resolution R = trust::resolve(ShorterUs, M.EmptyUs);
  if (!M.EmptyFailed.empty())
    R.Result.Message += ": " + M.EmptyFailed;
  for (const Batch &B : M.Done)
    if (R.Result.ok() && std::min(totalUs(B.OriginalUs),
                                  totalUs(B.VariantUs)) <= 2 * R.SubtractUs)
      R.Result = {Outcome::BelowResolution,
                  format("a launch took no longer than an empty kernel (%.2f "
                         "us)",
                         R.SubtractUs)};
  M.SubtractUs = R.Result.ok() ? R.SubtractUs : 0;
  return R.Result;
}

trust::Judgement Session::runBatches(Evaluation &E, Measuring &M) {
  trust::Judgement J = learnResults(E, M);
  while (J.ok() && M.Done.size() < M.Wanted && !Cancelled)
    J = runBatch(E, M);
  return J.ok() && !Cancelled ? subtractEmpty(M) : J;
}

Session::Reply Session::measure(const json::Value &Request) {
  if (!Kernel)
    return Error(ErrorCode::Usage, "measure before load");
  const uint64_t Batches = json::number(Request, "batches", 0);
  if (!Batches || Batches > MostBatches)
    return fail(ErrorCode::Usage, "batches must be 1 to %u", MostBatches);
  const std::string Mode = json::text(Request, "mode", "");
  if (Mode != "cold" && Mode != "warm")
    return fail(ErrorCode::Usage, "the mode is cold or warm, not '%s'",
                Mode.c_str());
  auto Read = readEvaluation(Request);
  if (!Read)
    return Read.error().in("measure");
  Evaluation &E = *Read;
  if (E.Recordings.size() != 1)
    return Error(ErrorCode::Usage, "one recording is measured at a time");
  E.Wanted = {Check::Poison};
  Measuring M;
  M.Index = E.Recordings[0];
  M.Wanted = static_cast<unsigned>(Batches);
  M.Random.seed(json::number(Request, "seed", 0));
  M.Form.Mode = Mode == "cold" ? CacheMode::Cold : CacheMode::Warm;
  build(E);
  if (E.Verdict.ok())
    if (Error Failure = judge(E, /*Pairs=*/0, /*Seed=*/0))
      return Failure;
  if (E.Verdict.ok())
    E.Verdict = forEach(E.Recordings, [&](size_t) { return runBatches(E, M); });
  if (Cancelled)
    return Error(ErrorCode::Interrupted, "cancelled");
  std::vector<std::string> List;
  for (const Batch &B : M.Done)
    List.push_back(batchJson(B));
  return Message("reply")
      .outcome(E.Verdict.Result, E.Verdict.Message)
      .text("code", E.B.Code)
      .raws("batches", List)
      .reals("emptyUs", M.EmptyUs)
      .real("subtractUs", M.SubtractUs)
      .text("clocksUnread", M.ClocksUnread)
      .text("hostWarning", M.hostWarning())
      .times(E.Ms)
      .json();
}

Session::Reply Session::rates() {
  if (!Device)
    return Error(ErrorCode::Usage, "rates before hello");
  if (!Rates) {
    auto Measured = Device->rates();
    if (!Measured)
      return Measured.error();
    Rates = *Measured;
  }
  return ratesJson(*Rates);
}

} // namespace r3::replay
