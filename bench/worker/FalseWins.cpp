// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3-bench-false-wins STORE BACKEND SEARCHES VARIANTS [SEED]: how often a
// search among variants that are all the original ends with a gain. Each search
// times them as r3 remix does, and sends what it ranks first through the timing
// half of the gate. A variant's code is told as another one, so that none is
// answered as a duplicate. One line a search, the count last.
#include "wrapper/r3/Catalogue.h"
#include "wrapper/r3/Confirm.h"
#include "wrapper/r3/Winner.h"

#include "runtime/support/Store.h"

#include <cstdio>
#include <cstdlib>

using namespace r3;

namespace {

/// What a worker is asked of any variant, it is asked of the original.
class Padded : public Evaluator {
public:
  explicit Padded(std::unique_ptr<Evaluator> W) : W(std::move(W)) {}
  bool isLost() const override { return W->isLost(); }
  const DeviceIdentity &identity() const override { return W->identity(); }
  const std::map<std::string, std::string> &pipelines() const override {
    return W->pipelines();
  }
  Error load(const std::vector<std::string> &Paths) override {
    return W->load(Paths);
  }
  Expected<ReplayReport> prepare(size_t Recording, unsigned Times) override {
    return W->prepare(Recording, Times);
  }
  Expected<EvaluationReport> evaluate(const EvaluationRequest &What) override {
    EvaluationRequest Own = What;
    Own.Change = Variant();
    Own.Known.clear();
    auto R = W->evaluate(Own);
    if (R && !What.Change.isOriginal())
      R->Code = What.Change.id().hex();
    return R;
  }
  Expected<MeasurementReport> measure(const MeasurementRequest &What) override {
    MeasurementRequest Own = What;
    Own.Change = Variant();
    return W->measure(Own);
  }
  Expected<RatesReport> rates() override { return W->rates(); }

private:
  std::unique_ptr<Evaluator> W;
};

struct Result {
  size_t Candidates = 0, Accepted = 0;
  double Best = 0;
};

constexpr unsigned Pairs = 8, Replays = 3, MostTries = 2; // those of r3 remix

/// What a search of this seed makes of Count variants.
Expected<std::vector<Evaluation>>
search(Evaluator &W, const std::vector<SearchRecording> &Seen, unsigned Count,
       uint64_t Seed) {
  std::vector<std::string> Paths;
  std::vector<size_t> All;
  for (const SearchRecording &R : Seen) {
    All.push_back(Paths.size());
    Paths.push_back(R.Path);
  }
  if (Error E = W.load(Paths))
    return E;
  for (size_t Index : All)
    if (auto R = W.prepare(Index, Replays); !R)
      return R.error();
  std::vector<Evaluation> Made;
  for (unsigned I = 0; I <= Count; ++I) {
    Evaluation E;
    if (I) // the first is the original itself
      E.Change.Pipeline = "padding " + std::to_string(I);
    E.Note = E.Change.Pipeline;
    auto R = W.evaluate({E.Change, All, Pairs, Seed ^ E.Change.id().Low});
    if (!R)
      return R.error();
    E.Result = R->Result;
    E.Gain = ratioSpread(R->OriginalNs, R->VariantNs);
    Made.push_back(std::move(E));
  }
  return Made;
}

Expected<Result> once(const EvaluatorSource &Source,
                      const std::vector<SearchRecording> &Recordings,
                      unsigned Count, uint64_t Seed) {
  std::vector<Evaluation> Made;
  {
    auto W = Source();
    if (!W)
      return W.error();
    auto All = search(**W, searchRecordings(Recordings), Count, Seed);
    if (!All)
      return All.error();
    Made = std::move(*All);
  }
  const Candidates Best = findCandidates(Made);
  Result R;
  R.Candidates = Best.List.size();
  const std::atomic<bool> Never{false};
  for (unsigned Try = 0;
       Try < MostTries && Try < Best.List.size() && !R.Accepted; ++Try) {
    GateOptions Options;
    Options.Checks.clear();
    Options.Which = Accept::Bits;
    Options.Try = Try;
    Options.Seed = Seed;
    auto Found = Gate(Source, Options, Never, [](const std::string &, double) {
                 }).run(Recordings, Best.List[Try].Change);
    if (!Found)
      return Found.error();
    if (!Found->Gains.empty())
      R.Best = std::max(R.Best, Found->Gains[0].Judged.Ratio);
    R.Accepted += Found->Accepted;
  }
  return R;
}

int fail(const Error &E) {
  std::fprintf(stderr, "error: %s\n", E.message().c_str());
  return 1;
}

} // namespace

int main(int Count, char **Arguments) {
  if (Count < 5) {
    std::fprintf(stderr, "r3-bench-false-wins STORE BACKEND SEARCHES VARIANTS "
                         "[SEED]\n");
    return 2;
  }
  auto Opened = Store::open(Arguments[1], /*Create=*/false);
  if (!Opened)
    return fail(Opened.error());
  const Catalogue Recorded = Catalogue::read(*Opened);
  auto Kernels = Recorded.select(Arguments[2], {});
  if (!Kernels)
    return fail(Kernels.error());
  WorkerOptions Options;
  Options.Backend = Arguments[2];
  Options.StorePath = Arguments[1];
  const EvaluatorSource Plain = workerSource(Options);
  const EvaluatorSource Source = [&]() -> Expected<std::unique_ptr<Evaluator>> {
    auto W = Plain();
    if (!W)
      return W.error();
    return std::unique_ptr<Evaluator>(new Padded(std::move(*W)));
  };
  const unsigned Searches = std::atoi(Arguments[3]);
  const uint64_t Seed = Count > 5 ? std::atoi(Arguments[5]) : 1;
  size_t Wins = 0, Candidates = 0;
  for (unsigned I = 0; I < Searches; ++I) {
    const CatalogueKernel &K = *(*Kernels)[I % Kernels->size()];
    auto R =
        once(Source, gateRecordings(K),
             static_cast<unsigned>(std::atoi(Arguments[4])), (Seed << 20) + I);
    if (!R)
      return fail(R.error());
    Wins += R->Accepted;
    Candidates += R->Candidates > 0;
    std::printf("search=%u candidates=%zu best=%.4f accepted=%zu\n", I,
                R->Candidates, R->Best, R->Accepted);
    std::fflush(stdout);
  }
  std::printf("searches=%u with-candidates=%zu accepted=%zu\n", Searches,
              Candidates, Wins);
}
