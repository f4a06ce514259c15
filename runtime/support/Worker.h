// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The client's side of the worker protocol: starts a supervisor (through a
// launcher prefix where one is given) and speaks the verbs of Protocol.h with
// it. One worker serves one thread. Where the supervisor dies or goes silent,
// the call returns ErrorCode::Timeout or NotFound and the worker is lost:
// start another.
//
// Messages (members of the JSON header; replies carry "ms": {step: number}):
//   hello    {backend, device, store, compilers: processes that build what
//             waits (0 or missing: one for each core, of more than two but
//             one)}
//            -> {identity: {...}, pipelines: {"O1": text, ...}, compilers}
//   load     {recordings: [manifest paths], unordered: {buffer: bytes}}
//            all of one kernel; buffers whose records of so many bytes may come
//            in any order
//            -> {recordings: [{id, footprint, class}]}
//   prepare  {recording, repetitions}  replays the original
//            -> {outcome, message, bitExact, readBytes, writtenBytes,
//                poisonedBytes, untraced, buffers: [{name, address, size,
//                type, changedBytes, maxDifference, rms}], originalNs: [..],
//                programNs, floor: {coldUs, warmUs, coldBy, warmBy,
//                readBytes, writtenBytes, operations: {float, double, half},
//                uncounted}}
//   know     {binaries: [{code, ir, ptx}]}   binaries of the loaded kernel that
//            `once` means, beside those of earlier requests with it, and what
//            they were made of
//            -> {}
//   evaluate {variant, recordings: [index], pairs, seed, known: [digests],
//   once,
//             rounding: whether results may differ by what rounding explains,
//             closeTo: what a user allows floating-point results to differ by
//             (absolute plus relative; in place of rounding),
//             allowPrecision: whether code may compute less exactly,
//             beat: a gain; timing ends early where it is out of reach,
//             checks: [names of Check.def],
//             floors: whether those of the variant's own operations are told
//             where it is right, once there are rates,
//             passLimit: runs of optional passes that the variant's plain build
//             has (missing: all); no other build of it is looked at then}
//            -> {outcome, message, tolerance, code, ir, ptx, registers, shared,
//                spills, originalNs: [..], variantNs: [..], pairs,
//                checks: [{check, made, outcome, message, milliseconds}],
//                excluded: [index], guards: text, passRuns, nextPass,
//                nextPlace, floors: [as in prepare, one a recording that is
//                not excluded]}
//            a binary whose digest is in known, or with once, that was known
//            before, is built and not run: its outcome is duplicate, with the
//            digest in code. Where several requests are sent ahead, those that
//            wait are built meanwhile; answers come in the order of requests
//   measure  {variant, recordings: [index], mode: "cold" | "warm", batches,
//             seed, rounding, allowPrecision}   verifies, then times the
//             variant against the original
//            -> {outcome, message, code, batches: [{before, after: {smMhz,
//                memoryMhz, reasons}, originalUs: [2], variantUs: [2]}],
//                emptyUs: [..], subtractUs, clocksUnread, hostWarning}
//   nvcc     {}   compiles the source of the loaded kernel with nvcc -O3
//            -> {outcome, message, ptx}   of the kernel alone, under its name
//   rates    {}   measured at the first call; prepare tells floors after it
//            -> {emptyLaunchUs, memoryBytesPerUs, l2BytesPerUs,
//                floatFlopsPerUs, doubleFlopsPerUs, halfFlopsPerUs, l2Bytes}
//   cancel   ends what was asked for before it: those requests are answered
//            with an error, or as if nothing was. It has no answer itself
//   unload, bye
#pragma once

#include "runtime/support/Check.h"
#include "runtime/support/Error.h"
#include "runtime/support/Json.h"
#include "runtime/support/Measurement.h"
#include "runtime/support/Outcome.h"
#include "runtime/support/Process.h"
#include "runtime/support/Protocol.h"
#include "runtime/support/Recording.h"
#include "runtime/support/Variant.h"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace r3 {

struct WorkerOptions {
  std::string Backend = "cuda"; // or "cpu"
  int Device = 0;
  std::string StorePath;
  std::vector<std::string> Launcher; // {"srun", "-n1", "--gpus=1"}
  int ReplyTimeoutMs = 600000;
  /// Compile workers for requests that wait; 0: one for each core that the
  /// worker may use, of more than two but one.
  unsigned Compilers = 0;
  /// Sizes of records by buffer ("out", "arg1"): these may come in any order.
  std::map<std::string, uint64_t> Unordered;
};

/// One written buffer in an A/A comparison.
struct BufferSpread {
  std::string Name; // allocation as "field+offset" or "address"
  uint64_t Address = 0;
  uint64_t Size = 0;
  ValueType Type = ValueType::Bytes;
  uint64_t ChangedBytes = 0; // that differ between replays, or from the record
  double MaxDifference = 0;  // floating point only
  double Rms = 0;            // of the buffer's values
};

struct ReplayReport {
  Outcome Result = Outcome::Ok;
  std::string Message;
  bool BitExact = false; // all replays equal the recorded outcome
  // Of the recorded memory, by the traced build; Untraced says why there is no
  // such knowledge (empty: there is).
  uint64_t ReadBytes = 0, WrittenBytes = 0;
  uint64_t PoisonedBytes = 0; // written, never read, overwritten before replays
  std::string Untraced;
  std::vector<BufferSpread> Buffers; // those that differ
  std::vector<double> OriginalNs;
  double ProgramNs = 0; // as recorded, 0: unknown
  FloorReport Floor;    // of the original; empty: rates were not asked for
  std::map<std::string, double> Ms;
};

/// What is right: the recorded bits (or the original's own spread), or also
/// what rounding explains.
enum class Accept { Bits, Rounding };

struct EvaluationRequest {
  Variant Change;
  std::vector<size_t> Recordings; // indexes of what was loaded
  unsigned Pairs = 0;             // of timed launches, on each recording
  uint64_t Seed = 0;
  /// Digests of binaries that are not run again.
  std::vector<std::string> Known;
  Accept Which = Accept::Bits;
  double CloseTo = 0; // 0: not given
  /// Code may compute less exactly; the check of it only says how.
  bool AllowPrecision = false;
  CheckSet Checks = searchChecks();
  /// So many runs of optional passes, counted as LLVM's OptBisect does; the
  /// report says how many there are and which one would be next.
  std::optional<uint64_t> PassLimit;
  /// Not run where the binary is known of earlier requests with this, or by
  /// Worker::know.
  bool Once = false;
  /// Whether operations are counted, where rates were asked for.
  bool Floors = false;
  /// A gain. Where it is out of reach, not all pairs are run (trust/Race.h); 0:
  /// they always are.
  double Beat = 0;
};

/// A binary by its digest, and digests of what it was made of, with all else
/// that it depends on; empty: not known, or there is none.
struct KnownBinary {
  std::string Code, Ir, Ptx;
};

struct EvaluationReport {
  Outcome Result = Outcome::Ok;
  std::string Message;
  std::string Code;    // digest of the binary
  std::string Ir, Ptx; // of what it was made of, see KnownBinary
  /// That a right variant needed, and was given; empty: bit for bit.
  std::string Tolerance;
  /// Recordings in which a guard of the variant does not hold, and which do
  /// not; it was evaluated on the others.
  std::vector<size_t> Excluded;
  std::string Guards;
  uint32_t Registers = 0, Shared = 0, Spills = 0;
  std::vector<double> OriginalNs, VariantNs; // in pairs
  unsigned Pairs = 0;                        // that were run on each recording
  std::vector<CheckResult> Checks; // in order, up to the first that failed
  std::vector<FloorReport> Floors; // of recordings that are not excluded
  /// Where passes were limited. "licm", "loop %for.body in function k".
  uint64_t PassRuns = 0;
  std::string NextPass, NextPlace;
  std::map<std::string, double> Ms;
};

/// What to time against the original. The empty variant gives A/A times.
struct MeasurementRequest {
  Variant Change;
  size_t Recording = 0;
  CacheMode Mode = CacheMode::Cold;
  unsigned Batches = 0; // 1 to MostBatches
  uint64_t Seed = 0;    // of the order of launches and of poison
  Accept Which = Accept::Bits;
  double CloseTo = 0;
  bool AllowPrecision = false;
};
constexpr unsigned MostBatches = 1000;

/// What nvcc makes of the original's source.
struct NvccReport {
  Outcome Result = Outcome::Ok;
  std::string Message;
  std::string Ptx; // of the kernel, a Variant::Ptx
};

class Worker {
public:
  static Expected<std::unique_ptr<Worker>> start(const WorkerOptions &Options);
  ~Worker(); // bye, then kill

  const DeviceIdentity &identity() const { return Identity; }
  /// Printed default pipelines by level, for edits.
  const std::map<std::string, std::string> &pipelines() const {
    return Pipelines;
  }

  /// So many builds go on at once where several requests are submitted.
  unsigned compilers() const { return Compilers; }

  /// Whether a call failed because the supervisor died, went silent or sent
  /// nonsense, and not because it answered with an error: start another.
  bool isLost() const { return Lost; }

  /// Replaces what was loaded before.
  Error load(const std::vector<std::string> &ManifestPaths);
  Expected<ReplayReport> prepare(size_t Recording, unsigned Repetitions);
  Expected<EvaluationReport> evaluate(const EvaluationRequest &What);
  /// Binaries of what is loaded, by their digests: see EvaluationRequest::Once.
  Error know(const std::vector<KnownBinary> &All);

  /// evaluate() in two halves, so that several can be under way: those that
  /// wait are built while others run. No other call may come in between, but
  /// drop().
  Error submit(const EvaluationRequest &What);
  /// The report on the oldest that was submitted.
  Expected<EvaluationReport> next();
  /// Gives up all that was submitted.
  void drop();

  /// Times a variant in batches; the results of all launches are checked. Not
  /// Ok: the variant is wrong or faulty, or the launch is too short to be timed
  /// (BelowResolution; the times are there).
  Expected<MeasurementReport> measure(const MeasurementRequest &What);
  Expected<NvccReport> nvcc();
  /// Measured at the first call.
  Expected<RatesReport> rates();

private:
  Worker(Process Child, Channel Link);
  /// The id of the request.
  Expected<uint64_t> send(const std::string &Json);
  Expected<Frame> receive(uint64_t Id);
  Expected<Frame> ask(const std::string &Json);
  /// The header of the reply, or the error that it carries.
  Expected<json::Document> askJson(const std::string &Json);
  Process Child;
  Channel Link;
  WorkerOptions Options;
  DeviceIdentity Identity;
  std::map<std::string, std::string> Pipelines;
  unsigned Compilers = 1;
  uint64_t NextId = 1;
  std::deque<uint64_t> Submitted; // requests, the oldest first
  bool Lost = false;
};

} // namespace r3
