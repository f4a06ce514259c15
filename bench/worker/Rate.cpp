// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many variants a second a search evaluates, and how many it could if it
// had nothing else to do than to build them, or to run them. Prints one line of
// JSON:
//   r3-bench-rate STORE BACKEND KERNEL COMPILERS SECONDS
// Two searches of the whole space: "distinct", in which each variant also has a
// binary of its own, so that all are verified and timed, and "space" as it is,
// where many come to the same. The clock begins when the original has been
// evaluated. Built alone: the variants of the first, by workers that know the
// binaries. Run alone: the original, verified and timed as a variant is.
#include "bench/worker/FreshJournal.h"
#include "wrapper/r3/Catalogue.h"
#include "wrapper/r3/Confirm.h"
#include "wrapper/remix/Search.h"
#include "wrapper/remix/space/KernelSpace.h"
#include "wrapper/trust/MedianBound.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <sys/resource.h>
#include <time.h>

using namespace r3;

namespace {

using SteadyClock = std::chrono::steady_clock;

double secondsSince(SteadyClock::time_point Start) {
  return std::chrono::duration<double>(SteadyClock::now() - Start).count();
}

double ownCpuSeconds() {
  timespec Now{};
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &Now);
  return double(Now.tv_sec) + double(Now.tv_nsec) / 1e9;
}

/// Of processes that have ended and were waited for.
double cpuSeconds() {
  rusage Used{};
  (void)getrusage(RUSAGE_CHILDREN, &Used);
  const auto Of = [](const timeval &T) {
    return double(T.tv_sec) + double(T.tv_usec) / 1e6;
  };
  return Of(Used.ru_utime) + Of(Used.ru_stime);
}

/// Notes how long it takes to propose, and where Number is not 0 makes a binary
/// of its own of each variant, by a pass of Faults.cpp that does no harm.
class Counted : public Proposals {
public:
  Counted(std::unique_ptr<Proposals> From, std::string Level, unsigned Number,
          double &Seconds)
      : From(std::move(From)), Level(std::move(Level)), Number(Number),
        Seconds(Seconds) {}
  std::optional<size_t> count() const override { return From->count(); }
  std::vector<std::pair<std::string, size_t>> dimensions() const override {
    return From->dimensions();
  }
  std::optional<Candidate> next() override {
    const double Start = ownCpuSeconds();
    auto Next = From->next();
    Seconds += ownCpuSeconds() - Start;
    if (Next && Number) {
      std::string &Pipeline = Next->Change.Pipeline;
      if (Pipeline.empty())
        Pipeline = "default<" + Level + ">";
      Pipeline += format(",no-harm<%u>", Number++);
    }
    return Next;
  }
  void learn(std::optional<double> Cost) override {
    const double Start = ownCpuSeconds();
    From->learn(Cost);
    Seconds += ownCpuSeconds() - Start;
  }

private:
  std::unique_ptr<Proposals> From;
  std::string Level;
  unsigned Number;
  double &Seconds;
};

ProposalSource counted(bool Distinct, double &Seconds) {
  const ProposalSource Whole = optimizerProposals("bayesian", SpaceLimits());
  return {Whole.Name,
          [=, &Seconds](
              const SpaceInput &In) -> Expected<std::unique_ptr<Proposals>> {
            auto All = Whole.Open(In);
            if (!All)
              return All.error();
            return std::unique_ptr<Proposals>(
                new Counted(std::move(*All), In.Level, Distinct, Seconds));
          }};
}

/// What a search came to, and where its time went.
class Tally : public SearchObserver {
public:
  void evaluated(const KernelProgress &, const Evaluation &E, const Session &,
                 bool) override {
    if (E.Change.isOriginal()) {
      Begin = SteadyClock::now();
      return;
    }
    ++Variants;
    Seconds = secondsSince(Begin);
    ++Outcomes[E.Result];
    for (const auto &[Step, Ms] : E.Ms)
      Steps[Step] += Ms;
    if (E.Result == Outcome::Duplicate)
      return;
    ++Distinct;
    Pairs += E.VariantNs.size();
    for (double Ns : E.OriginalNs)
      OriginalUs.push_back(Ns / 1000);
    Timed += !E.VariantNs.empty();
    if (!E.Code.empty())
      Built.push_back(E);
  }
  void warn(const std::string &Message) override {
    std::fprintf(stderr, "%s\n", Message.c_str());
  }

  size_t Variants = 0, Distinct = 0, Timed = 0, Pairs = 0;
  double Seconds = 0, Proposing = 0, CpuSeconds = 0;
  std::map<Outcome, size_t> Outcomes;
  std::map<std::string, double> Steps;
  std::vector<double> OriginalUs;
  std::vector<Evaluation> Built; // each binary once

private:
  SteadyClock::time_point Begin = SteadyClock::now();
};

/// A second's worth of something, for some seconds from the first answer on,
/// which processes have to start for. Request is given a number.
Expected<double>
rateOf(Evaluator &W, double Seconds,
       const std::function<EvaluationRequest(size_t)> &Request) {
  const size_t InFlight = 2 * W.compilers();
  size_t Sent = 0, Answered = 0;
  auto Begin = SteadyClock::now();
  while (Answered < 2 || secondsSince(Begin) < Seconds) {
    for (; Sent < Answered + InFlight; ++Sent)
      if (Error E = W.submit(Request(Sent)))
        return E;
    auto R = W.next();
    if (!R)
      return R.error();
    if (Answered++ == 0)
      Begin = SteadyClock::now();
  }
  const double Rate = double(Answered - 1) / secondsSince(Begin);
  W.drop();
  return Rate;
}

struct Alone {
  double Built = 0, Run = 0; // a second
};

Expected<Alone> alone(const EvaluatorSource &Source, const SearchKernel &K,
                      const Tally &Of, double Seconds) {
  auto W = Source();
  if (!W)
    return W.error();
  auto Recordings = replayOriginals(**W, K, /*Repetitions=*/3);
  if (!Recordings)
    return Recordings.error();
  auto Built = rateOf(**W, Seconds, [&](size_t Number) {
    const Evaluation &E = Of.Built[Number % Of.Built.size()];
    EvaluationRequest What{E.Change, *Recordings};
    What.Known = {E.Code};
    return What;
  });
  if (!Built)
    return Built.error();
  auto Run = rateOf(**W, Seconds, [&](size_t) {
    return EvaluationRequest{Variant(), *Recordings, SearchOptions().Pairs};
  });
  if (!Run)
    return Run.error();
  return Alone{*Built, *Run};
}

void write(json::Writer &W, const char *Name, double Value) {
  W.Key(Name);
  W.Double(Value);
}

void write(json::Writer &W, const Tally &T) {
  W.StartObject();
  write(W, "variants a second", double(T.Variants) / T.Seconds);
  write(W, "evaluated a second", double(T.Distinct) / T.Seconds);
  write(W, "cpu ms of a proposal", T.Proposing * 1000 / double(T.Variants));
  write(W, "worker's cpu ms of a variant",
        T.CpuSeconds * 1000 / double(T.Variants));
  write(W, "pairs", double(T.Pairs) / double(std::max<size_t>(T.Timed, 1)));
  if (!T.OriginalUs.empty())
    write(W, "original's us", trust::median(T.OriginalUs));
  W.Key("outcomes");
  W.StartObject();
  for (const auto &[Result, Count] : T.Outcomes) {
    W.Key(std::string(outcomeName(Result)).c_str());
    W.Uint64(Count);
  }
  W.EndObject();
  W.Key("ms of a variant");
  W.StartObject();
  for (const auto &[Step, Ms] : T.Steps)
    if (Ms > 0.01 * double(T.Variants))
      write(W, Step.c_str(), Ms / double(T.Variants));
  W.EndObject();
  W.EndObject();
}

/// A search in a journal of its own, and all of its processes' time.
Error search(Store &In, const EvaluatorSource &Source,
             const std::vector<SearchKernel> &Kernels, bool Distinct,
             double Seconds, Tally &T) {
  auto Log = freshJournal(In.path() + "/rate");
  if (!Log)
    return Log.error();
  SearchOptions Wanted;
  Wanted.Space = counted(Distinct, T.Proposing);
  Wanted.BudgetMs = static_cast<uint64_t>(Seconds * 1000);
  const std::atomic<bool> Never{false};
  const double Before = cpuSeconds();
  {
    auto Found =
        Search(**Log, Source, monotonicMs, T, Never).run(Kernels, Wanted);
    if (!Found)
      return Found.error();
    if (T.Built.empty())
      return fail(ErrorCode::Failed, "nothing was evaluated: %s",
                  Found->Kernels[0].Skipped.c_str());
  }
  T.CpuSeconds = cpuSeconds() - Before;
  return Error::success();
}

Error run(char **Words) {
  const std::string Backend = Words[1];
  const double Seconds = std::atof(Words[4]);
  auto Opened = Store::open(Words[0], /*Create=*/false);
  if (!Opened)
    return Opened.error();
  const Catalogue Recorded = Catalogue::read(*Opened);
  auto Chosen = Recorded.selectOne(Backend, Words[2]);
  if (!Chosen)
    return Chosen.error();
  const std::vector<SearchKernel> Kernels = {searchKernel(**Chosen)};
  WorkerOptions Options;
  Options.Backend = Backend;
  Options.StorePath = Words[0];
  Options.Compilers = static_cast<unsigned>(std::atoi(Words[3]));
  const EvaluatorSource Source = workerSource(Options);
  Tally Distinct, Whole;
  if (Error E = search(*Opened, Source, Kernels, true, Seconds, Distinct))
    return E;
  if (Error E = search(*Opened, Source, Kernels, false, Seconds, Whole))
    return E;
  auto Rest = alone(Source, Kernels[0], Distinct, Seconds / 4);
  if (!Rest)
    return Rest.error();
  rapidjson::StringBuffer Buffer;
  json::Writer W(Buffer);
  W.SetMaxDecimalPlaces(2);
  W.StartObject();
  W.Key("distinct");
  write(W, Distinct);
  W.Key("space");
  write(W, Whole);
  write(W, "built alone", Rest->Built);
  write(W, "run alone", Rest->Run);
  W.EndObject();
  std::printf("%s\n", Buffer.GetString());
  return Error::success();
}

} // namespace

int main(int Count, char **Words) {
  if (Count != 6) {
    std::fprintf(stderr,
                 "r3-bench-rate STORE BACKEND KERNEL COMPILERS SECONDS\n");
    return 2;
  }
  Error Problem = run(Words + 1);
  if (Problem)
    std::fprintf(stderr, "error: %s\n", Problem.message().c_str());
  return Problem ? 1 : 0;
}
