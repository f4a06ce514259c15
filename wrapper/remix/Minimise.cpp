// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The evaluations that delta debugging asks for: by the journal where it knows
// the variant or its binary, else by a worker.
#include "wrapper/remix/Minimise.h"

#include "wrapper/remix/DeltaDebugging.h"
#include "wrapper/remix/VariantParts.h"

#include <algorithm>
#include <ctime>
#include <map>

namespace r3 {

namespace {

/// So many workers lost one after the other mean that it is not the variants.
constexpr unsigned LostLimit = 5;
/// What the median may fall below the winner's where times are steady.
constexpr double LeastNoise = 0.01;
/// Set in the seed of a second measurement.
constexpr uint64_t SecondSeed = 0x9e3779b97f4a7c15;

class Minimiser {
public:
  Minimiser(Journal &Log, const EvaluatorSource &Source, const Clock &Now,
            const std::atomic<bool> &Stop, const SearchKernel &Kernel,
            const Evaluation &Winner, const MinimiseOptions &Options,
            const MinimiseProgress &Tell)
      : Log(Log), Source(Source), Now(Now), Stop(Stop), Kernel(Kernel),
        Winner(Winner), Options(Options), Tell(Tell) {}

  Expected<MinimiseReport> run() {
    ChargedAtMs = Now();
    if (Error E = openSession())
      return E;
    if (Error E = ensureWorker())
      return E;
    if (Error E = measureWinner())
      return E;
    // From here on the bar is fixed.
    const VariantParts Parts(Winner.Change, Kernel.Level, Worker->pipelines());
    std::vector<size_t> Left;
    auto Found = minimiseSet(
        Parts.names().size(),
        [&](const std::vector<size_t> &Kept) -> Expected<bool> {
          if (Tell)
            Tell(Parts.names().size(), Left.size());
          return holds(Parts, Kept);
        },
        &Left);
    if (!Found && Report.Unfinished.empty())
      return Found.error();
    if (Error E = finish(Parts, Left))
      return E;
    return std::move(Report);
  }

private:
  // --- The session, and what may be spent.

  Error openSession() {
    SessionSpec Spec;
    Spec.Identity =
        contentDigest("minimise\n" + Winner.Key + "\n" + Winner.Setting + "\n" +
                      Winner.Change.id().hex())
            .hex();
    Spec.Backend = Winner.Backend;
    Spec.Device = Winner.Device;
    Spec.Tools = Winner.Tools;
    Spec.Space = "minimise 1";
    Spec.Seed = Options.Seed;
    Spec.BudgetMs = Options.BudgetMs;
    Spec.MaxEvaluations = Options.MaxEvaluations;
    auto Opened = Log.openSession(Spec);
    if (!Opened)
      return Opened.error();
    State = *Opened;
    auto Before = Log.evaluations({Winner.Key, "", Winner.Setting, 0});
    if (!Before)
      return Before.error();
    for (const Evaluation &E : *Before)
      if (!E.Code.empty() && !E.SameAs)
        Known.push_back(E.Code);
    return Error::success();
  }

  void chargeTime() {
    const uint64_t At = Now();
    State.SpentMs += At - ChargedAtMs;
    ChargedAtMs = At;
  }

  /// Interrupted, with the reason in the report, where nothing more may run.
  Error mayGoOn() {
    chargeTime();
    if (Stop) {
      Report.Interrupted = true;
      Report.Unfinished = "it was stopped";
    } else if (State.SpentMs >= State.BudgetMs) {
      Report.Unfinished = "the budget is used up";
    } else if (State.MaxEvaluations &&
               State.Evaluations + Report.Evaluations >= State.MaxEvaluations) {
      Report.Unfinished = "all evaluations are used up";
    }
    return Report.Unfinished.empty()
               ? Error::success()
               : Error(Report.Interrupted ? ErrorCode::Interrupted
                                          : ErrorCode::Failed,
                       Report.Unfinished);
  }

  // --- The worker.

  Error ensureWorker() {
    while (!Worker) {
      if (LostInARow == LostLimit)
        return fail(ErrorCode::Failed, "%u workers lost one after the other",
                    LostLimit);
      auto Started = Source();
      if (!Started)
        return Started.error().in("the worker did not start");
      Worker = std::move(*Started);
      const DeviceIdentity &Here = Worker->identity();
      if (Here.Key != Winner.Device || Here.Tools != Winner.Tools)
        return fail(ErrorCode::Stale,
                    "the variant was evaluated on %s with %s, here is %s with "
                    "%s: `r3 remix` searches again",
                    Winner.Device.c_str(), Winner.Tools.c_str(),
                    Here.Key.c_str(), Here.Tools.c_str());
      if (Error E = replayOriginals()) {
        if (!Worker->isLost())
          return E;
        loseWorker();
      } else {
        LostInARow = 0; // whoever is lost next, it is its variant's doing
      }
    }
    return Error::success();
  }

  void loseWorker() {
    ++LostInARow;
    Worker.reset();
  }

  Error replayOriginals() {
    auto Replayed = r3::replayOriginals(*Worker, Kernel, Options.Repetitions);
    if (!Replayed)
      return Replayed.error();
    Reproducing = std::move(*Replayed);
    return Error::success();
  }

  /// One evaluation by a worker; a lost worker is an outcome.
  Expected<EvaluationReport> ask(const Variant &V, bool Again,
                                 std::vector<std::string> Skip) {
    if (Error E = mayGoOn())
      return E;
    if (Error E = ensureWorker())
      return E;
    ++Report.Evaluations;
    EvaluationRequest R;
    R.Change = V;
    R.Recordings = Reproducing;
    R.Pairs = Options.Pairs;
    R.Seed = Options.Seed ^ V.id().Low ^ (Again ? SecondSeed : 0);
    R.Known = std::move(Skip);
    auto Answer = Worker->evaluate(R);
    if (Answer)
      return Answer;
    EvaluationReport Failed;
    Failed.Message = Answer.error().message();
    Failed.Result = Outcome::Refused;
    if (Worker->isLost()) {
      Failed.Result = Outcome::WorkerLost;
      loseWorker();
    }
    return Failed;
  }

  // --- What is enough.

  Error measureWinner() {
    auto Original = ask(Variant(), /*Again=*/true, {});
    if (!Original)
      return Original.error();
    const RatioSpread Noise =
        ratioSpread(Original->OriginalNs, Original->VariantNs);
    auto Again = ask(Winner.Change, /*Again=*/true, {});
    if (!Again)
      return Again.error();
    if (Again->Result != Outcome::Ok)
      return fail(ErrorCode::Wrong, "the variant is %s now: %s",
                  std::string(outcomeName(Again->Result)).c_str(),
                  Again->Message.c_str());
    const RatioSpread &Gain = Report.Winner =
        ratioSpread(Again->OriginalNs, Again->VariantNs);
    Code = Again->Code;
    const double Scatter = std::max(
        {LeastNoise, (Noise.High - Noise.Low) / 2,
         Gain.Median > 0 ? (Gain.High - Gain.Low) / 2 / Gain.Median : 0});
    Report.Bar = Gain.Median * (1 - Scatter);
    if (Report.Bar <= 1 + LeastNoise)
      return fail(ErrorCode::Slower,
                  "its gain of %.3fx is not above noise (%.1f %%): there is "
                  "nothing to minimise",
                  Gain.Median, 100 * Scatter);
    return Error::success();
  }

  Expected<bool> holds(const VariantParts &Parts,
                       const std::vector<size_t> &Kept) {
    const Variant V = Parts.with(Kept);
    if (V.isOriginal())
      return false;
    if (V.id() == Winner.Change.id())
      return true;
    auto Made = evaluate(V, noteOf(Parts, Kept));
    if (!Made)
      return Made.error();
    if (Made->Code == Code && !Code.empty())
      return true;
    auto Right = isRight(*Made);
    if (!Right || !*Right || Made->Gain.Median < Report.Bar)
      return Right ? Expected<bool>(false) : Right;
    return holdsAgain(V, Made->Code);
  }

  Expected<bool> isRight(const Evaluation &Made) {
    if (Made.Result != Outcome::Duplicate)
      return Made.Result == Outcome::Ok;
    auto First = Log.findSame(Made);
    if (!First)
      return First.error();
    return *First && (*First)->Result == Outcome::Ok;
  }

  /// One measurement above the bar may be luck.
  Expected<bool> holdsAgain(const Variant &V, const std::string &ItsCode) {
    const auto Before = Confirmed.find(ItsCode);
    if (Before != Confirmed.end())
      return Before->second;
    auto Again = ask(V, /*Again=*/true, {});
    if (!Again)
      return Again.error();
    const bool Enough =
        Again->Result == Outcome::Ok &&
        ratioSpread(Again->OriginalNs, Again->VariantNs).Median >= Report.Bar;
    Confirmed[ItsCode] = Enough;
    return Enough;
  }

  /// From the journal, else by a worker and into the journal.
  Expected<Evaluation> evaluate(const Variant &V, const std::string &Note) {
    auto Before = Log.find(Winner.Key, Winner.Setting, V.id().hex());
    if (!Before)
      return Before.error();
    if (*Before) {
      ++Report.Answered;
      return **Before;
    }
    auto Answer = ask(V, /*Again=*/false, Known);
    if (!Answer)
      return Answer.error();
    Evaluation Made = Winner;
    Made.Id = 0;
    Made.Session = State.Id;
    Made.Change = V;
    Made.Origin = "minimised";
    Made.Note = Note;
    Made.Seed = Options.Seed ^ V.id().Low;
    Made.Result = Answer->Result;
    Made.Message = Answer->Message;
    Made.Code = Answer->Code;
    Made.Registers = Answer->Registers;
    Made.Shared = Answer->Shared;
    Made.Spills = Answer->Spills;
    Made.OriginalNs = std::move(Answer->OriginalNs);
    Made.VariantNs = std::move(Answer->VariantNs);
    Made.Ms = std::move(Answer->Ms);
    Made.Gain = ratioSpread(Made.OriginalNs, Made.VariantNs);
    Made.SameAs = 0;
    Made.FinishedAt = uint64_t(std::time(nullptr));
    if (Error E = answerDuplicate(Made))
      return E;
    chargeTime();
    if (Error E = Log.add({&Made, 1}, State))
      return E;
    return Made;
  }

  /// What the first evaluation of the same binary found holds here, too.
  Error answerDuplicate(Evaluation &Made) {
    if (Made.Code.empty())
      return Error::success();
    auto First = Log.findSame(Made);
    if (!First)
      return First.error();
    if (!*First) {
      Known.push_back(Made.Code);
      return Error::success();
    }
    ++Report.Answered;
    --Report.Evaluations;
    Made.SameAs = (*First)->Id;
    Made.Result = Outcome::Duplicate;
    Made.Message =
        format("same binary as \"%s\", which was %s", (*First)->Note.c_str(),
               std::string(outcomeName((*First)->Result)).c_str());
    Made.Gain = (*First)->Gain;
    return Error::success();
  }

  // --- The result.

  static std::vector<std::string> namesOf(const VariantParts &Parts,
                                          const std::vector<size_t> &Kept) {
    std::vector<std::string> Names;
    for (const size_t I : Kept)
      Names.push_back(Parts.names()[I]);
    // That there are passes goes without saying where some are edited.
    if (Names.size() > 1)
      std::erase_if(Names, [](const std::string &Name) {
        return Name == "passes" || Name == "passes as printed";
      });
    return Names;
  }

  static std::string noteOf(const VariantParts &Parts,
                            const std::vector<size_t> &Kept) {
    constexpr size_t Most = 4;
    const std::vector<std::string> Names = namesOf(Parts, Kept);
    std::string Note;
    for (size_t I = 0; I < std::min(Names.size(), Most); ++I)
      Note += (I ? "; " : "") + Names[I];
    if (Names.size() > Most)
      Note += format(" and %zu more", Names.size() - Most);
    return Note.empty() ? "source alone" : Note;
  }

  Error finish(const VariantParts &Parts, const std::vector<size_t> &Left) {
    std::vector<size_t> Gone;
    for (size_t I = 0; I < Parts.names().size(); ++I)
      if (!std::binary_search(Left.begin(), Left.end(), I))
        Gone.push_back(I);
    Report.Kept = namesOf(Parts, Left);
    Report.Dropped = namesOf(Parts, Gone);
    const Variant V = Parts.with(Left);
    Report.Smallest = Winner;
    if (V.id() != Winner.Change.id()) {
      auto Known = Log.find(Winner.Key, Winner.Setting, V.id().hex());
      if (!Known)
        return Known.error();
      if (*Known)
        Report.Smallest = **Known;
    }
    chargeTime();
    State.State = Report.Unfinished.empty() ? "complete"
                  : Report.Interrupted      ? "open"
                                            : "spent";
    return Log.updateSession(State);
  }

  Journal &Log;
  const EvaluatorSource &Source;
  const Clock &Now;
  const std::atomic<bool> &Stop;
  const SearchKernel &Kernel;
  const Evaluation &Winner;
  const MinimiseOptions &Options;
  const MinimiseProgress &Tell;

  MinimiseReport Report;
  Session State;
  uint64_t ChargedAtMs = 0;
  std::unique_ptr<Evaluator> Worker;
  unsigned LostInARow = 0;
  std::vector<size_t> Reproducing;
  std::vector<std::string> Known;        // binaries that were evaluated
  std::map<std::string, bool> Confirmed; // by binary
  std::string Code;                      // the winner's binary
};

} // namespace

Expected<MinimiseReport>
minimise(Journal &Log, const EvaluatorSource &Source, const Clock &Now,
         const std::atomic<bool> &Stop, const SearchKernel &Kernel,
         const Evaluation &Winner, const MinimiseOptions &Options,
         const MinimiseProgress &Tell) {
  return Minimiser(Log, Source, Now, Stop, Kernel, Winner, Options, Tell).run();
}

} // namespace r3
