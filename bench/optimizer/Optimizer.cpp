// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lets an optimiser search a space that was measured whole, once for each
// seed, and prints as one line of JSON how near it came to the best: the mean
// and the 10th percentile, over seeds, of (best in the space / best found)
// after some numbers of evaluations. A failed configuration costs an
// evaluation as any other.
#include "bench/optimizer/TableSpace.h"

#include "runtime/support/Json.h"
#include "wrapper/remix/optimizer/Optimizer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <numeric>

using namespace r3;

namespace {

/// From here on a proposal's cost is measured: what a long search pays.
constexpr size_t LongSearch = 500;

struct Run {
  std::vector<double> Share; // of the best, after each evaluation
  double LongMs = 0;         // a proposal beyond LongSearch
};

Run search(const TableSpace &Space, const std::string &Method, uint64_t Seed,
           size_t Evaluations, size_t InFlight) {
  using Clock = std::chrono::steady_clock;
  auto By = makeOptimizer(Method, Space, Seed);
  Run Made;
  double Best = INFINITY;
  std::deque<Point> Flying;
  Clock::time_point LongFrom;
  for (size_t Told = 0, Proposed = 0; Told < Evaluations; ++Told) {
    if (Told == LongSearch)
      LongFrom = Clock::now();
    for (; Flying.size() < InFlight && Proposed < Evaluations; ++Proposed)
      if (auto P = By->propose())
        Flying.push_back(std::move(*P));
      else
        break;
    if (!Flying.empty()) { // else the space is used up, and the best found
      const Point P = std::move(Flying.front());
      Flying.pop_front();
      const auto Cost = Space.cost(P);
      By->tell(P, Cost);
      Best = std::min(Best, Cost.value_or(INFINITY));
    }
    Made.Share.push_back(Space.best() / Best);
  }
  if (Evaluations > LongSearch)
    Made.LongMs =
        std::chrono::duration<double, std::milli>(Clock::now() - LongFrom)
            .count() /
        double(Evaluations - LongSearch);
  return Made;
}

void writeShares(json::Writer &W, const std::vector<Run> &Runs,
                 size_t Evaluations) {
  for (size_t At : {50, 100, 200}) {
    if (At > Evaluations)
      break;
    std::vector<double> Shares;
    for (const Run &R : Runs)
      Shares.push_back(R.Share[At - 1]);
    std::sort(Shares.begin(), Shares.end());
    W.Key(("mean" + std::to_string(At)).c_str());
    W.Double(std::accumulate(Shares.begin(), Shares.end(), 0.0) /
             double(Shares.size()));
    W.Key(("tenth" + std::to_string(At)).c_str());
    W.Double(Shares[Shares.size() / 10]);
  }
}

} // namespace

int main(int Count, char **Arguments) {
  if (Count != 6) {
    std::fprintf(stderr, "usage: r3-bench-optimizer FILE.csv METHOD SEEDS "
                         "EVALUATIONS IN-FLIGHT\n");
    return 2;
  }
  auto number = [&](int I) { return size_t(std::atoll(Arguments[I])); };
  const std::string Method = Arguments[2];
  const size_t Seeds = number(3), Evaluations = number(4), InFlight = number(5);
  const auto &Names = optimizerNames();
  if (std::find(Names.begin(), Names.end(), Method) == Names.end() || !Seeds ||
      !Evaluations || !InFlight) {
    std::fprintf(stderr, "error: no such method, or a number that is 0\n");
    return 2;
  }
  auto Space = TableSpace::read(Arguments[1]);
  if (!Space) {
    std::fprintf(stderr, "error: %s\n", Space.error().message().c_str());
    return 1;
  }
  std::vector<Run> Runs;
  for (size_t Seed = 1; Seed <= Seeds; ++Seed)
    Runs.push_back(search(*Space, Method, Seed, Evaluations, InFlight));

  rapidjson::StringBuffer Text;
  json::Writer W(Text);
  W.StartObject();
  writeShares(W, Runs, Evaluations);
  double LongMs = 0;
  for (const Run &R : Runs)
    LongMs += R.LongMs / double(Seeds);
  W.Key("longMs");
  W.Double(LongMs);
  W.EndObject();
  std::printf("%s\n", Text.GetString());
}
