// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bayesian optimisation (Jones, Schonlau and Welch 1998): a Gaussian process
// of the logarithm of the cost, and of all candidates the one with the highest
// expected improvement, times the chance that it works at all. Every third
// proposal is the one with the least lower confidence bound instead (Srinivas
// et al. 2010), which leaves a plateau sooner. What was proposed and is not
// told yet counts as a little worse than the model believes (after the kriging
// believer of Ginsbourger, Le Riche and Carraro 2010), so that proposals in
// flight keep apart.
#include "wrapper/remix/optimizer/GaussianProcess.h"
#include "wrapper/remix/optimizer/Implementations.h"
#include "wrapper/remix/optimizer/Seen.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace r3 {

namespace {

constexpr size_t FirstDraws = 10; // at random, before there is a model
constexpr size_t LeastKnown = 3;  // costs, for a model
/// Beyond these the model sees a choice of the observations, and candidates
/// are drawn.
constexpr size_t MostModelled = 300, MostFitted = 150;
constexpr size_t DrawnPool = 1500;
constexpr size_t DrawnEach = 12;         // for each observation
constexpr size_t MostBetweenModels = 64; // observations
constexpr size_t BoundEvery = 3;         // proposals
constexpr float BoundWidth = 2;          // deviations
/// Costs this many deviations above the mean are all the same: bad.
constexpr double Worst = 1;
/// So much is believed without evidence, in correlated observations.
constexpr float WorksPrior = 0.3f;

/// Mean and deviation of numbers; the deviation is never 0.
struct Standard {
  double Mean = 0, Deviation = 1;
  explicit Standard(const std::vector<double> &Values) {
    const auto N = double(Values.size());
    for (double V : Values)
      Mean += V / N;
    double Sum = 0;
    for (double V : Values)
      Sum += (V - Mean) * (V - Mean);
    Deviation = std::max(std::sqrt(Sum / N), 1e-6);
  }
  double operator()(double V) const {
    return std::isnan(V) ? 0 : std::min((V - Mean) / Deviation, Worst);
  }
  double back(double V) const { return V * Deviation + Mean; }
};

using Features = Eigen::SparseVector<float>;

/// A matrix of Of(0), Of(1), ... as columns.
template <typename Function>
FeatureMatrix columns(Eigen::Index Rows, size_t Count, Function Of) {
  FeatureMatrix X(Rows, Eigen::Index(Count));
  for (Eigen::Index I = 0; I < X.cols(); ++I) {
    X.startVec(I);
    for (Features::InnerIterator At(Of(size_t(I))); At; ++At)
      X.insertBack(At.index(), I) = At.value();
  }
  X.finalize();
  return X;
}

double expectedImprovement(double Best, double Mean, double Deviation) {
  constexpr double InverseRoot2 = 0.7071067811865476;
  constexpr double InverseRoot2Pi = 0.3989422804014327;
  const double Z = (Best - Mean) / Deviation;
  return Deviation * (Z * 0.5 * std::erfc(-Z * InverseRoot2) +
                      std::exp(-0.5 * Z * Z) * InverseRoot2Pi);
}

/// For the chance to work: what is the opposite of an observation is not near.
Eigen::MatrixXf nearness(const Eigen::MatrixXf &Correlation) {
  return Correlation.array().max(0.0f).square().matrix();
}

class Bayesian : public Optimizer {
public:
  Bayesian(const SearchSpace &Space, uint64_t Seed)
      : Space(Space), Dice(Seed),
        FeatureCount(Eigen::Index(Space.featureCount())),
        Parameters(KernelParameters::initial(FeatureCount)),
        Listed(Space.all(MostListed)) {}

  std::optional<Point> propose() override;
  void tell(const Point &P, std::optional<double> Cost) override;

private:
  enum class State { Pending, Works, Failed };
  struct Candidate {
    Point At;
    Features X;
  };
  struct Observation {
    Point At;
    Features X;
    State Is = State::Pending;
    /// Logarithm of the cost; pending: what is believed, not a number for no
    /// belief.
    double Value = NAN;
  };

  Features describe(const Point &P) const;
  size_t note(const Point &P, double Belief);
  FeatureMatrix columnsOf(const std::vector<size_t> &Which) const;
  void condition(const std::vector<size_t> &Which);
  std::vector<double> workingValues() const;
  std::vector<size_t> byValue() const;
  bool needsModel() const;
  void renewModel();
  void renewPool();
  void drawPool();
  std::vector<size_t> choose(size_t AtMost);
  std::optional<Point> bestCandidate();

  const SearchSpace &Space;
  Random Dice;
  Eigen::Index FeatureCount;
  KernelParameters Parameters;
  std::optional<std::vector<Point>> Listed;

  std::vector<Observation> Observations;
  std::map<Point, size_t> IndexOf; // in Observations
  Seen Known;

  std::vector<Candidate> Pool;
  std::map<Point, size_t> PoolIndex;
  std::vector<char> Taken; // of the pool
  std::optional<PoolPosterior> Model;
  std::vector<size_t> Modelled;     // observations, as added to the model
  Eigen::VectorXf Near, Failures;   // observations near each of the pool
  size_t ModelAt = 0, FittedAt = 0; // observations
  size_t Turn = 0;
};

std::optional<Point> Bayesian::propose() {
  std::optional<Point> Next;
  if (Observations.size() >= FirstDraws && workingValues().size() >= LeastKnown)
    Next = bestCandidate();
  if (!Next) {
    Next = Known.drawNew(Space, Dice);
    if (Next)
      note(*Next, NAN);
  }
  return Next;
}

void Bayesian::tell(const Point &P, std::optional<double> Cost) {
  auto Found = IndexOf.find(P);
  const size_t Which = Found == IndexOf.end() ? note(P, NAN) : Found->second;
  Observation &O = Observations[Which];
  O.Is = Cost ? State::Works : State::Failed;
  O.Value = Cost ? std::log(*Cost) : NAN;
  if (Model && !Cost)
    Failures += nearness(Model->correlationWith(O.X));
}

Features Bayesian::describe(const Point &P) const {
  Eigen::VectorXf Dense(FeatureCount);
  Space.features(P, Dense.data());
  return Dense.sparseView();
}

/// A new observation that nothing is known of yet.
size_t Bayesian::note(const Point &P, double Belief) {
  Observation O;
  O.At = P;
  O.X = describe(P);
  O.Value = Belief;
  const size_t Which = Observations.size();
  Observations.push_back(std::move(O));
  IndexOf.emplace(P, Which);
  Known.add(P);
  if (auto At = PoolIndex.find(P); At != PoolIndex.end())
    Taken[At->second] = 1;
  if (Model && !Model->isFull())
    condition({Which});
  return Which;
}

FeatureMatrix Bayesian::columnsOf(const std::vector<size_t> &Which) const {
  return columns(FeatureCount, Which.size(), [&](size_t I) -> const Features & {
    return Observations[Which[I]].X;
  });
}

void Bayesian::condition(const std::vector<size_t> &Which) {
  const Eigen::MatrixXf Close = nearness(Model->add(columnsOf(Which)));
  Near += Close.rowwise().sum();
  for (size_t I = 0; I < Which.size(); ++I)
    if (Observations[Which[I]].Is == State::Failed)
      Failures += Close.col(Eigen::Index(I));
  Modelled.insert(Modelled.end(), Which.begin(), Which.end());
}

std::vector<double> Bayesian::workingValues() const {
  std::vector<double> Values;
  for (const Observation &O : Observations)
    if (O.Is == State::Works)
      Values.push_back(O.Value);
  return Values;
}

/// What works, the best first.
std::vector<size_t> Bayesian::byValue() const {
  std::vector<size_t> Order;
  for (size_t I = 0; I < Observations.size(); ++I)
    if (Observations[I].Is == State::Works)
      Order.push_back(I);
  std::stable_sort(Order.begin(), Order.end(), [&](size_t A, size_t B) {
    return Observations[A].Value < Observations[B].Value;
  });
  return Order;
}

/// At most so many observations: all, or the best third, the latest third and
/// some of the others.
std::vector<size_t> Bayesian::choose(size_t AtMost) {
  const size_t Count = Observations.size();
  std::vector<size_t> Others;
  std::vector<char> Chosen(Count, 0);
  size_t Left = AtMost;
  if (Count > AtMost) {
    for (size_t I : byValue()) {
      if (Left <= AtMost - AtMost / 3)
        break;
      Chosen[I] = 1;
      --Left;
    }
    for (size_t I = Count; I-- > Count - AtMost / 3;)
      if (!Chosen[I]) {
        Chosen[I] = 1;
        --Left;
      }
  }
  for (size_t I = 0; I < Count; ++I)
    if (!Chosen[I])
      Others.push_back(I);
  Dice.shuffle(Others);
  for (size_t I = 0; I < std::min(Left, Others.size()); ++I)
    Chosen[Others[I]] = 1;
  std::vector<size_t> Result;
  for (size_t I = 0; I < Count; ++I)
    if (Chosen[I])
      Result.push_back(I);
  return Result;
}

bool Bayesian::needsModel() const {
  const size_t Count = Observations.size();
  return !Model || Model->isFull() ||
         Count >= ModelAt + std::min(ModelAt / 10 + 1, MostBetweenModels);
}

void Bayesian::renewModel() {
  const size_t Count = Observations.size();
  if (Count <= MostFitted || Count >= FittedAt + FittedAt / 4) {
    std::vector<size_t> Which = choose(MostFitted);
    std::erase_if(Which,
                  [&](size_t I) { return Observations[I].Is != State::Works; });
    if (Which.size() >= LeastKnown) {
      std::vector<double> Values;
      for (size_t I : Which)
        Values.push_back(Observations[I].Value);
      const Standard Scale(Values);
      Eigen::VectorXd Y(Eigen::Index(Values.size()));
      for (size_t I = 0; I < Values.size(); ++I)
        Y[Eigen::Index(I)] = Scale(Values[I]);
      Parameters = fitParameters(Parameters, columnsOf(Which), Y);
    }
    FittedAt = Count;
  }
  renewPool();
  condition(choose(MostModelled));
  ModelAt = Count;
}

void Bayesian::renewPool() {
  if (!Listed || Observations.size() > MostModelled) {
    drawPool();
  } else if (Pool.size() != Listed->size()) {
    Pool.clear();
    PoolIndex.clear();
    for (const Point &P : *Listed) {
      PoolIndex.emplace(P, Pool.size());
      Pool.push_back({P, describe(P)});
    }
  }
  const auto Size = Eigen::Index(Pool.size());
  const FeatureMatrix X =
      columns(FeatureCount, Pool.size(),
              [&](size_t I) -> const Features & { return Pool[I].X; });
  Taken.clear();
  for (const Candidate &C : Pool)
    Taken.push_back(Known.has(C.At));
  Model.emplace(Parameters, X,
                Eigen::Index(MostModelled + 2 * MostBetweenModels));
  Modelled.clear();
  Near = Failures = Eigen::VectorXf::Zero(Size);
}

/// Some new candidates take the place of what was proposed and of the oldest:
/// around the best, between the good, and anywhere. Drawing them takes longer
/// than all predictions.
void Bayesian::drawPool() {
  constexpr size_t Best = 10, Good = 30;
  std::erase_if(Pool, [&](const Candidate &C) { return Known.has(C.At); });
  const size_t New =
      std::clamp(DrawnEach * (Observations.size() - ModelAt),
                 DrawnPool - std::min(DrawnPool, Pool.size()), DrawnPool);
  if (const size_t Count = Pool.size() + New; Count > DrawnPool)
    Pool.erase(Pool.begin(), Pool.begin() + int64_t(Count - DrawnPool));
  PoolIndex.clear();
  for (size_t I = 0; I < Pool.size(); ++I)
    PoolIndex.emplace(Pool[I].At, I);
  auto add = [&](std::optional<Point> P) {
    if (P && !Known.has(*P) && PoolIndex.emplace(*P, Pool.size()).second)
      Pool.push_back({*P, describe(*P)});
  };
  const std::vector<size_t> Order = byValue();
  auto among = [&](size_t First) -> const Point & {
    return Observations[Order[Dice.below(std::min(First, Order.size()))]].At;
  };
  for (size_t I = 0; I < New / 3; ++I) {
    add(Space.step(among(Best), Dice));
    add(Space.cross(among(Best), among(Good), Dice));
    add(Space.draw(Dice));
  }
}

std::optional<Point> Bayesian::bestCandidate() {
  if (needsModel())
    renewModel();
  const std::vector<double> Working = workingValues();
  const Standard Scale(Working);
  Eigen::VectorXf Y(Eigen::Index(Modelled.size())), Mean, Deviation;
  for (size_t I = 0; I < Modelled.size(); ++I) {
    const Observation &O = Observations[Modelled[I]];
    Y[Eigen::Index(I)] = float(O.Is == State::Failed ? Worst : Scale(O.Value));
  }
  Model->predict(Y, Mean, Deviation);

  const double Least = Scale(*std::min_element(Working.begin(), Working.end()));
  const bool Bound = ++Turn % BoundEvery == 0;
  std::optional<size_t> Chosen;
  double Most = -1;
  for (Eigen::Index I = 0; I < Mean.size(); ++I) {
    if (Taken[size_t(I)])
      continue;
    const double Works =
        (Near[I] - Failures[I] + WorksPrior) / (Near[I] + WorksPrior);
    const double Merit =
        Works * (Bound ? std::exp(BoundWidth * Deviation[I] - Mean[I])
                       : expectedImprovement(Least, Mean[I], Deviation[I]));
    if (Merit > Most) {
      Most = Merit;
      Chosen = size_t(I);
    }
  }
  if (!Chosen)
    return std::nullopt;
  const Point Next = Pool[*Chosen].At;
  const auto At = Eigen::Index(*Chosen);
  note(Next, Scale.back(Mean[At] + Deviation[At]));
  return Next;
}

} // namespace

std::unique_ptr<Optimizer> makeBayesian(const SearchSpace &Space,
                                        uint64_t Seed) {
  return std::make_unique<Bayesian>(Space, Seed);
}

} // namespace r3
