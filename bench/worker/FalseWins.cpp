// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3-bench-false-wins STORE BACKEND SEARCHES VARIANTS [SEED [KERNEL]]: how
// often a search among variants that are all the original ends with a gain.
// Each is a search of r3 remix, with a journal of its own and another space:
// the original's pipeline and so many bytes of padding (Padding.cpp). On a GPU,
// where nothing can be padded, workers are asked for the original itself and
// its code is told as another one. What is ranked first goes through the gate.
// One line a search, the count last; it fails where a padded variant was
// answered as a duplicate, or was not right, or no padding was another code.
#include "bench/worker/FreshJournal.h"
#include "wrapper/r3/Catalogue.h"
#include "wrapper/r3/Confirm.h"

#include "runtime/support/Store.h"

#include <cstdio>
#include <cstdlib>

using namespace r3;

namespace {

/// Functions begin at multiples of it, padded or not.
constexpr unsigned PadBytes = 64;

/// What a worker is asked of any variant, it is asked of the original.
class Told : public Evaluator {
public:
  explicit Told(std::unique_ptr<Evaluator> W) : W(std::move(W)) {}
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
    Own.Once = false; // it is the one binary
    Own.Checks.clear();
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
  Expected<NvccReport> nvcc() override { return W->nvcc(); }
  Expected<RatesReport> rates() override { return W->rates(); }

private:
  std::unique_ptr<Evaluator> W;
};

/// Of so many bytes from Least on.
ProposalSource paddings(unsigned Least, unsigned Most) {
  return listed("paddings", [=](const SpaceInput &Input) {
    std::vector<Candidate> All;
    for (unsigned Bytes = Least; Bytes <= Most; Bytes += PadBytes) {
      Candidate &C = All.emplace_back();
      C.Change.Pipeline =
          format("default<%s>,pad<%u>", Input.Level.c_str(), Bytes);
      C.Change.Level = Input.Level;
      C.Note = format("%u bytes", Bytes);
    }
    return Expected<std::vector<Candidate>>(std::move(All));
  });
}

struct Result {
  double Ranked = 0; // the best, by the search
  size_t Gated = 0;  // candidates
  Confirmation Of;
};

Expected<Result> once(const EvaluatorSource &Source, const CatalogueKernel &K,
                      const SearchOptions &Options, size_t Wanted,
                      size_t Duplicates, const std::string &Path) {
  auto Log = freshJournal(Path);
  if (!Log)
    return Log.error();
  const std::atomic<bool> Never{false};
  SearchObserver Quiet;
  const std::vector<SearchKernel> Kernels = {searchKernel(K)};
  auto Found =
      Search(**Log, Source, monotonicMs, Quiet, Never).run(Kernels, Options);
  if (!Found)
    return Found.error();
  const KernelProgress &P = Found->Kernels[0];
  auto CountOf = [&](Outcome What) {
    const auto At = P.Counts.find(What);
    return At == P.Counts.end() ? 0 : At->second;
  };
  if (CountOf(Outcome::Duplicate) != Duplicates || CountOf(Outcome::Wrong) ||
      CountOf(Outcome::Ok) < Wanted)
    return fail(ErrorCode::Failed, "%s: of %zu variants %zu are right, %zu %s",
                K.Display.c_str(), P.Tried, CountOf(Outcome::Ok),
                CountOf(Outcome::Duplicate), "duplicates");
  Result R;
  R.Ranked = P.Best->Gain.Low;
  auto Confirmed = confirm(**Log, K.Key, P.Setting, gateRecordings(K), Source,
                           Never, [](const std::string &, double) {});
  if (!Confirmed)
    return Confirmed.error();
  auto Judged = (*Log)->evidence(K.Key);
  if (!Judged)
    return Judged.error();
  R.Gated = Judged->size();
  R.Of = std::move(*Confirmed);
  return R;
}

int fail(const Error &E) {
  std::fprintf(stderr, "error: %s\n", E.message().c_str());
  return 1;
}

EvaluatorSource sourceOf(const std::string &Store, const std::string &Backend) {
  WorkerOptions Options;
  Options.Backend = Backend;
  Options.StorePath = Store;
  const EvaluatorSource Plain = workerSource(Options);
  if (Backend == "cpu")
    return Plain;
  return [Plain]() -> Expected<std::unique_ptr<Evaluator>> {
    auto W = Plain();
    if (!W)
      return W.error();
    return std::unique_ptr<Evaluator>(new Told(std::move(*W)));
  };
}

} // namespace

int main(int Count, char **Arguments) {
  if (Count < 5) {
    std::fprintf(stderr, "r3-bench-false-wins STORE BACKEND SEARCHES VARIANTS "
                         "[SEED [KERNEL]]\n");
    return 2;
  }
  const std::string Folder = Arguments[1], Backend = Arguments[2];
  auto Opened = Store::open(Folder, /*Create=*/false);
  if (!Opened)
    return fail(Opened.error());
  const Catalogue Recorded = Catalogue::read(*Opened);
  std::vector<std::string> Patterns;
  if (Count > 6)
    Patterns.push_back(Arguments[6]);
  auto Kernels = Recorded.select(Backend, Patterns);
  if (!Kernels)
    return fail(Kernels.error());
  const EvaluatorSource Source = sourceOf(Folder, Backend);
  // No padding is the original's code, which the search has seen. Some more,
  // since a busy machine may have one time out.
  const unsigned Least = Backend == "cpu" ? 0 : PadBytes;
  const auto Wanted = static_cast<unsigned>(std::atoi(Arguments[4]));
  SearchOptions Options;
  Options.Space = paddings(Least, (Wanted + Wanted / 20) * PadBytes);
  Options.BudgetMs = UINT64_MAX / 4; // all variants are tried
  const uint64_t Seed = Count > 5 ? std::atoi(Arguments[5]) : 1;
  const std::string Own = Folder + "/false-wins-" + std::to_string(Seed);
  const unsigned Searches = std::atoi(Arguments[3]);
  size_t Gated = 0, Accepted = 0;
  for (unsigned I = 0; I < Searches; ++I) {
    Options.Seed = (Seed << 20) + I;
    auto R = once(Source, *(*Kernels)[I % Kernels->size()], Options, Wanted,
                  /*Duplicates=*/Least == 0, Own);
    if (!R)
      return fail(R.error());
    const bool Won = R->Of.Accepted.has_value();
    Gated += R->Gated > 0;
    Accepted += Won;
    std::printf("search=%u ranked=%.4f gated=%zu accepted=%d %s\n", I,
                R->Ranked, R->Gated, Won, R->Of.Why.c_str());
    std::fflush(stdout);
  }
  std::printf("searches=%u gated=%zu accepted=%zu\n", Searches, Gated,
              Accepted);
}
