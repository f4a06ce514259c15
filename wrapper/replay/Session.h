// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a supervisor does for its client: one method a verb. Owns the two
// children, the loaded recordings and the verdicts.
#pragma once

#include "wrapper/replay/BuildPool.h"
#include "wrapper/replay/CompileLink.h"
#include "wrapper/replay/Derived.h"
#include "wrapper/replay/DeviceLink.h"
#include "wrapper/replay/KernelSet.h"
#include "wrapper/trust/Ptx.h"
#include "wrapper/trust/RoundingModel.h"
#include "wrapper/trust/SketchCheck.h"
#include "wrapper/trust/Tolerance.h"
#include "wrapper/trust/Verdict.h"

#include "runtime/support/Check.h"
#include "runtime/support/Store.h"
#include "runtime/support/StoreLock.h"
#include "runtime/support/Variant.h"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace r3::replay {

struct SessionOptions {
  std::string DeviceProgram;        // r3-device
  std::string CompileProgram;       // r3-compile
  uint64_t BuildDeadlineMs = 20000; // kept by the compile worker
  uint64_t LeastDeadlineMs = 1000;  // of a launch
  uint64_t BuildGraceMs = 10000;    // after which it is itself given up
  bool Confine = false;             // the device child: DeviceFiles.h
};

class Session {
public:
  Session(SessionOptions O, Children &All, const std::atomic<bool> &Cancelled)
      : Setup(std::move(O)), All(All), Cancelled(Cancelled),
        Ahead(Setup.CompileProgram, Setup.BuildDeadlineMs, Setup.BuildGraceMs,
              All, Known) {}

  /// The JSON of the answer to the request with this id.
  std::string answer(uint64_t Id, const std::string &Json);

  /// An `evaluate` request waits: builds its variant meanwhile. Any thread.
  void buildAhead(uint64_t Id, const std::string &Json) {
    Ahead.order(Id, Json);
  }
  /// What waits is not wanted any more. Any thread.
  void dropAhead() { Ahead.drop(); }

private:
  using Reply = Expected<std::string>;
  Reply hello(const json::Value &Request);
  Reply load(const json::Value &Request);
  Reply prepare(const json::Value &Request);
  Reply know(const json::Value &Request);
  Reply evaluate(const json::Value &Request);
  Reply measure(const json::Value &Request);
  Reply nvcc();
  Reply rates();
  Reply unload();

  /// State of a loaded recording.
  struct Prepared {
    bool Done = false;
    trust::Judgement Verdict;
    std::optional<trust::Baseline> Base;
    std::vector<double> Ns;
    std::map<std::string, double> Ms;
    double OriginalNs = 0; // median
    std::optional<Footprint> Print;
    std::string Untraced; // why there is no footprint
    Poison Where;
    /// Ranges that launches may write: what the traced launch wrote, and those
    /// with words that are put in for a launch. Nothing: all, and why.
    std::optional<std::vector<uint64_t>> Written;
    std::string NotLocked;
    uint64_t LockedBytes = 0; // that are read-only while a variant runs
    /// One a buffer, nothing for exact ones; once they were asked for.
    std::vector<std::optional<trust::RoundingModel>> Rounding;
    std::string NoRounding; // why there are none
    /// Chunks, by buffer and offset, in which an evaluation in double leaves
    /// something else than was recorded.
    std::map<std::pair<size_t, uint64_t>, std::vector<uint8_t>> InDouble;
    std::string NoDouble; // why there is no such evaluation
    /// Why other orders of blocks say nothing, where they were tried: by bits,
    /// and with rounding.
    std::optional<std::string> Order[2];
  };
  struct Evaluation; // Evaluation.h

  /// What a check came to. NotMade: why it does not apply, and is no verdict.
  struct CheckOutcome {
    trust::Judgement Verdict;
    std::string NotMade;
  };
  using CheckMethod = CheckOutcome (Session::*)(Evaluation &);

  Error loadMemory();
  Error loadOriginal();
  Error checkMemory(size_t Index);
  /// Replays the original Repetitions times and judges; kept in Preparations.
  Error replayOriginal(size_t Index, unsigned Repetitions);
  /// Slower: how much longer than the plain original a launch may well take.
  uint64_t deadlineMs(size_t Index, unsigned Slower = 1) const;
  /// Whether kernels can be built with bounds checks.
  bool checksBounds() const { return Device->identity().Backend == "cpu"; }
  /// Launches a variant's build with bounds checks once, before any launch of
  /// the plain one: an access outside the recording, and what else ends a
  /// launch, gets its name and place here. Built: that build, where there is
  /// one already.
  trust::Judgement checkAccesses(size_t Index, const std::string &VariantJson,
                                 const std::vector<LaunchConfig> &Launches,
                                 std::map<std::string, double> &Ms,
                                 std::optional<Build> Built = std::nullopt);
  std::string loadTraced();
  Attempt runTraced(size_t Index, const char *Slot);
  /// How a source or a launch map runs in the traced build; kept for the last.
  CheckOutcome checkTrace(Evaluation &E);
  trust::Judgement traceSource(const Evaluation &E,
                               const std::string &VariantJson);
  CheckOutcome checkReads(Evaluation &E);
  trust::Judgement judgeReads(size_t Index, const Footprint &Variant,
                              const Footprint &Original,
                              const std::vector<std::string> &Sites) const;
  /// The variant that is loaded in its slot; Print: what it did.
  trust::Judgement runTracedVariant(size_t Index,
                                    std::optional<Footprint> &Print);
  /// Fills P's footprint; not ok where the original leaves the recording.
  trust::Judgement traceOriginal(size_t Index, Prepared &P);
  /// A run of the original or a variant with the poison of PoisonBytes[Pattern]
  /// before it; without, for a pattern that there is not.
  DeviceLink::RunRequest request(size_t Index, const char *Slot,
                                 const Poison &Where, size_t Pattern) const;
  Attempt runOriginal(size_t Index, size_t Pattern, Prepared &P);
  /// What an attempt means that did not end well.
  trust::Judgement judgeEnding(size_t Index, const Attempt &A) const;
  /// Whether caches are flushed before a launch. Not on the CPU device: the
  /// caches that virtual machines report take longer to flush than kernels
  /// take to run.
  bool flushes() const { return Device->identity().Backend != "cpu"; }

  // Rounding.cpp.
  std::string loadInstrumented(const char *Slot, const char *Instrument);
  /// Replays the original with random rounding, once a recording; whether
  /// there are models. Ms: what that takes.
  bool modelRounding(size_t Index, std::map<std::string, double> &Ms);
  std::string replayRounded(size_t Index, Prepared &P,
                            std::map<std::string, double> &Ms);
  /// Replays the original once with float code in double.
  std::string replayInDouble(size_t Index, Prepared &P,
                             std::map<std::string, double> &Ms);
  static std::vector<double> valuesInDouble(const Prepared &P,
                                            const trust::DifferingChunk &Chunk);
  /// The verdict on the last run of a variant, by the models. Said: how near to
  /// the limits it came.
  trust::Judgement judgeRounding(size_t Index, const Attempt &A,
                                 std::string &Said);

  // Launches.cpp.
  trust::Judgement chooseRecordings(Evaluation &E);
  trust::Judgement mapLaunches(Evaluation &E);
  trust::Judgement checkLimitsOf(const Evaluation &E);
  CheckOutcome checkCoverage(Evaluation &E);
  CheckOutcome checkGuards(Evaluation &E);
  /// Loads a build of the variant, to be launched as the variant is.
  Attempt loadVariant(const char *Slot, std::vector<uint8_t> Binary,
                      const Evaluation &E);

  // BlockOrder.cpp.
  /// Launches the code in Slot in several orders of its blocks.
  trust::Judgement runReordered(size_t Index, const char *Slot, Evaluation &E);
  std::string orderOfOriginal(size_t Index, const Evaluation &E);
  CheckOutcome checkBlockOrder(Evaluation &E);

  // Checks.cpp.
  trust::Judgement makeCheck(Check What, CheckMethod Method, Evaluation &E);
  /// Before the variant has run in any plain build, and after it has been found
  /// right there.
  trust::Judgement checkBefore(Evaluation &E);
  trust::Judgement checkAfter(Evaluation &E);
  CheckOutcome notePoison(Evaluation &E);
  trust::Judgement judgeWrites(const Evaluation &E) const;
  CheckOutcome checkReadOnly(Evaluation &E);
  CheckOutcome checkScratch(Evaluation &E);
  trust::Judgement runFilled(size_t Index, const char *Slot, Evaluation &E);
  CheckOutcome checkFrozen(Evaluation &E);
  CheckOutcome runFrozen(const std::string &VariantJson, size_t Pattern,
                         Evaluation &E);
  CheckOutcome checkPrecision(Evaluation &E);
  CheckOutcome checkCache(Evaluation &E);
  trust::Judgement readBothPtx(Evaluation &E);
  trust::Judgement readPtx(const std::string &VariantJson,
                           std::optional<trust::Ptx> &Into);
  CheckOutcome checkNoOp(Evaluation &E);
  trust::Judgement judgeNothing(size_t Index, Evaluation &Nothing);

  // Derived.cpp: launches made from recorded ones.
  using DerivedStep = std::function<trust::Judgement(Session &, size_t)>;
  /// Also: what is to be looked at beside the results, of the session that has
  /// the launches and the index of one.
  Expected<DerivedOutcome> runDerived(const DerivedLaunches &Launches,
                                      Evaluation &E, const DerivedStep &Also);
  Expected<std::unique_ptr<Session>>
  derive(KernelSet Launches, const std::vector<size_t> &Origins,
         std::vector<std::string> Launcher = {}) const;
  std::string settle(size_t Index, const LoadedRecording &Recorded,
                     double RecordedNs, DerivedChunks &Chunks);
  std::string keepOutcome(size_t Index, const Attempt &A,
                          const LoadedRecording &Recorded,
                          DerivedChunks &Chunks);
  double fastestNs(size_t Index, const char *Slot, unsigned Launches);

  // Perturbed.cpp, Unread.cpp, Relocated.cpp.
  CheckOutcome checkPerturbed(Evaluation &E);
  CheckOutcome checkUnread(Evaluation &E);
  CheckOutcome checkRelocated(Evaluation &E);
  std::string untraced(const Evaluation &E) const;
  trust::Judgement compareTimes(Session &Derived, size_t Index, size_t Origin);

  // Pristine.cpp.
  CheckOutcome checkPristine(Evaluation &E);
  /// Every so many variants; a sentence where the copies have changed.
  std::string lookAtPristine();
  Error reload();
  void forgetCode();

  // Sanitizer.cpp, Memcheck.cpp.
  CheckOutcome checkSanitizer(Evaluation &E);
  std::string needsNo(const std::string &Tool, Evaluation &E);
  CheckOutcome checkMemcheck(Evaluation &E);
  /// What a tool of compute-sanitizer comes to with the code of a slot.
  using ToolRun = std::function<CheckOutcome(const char *Slot)>;
  CheckOutcome blame(const std::string &Tool, const ToolRun &Run);
  CheckOutcome sanitize(const std::string &Tool, const char *Slot,
                        const Evaluation &E);
  struct PlainSet;
  Expected<PlainSet> plainLaunches(const Evaluation &E) const;
  CheckOutcome sanitizePlain(const std::string &Tool, const char *Slot,
                             PlainSet &Launches);

  // Evaluation.
  Expected<Evaluation> readEvaluation(const json::Value &Request) const;
  trust::Judgement verify(size_t Index, Evaluation &E);
  /// Ok: built. Otherwise the verdict is final.
  void build(Evaluation &E);
  Error judge(Evaluation &E, unsigned Pairs, uint64_t Seed);
  trust::Judgement forEach(const std::vector<size_t> &Recordings,
                           const std::function<trust::Judgement(size_t)> &Step);
  Build buildVariant(const Evaluation &E);
  trust::Judgement runSlot(size_t Index, const char *Slot, size_t Pattern,
                           double &Ns, Evaluation &E);
  bool findModels(size_t Index, trust::Judgement &J, Evaluation &E);
  /// One launch and its comparison with the record.
  trust::Judgement launchAndJudge(DeviceLink::RunRequest R, double &Ns,
                                  Evaluation &E);
  trust::Judgement judgeResult(size_t Index, bool IsVariant, const Attempt &A,
                               Evaluation &E);
  trust::Judgement judgeRun(size_t Index, const Attempt &A, double CloseTo = 0);
  static trust::Judgement noteRight(trust::Judgement J,
                                    const std::pair<size_t, Digest> &Results,
                                    Evaluation &E);
  trust::Judgement timeLaunch(size_t Index, bool Variant, size_t Pattern,
                              double &Ns, Evaluation &E);
  trust::Judgement timePairs(unsigned Pairs, uint64_t Seed, Evaluation &E);

  // Measure.cpp.
  struct Measuring;
  trust::Judgement learnResults(Evaluation &E, Measuring &M);
  trust::Judgement runBatches(Evaluation &E, Measuring &M);
  trust::Judgement runBatch(Evaluation &E, Measuring &M);
  trust::Judgement judgeBatch(const BatchRequest &R, const BatchAttempt &B,
                              Evaluation &E, Measuring &M);
  trust::Judgement doubt(bool IsVariant, Evaluation &E, Measuring &M);
  trust::Judgement judgeVarying(const BatchRequest &R, const BatchAttempt &B,
                                size_t Launch, Evaluation &E,
                                const Measuring &M);
  trust::Judgement compareWithLast(const BatchRequest &R, const BatchAttempt &B,
                                   size_t Launch, const Evaluation &E,
                                   const Measuring &M) const;
  double reachOf(size_t Index, size_t Buffer, bool IsVariant,
                 const trust::SketchPair &Pair, const Evaluation &E) const;
  trust::Judgement subtractEmpty(Measuring &M);

  // Floors.cpp.
  /// Of the original, whose launches have been looked at; empty where there are
  /// no rates.
  FloorReport floorOfOriginal(size_t Index);
  /// Of a variant that is right, on each of its recordings.
  void findFloors(Evaluation &E);
  FloorReport floorOf(size_t Index, const char *Slot, const std::string &Why);
  std::string countOperations(size_t Index, const char *Slot, Operations &Into);

  SessionOptions Setup;
  Children &All;
  const std::atomic<bool> &Cancelled;
  std::optional<Store> TheStore;
  std::optional<StoreLock> InUse; // of TheStore
  std::optional<DeviceLink> Device;
  std::shared_ptr<CompileLink> Compiler; // also of derived sessions
  uint64_t RequestId = 0;                // that is being answered
  KnownCode Known;                       // of the loaded kernel
  BuildPool Ahead;
  std::optional<KernelSet> Kernel;
  std::vector<uint8_t> OriginalBinary;
  std::string OriginalCode; // digest
  std::string Checked;      // the variant in CheckedSlot
  std::vector<Prepared> Preparations;
  struct TracedCode {
    std::string Why; // it cannot be used; empty where it can
    std::vector<std::string> Sites;
    std::vector<uint64_t> Numbers; // see Trace.h
  };
  std::optional<TracedCode> Traced;
  std::optional<RatesReport> Rates;      // once they were asked for
  std::optional<trust::Ptx> OriginalPtx; // once it was asked for
  /// By slot: why there is no such code; empty where it is loaded.
  std::map<std::string, std::string> Instrumented;
  /// The last source that was traced, and on which recordings.
  struct {
    std::string VariantJson;
    std::vector<size_t> Recordings;
    trust::Judgement Verdict;
    std::vector<std::optional<Footprint>> Prints; // one a recording
  } TracedSource;
  CheckOutcome TracedReads;
  unsigned SincePristine = 0; // variants since the pristine copies were right
  std::map<std::string, std::string> Insane; // the original, by tool
  /// Of the code in TracedVariantSlot; nothing where there is none.
  std::optional<std::vector<std::string>> VariantSites;
};

} // namespace r3::replay
