// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each evaluation is a build with so many runs of passes; what its binary was
// seen to do is not asked twice.
#include "wrapper/remix/Bisect.h"

#include <map>

namespace r3 {

namespace {

/// No pipeline that ends has as many.
constexpr uint64_t MostRuns = uint64_t(1) << 32;
constexpr unsigned Repetitions = 3;

class Bisection {
public:
  Bisection(const EvaluatorSource &Source, const std::atomic<bool> &Stop,
            const SearchKernel &Kernel, const Variant &Change,
            const BisectProgress &Tell)
      : Source(Source), Stop(Stop), Kernel(Kernel), Change(Change), Tell(Tell) {
  }

  Expected<BisectReport> run() {
    auto Whole = evaluate(MostRuns, 0);
    if (!Whole)
      return Whole.error();
    Report.Result = Whole->Result;
    Report.Message = Whole->Message;
    Report.Runs = Whole->PassRuns;
    if (isRight(*Whole))
      return fail(ErrorCode::Failed,
                  "the variant is right: there is nothing to look for");
    auto None = evaluate(0, Report.Runs);
    if (!None)
      return None.error();
    if (!isRight(*None)) {
      Report.With = None->Result;
      Report.WithMessage = None->Message;
      return std::move(Report);
    }
    auto Bad = findBad(*Whole, *None);
    if (!Bad)
      return Bad.error();
    return halve(*Bad);
  }

private:
  struct Seen {
    uint64_t Runs;
    EvaluationReport Report;
  };

  static bool isRight(const EvaluationReport &R) {
    return R.Result == Outcome::Ok;
  }

  /// A number of runs with which it is not right: all of them, or, where a
  /// build that does not end has not counted them, the first power of two.
  Expected<Seen> findBad(const EvaluationReport &Whole,
                         const EvaluationReport &None) {
    if (Report.Runs)
      return Seen{Report.Runs, Whole};
    for (uint64_t Runs = std::max<uint64_t>(None.PassRuns, 1); Runs < MostRuns;
         Runs *= 2) {
      auto Made = evaluate(Runs, Runs);
      if (!Made)
        return Made.error();
      if (!isRight(*Made))
        return Seen{Runs, *Made};
      Good = Runs;
    }
    return fail(ErrorCode::Failed, "the passes run without end");
  }

  Expected<BisectReport> halve(Seen Bad) {
    while (Bad.Runs - Good > 1) {
      const uint64_t Middle = Good + (Bad.Runs - Good) / 2;
      auto Made = evaluate(Middle, Bad.Runs - Good);
      if (!Made)
        return Made.error();
      if (isRight(*Made))
        Good = Middle;
      else
        Bad = {Middle, std::move(*Made)};
    }
    // What would have been next in the last right one is what makes it wrong.
    auto Last = evaluate(Good, 1);
    if (!Last)
      return Last.error();
    Report.Run = Bad.Runs;
    Report.Pass = Last->NextPass;
    Report.Place = Last->NextPlace;
    Report.With = Bad.Report.Result;
    Report.WithMessage = Bad.Report.Message;
    return std::move(Report);
  }

  /// With the first Runs runs of passes. A lost worker is an outcome, too.
  Expected<EvaluationReport> evaluate(uint64_t Runs, uint64_t Left) {
    if (Stop)
      return Error(ErrorCode::Interrupted, "interrupted");
    if (Tell)
      Tell(Left);
    if (Error E = ensureWorker())
      return E;
    EvaluationRequest R;
    R.Change = Change;
    R.Recordings = Reproducing;
    R.PassLimit = Runs;
    for (const auto &[Code, What] : ByCode)
      R.Known.push_back(Code);
    ++Report.Evaluations;
    auto Made = Worker->evaluate(R);
    if (!Made && Worker->isLost()) {
      EvaluationReport Lost;
      Lost.Result = Outcome::WorkerLost;
      Lost.Message = Made.error().message();
      Worker.reset();
      return Lost;
    }
    if (!Made)
      return Made.error();
    if (const auto Same = ByCode.find(Made->Code);
        Made->Result == Outcome::Duplicate && Same != ByCode.end()) {
      Made->Result = Same->second.first;
      Made->Message = Same->second.second;
    } else if (!Made->Code.empty()) {
      ByCode[Made->Code] = {Made->Result, Made->Message};
    }
    return Made;
  }

  Error ensureWorker() {
    if (Worker)
      return Error::success();
    auto Started = Source();
    if (!Started)
      return Started.error().in("the worker did not start");
    Worker = std::move(*Started);
    auto Replayed = replayOriginals(*Worker, Kernel, Repetitions);
    if (!Replayed)
      return Replayed.error();
    Reproducing = std::move(*Replayed);
    return Error::success();
  }

  const EvaluatorSource &Source;
  const std::atomic<bool> &Stop;
  const SearchKernel &Kernel;
  const Variant &Change;
  const BisectProgress &Tell;

  BisectReport Report;
  uint64_t Good = 0; // runs with which it is right
  std::unique_ptr<Evaluator> Worker;
  std::vector<size_t> Reproducing;
  std::map<std::string, std::pair<Outcome, std::string>> ByCode;
};

} // namespace

Expected<BisectReport> bisect(const EvaluatorSource &Source,
                              const std::atomic<bool> &Stop,
                              const SearchKernel &Kernel, const Variant &Change,
                              const BisectProgress &Tell) {
  return Bisection(Source, Stop, Kernel, Change, Tell).run();
}

} // namespace r3
