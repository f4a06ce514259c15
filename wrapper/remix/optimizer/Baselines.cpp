// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What Bayesian optimisation is compared with: random search, iterated local
// search and a genetic algorithm.
#include "wrapper/remix/optimizer/Implementations.h"
#include "wrapper/remix/optimizer/Seen.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace r3 {

namespace {

class Baseline : public Optimizer {
public:
  Baseline(const SearchSpace &Space, uint64_t Seed)
      : Space(Space), Dice(Seed) {}

  std::optional<Point> propose() override {
    constexpr int Tries = 100;
    for (int I = 0; I < Tries; ++I)
      if (auto P = next(); P && Known.add(*P))
        return P;
    // The search has no new idea of its own.
    auto P = Known.drawNew(Space, Dice);
    if (P)
      Known.add(*P);
    return P;
  }

  void tell(const Point &P, std::optional<double> Cost) override {
    Known.add(P);
    learn(P, Cost);
  }

protected:
  virtual std::optional<Point> next() = 0;
  virtual void learn(const Point &P, std::optional<double> Cost) = 0;

  const SearchSpace &Space;
  Random Dice;

private:
  Seen Known;
};

class RandomSearch : public Baseline {
public:
  using Baseline::Baseline;

protected:
  std::optional<Point> next() override { return Space.draw(Dice); }
  void learn(const Point &, std::optional<double>) override {}
};

/// Steps from the best point; after Patience steps without a gain a new start,
/// some steps away from the best of all (Lourenco, Martin and Stuetzle 2003).
class LocalSearch : public Baseline {
public:
  using Baseline::Baseline;

protected:
  std::optional<Point> next() override {
    if (!Here)
      return Space.draw(Dice);
    return Space.step(*Here, Dice);
  }

  void learn(const Point &P, std::optional<double> Cost) override {
    if (Cost && (!Best || *Cost < BestCost)) {
      Best = P;
      BestCost = *Cost;
    }
    if (Cost && (!Here || *Cost < HereCost)) {
      Here = P;
      HereCost = *Cost;
      SinceGain = 0;
    } else if (Here && ++SinceGain >= Patience) {
      restart();
    }
  }

private:
  static constexpr unsigned Patience = 25, Kick = 4;

  void restart() {
    SinceGain = 0;
    Point From = *Best;
    for (unsigned I = 0; I < Kick; ++I)
      if (auto Next = Space.step(From, Dice))
        From = std::move(*Next);
    // Its cost is not known: the first step from it that works is taken.
    Here = std::move(From);
    HereCost = INFINITY;
  }

  std::optional<Point> Here, Best;
  double HereCost = INFINITY, BestCost = INFINITY;
  unsigned SinceGain = 0;
};

/// Steady state, with tournaments (Whitley 1989).
class Genetic : public Baseline {
public:
  using Baseline::Baseline;

protected:
  std::optional<Point> next() override {
    if (Population.size() < Individuals)
      return Space.draw(Dice);
    auto Child = Space.cross(parent(), parent(), Dice);
    if (Child && Dice.chance(MutationRate))
      Child = Space.step(*Child, Dice);
    return Child;
  }

  void learn(const Point &P, std::optional<double> Cost) override {
    if (!Cost)
      return;
    Population.emplace(*Cost, P);
    if (Population.size() > Individuals)
      Population.erase(std::prev(Population.end()));
  }

private:
  static constexpr size_t Individuals = 20, Tournament = 3;
  static constexpr double MutationRate = 0.5;

  const Point &parent() {
    size_t At = Population.size();
    for (size_t I = 0; I < Tournament; ++I)
      At = std::min(At, Dice.below(Population.size()));
    return std::next(Population.begin(), long(At))->second;
  }

  std::multimap<double, Point> Population; // by cost
};

} // namespace

std::unique_ptr<Optimizer> makeRandom(const SearchSpace &Space, uint64_t Seed) {
  return std::make_unique<RandomSearch>(Space, Seed);
}

std::unique_ptr<Optimizer> makeLocal(const SearchSpace &Space, uint64_t Seed) {
  return std::make_unique<LocalSearch>(Space, Seed);
}

std::unique_ptr<Optimizer> makeGenetic(const SearchSpace &Space,
                                       uint64_t Seed) {
  return std::make_unique<Genetic>(Space, Seed);
}

} // namespace r3
