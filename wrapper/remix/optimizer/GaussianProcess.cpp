// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gaussian process regression over a pool of candidates.
#include "wrapper/remix/optimizer/GaussianProcess.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <vector>

namespace r3 {

namespace {

constexpr double Root3 = 1.7320508075688772;
// Priors, normal in the logarithm.
constexpr double ScaleMean = -1.2, ScaleDeviation = 1.2;
constexpr double NoiseMean = -4, NoiseDeviation = 1.5;
constexpr double LeastNoise = -12, MostNoise = 0;

double meanLogScale(Eigen::Index Features) {
  return ScaleMean +
         0.5 * std::log(double(std::max<Eigen::Index>(Features, 1)));
}

/// Matern 3/2 between columns that are in units of the length scales.
Eigen::MatrixXf correlation(const FeatureMatrix &A, const FeatureMatrix &B) {
  Eigen::MatrixXf R = -2 * A.transpose() * B;
  R.colwise() += A.colwise().squaredNorm().transpose();
  R.rowwise() += B.colwise().squaredNorm();
  R = float(Root3) * R.array().max(0.0f).sqrt().matrix();
  return ((1 + R.array()) * (-R.array()).exp()).matrix();
}

/// The negative logarithm of the posterior density, up to a constant, and its
/// gradient (scales first, noise last).
class Density {
public:
  Density(const FeatureMatrix &X, const Eigen::VectorXd &Y)
      : Y(Y), Count(X.cols()) {
    for (Eigen::Index F = 0; F < X.rows(); ++F) {
      Eigen::VectorXd Row = X.row(F).cast<double>().transpose();
      if ((Row.array() == Row[0]).all()) {
        Squares.emplace_back();
        continue;
      }
      Varying.push_back(F);
      Squares.push_back(
          (Row.replicate(1, Count) - Row.transpose().replicate(Count, 1))
              .array()
              .square());
    }
  }

  double operator()(const KernelParameters &P, Eigen::VectorXd &Gradient) {
    const auto Features = Eigen::Index(Squares.size());
    Eigen::ArrayXXd R = Eigen::ArrayXXd::Zero(Count, Count);
    for (Eigen::Index F : Varying)
      R += Squares[size_t(F)] * std::exp(-2 * P.LogScales[F]);
    R = Root3 * R.sqrt();
    const Eigen::ArrayXXd Decay = (-R).exp();
    Eigen::MatrixXd A = ((1 + R) * Decay).matrix();
    const double Noise = std::exp(P.LogNoise);
    A.diagonal().array() += Noise;
    const Eigen::LLT<Eigen::MatrixXd> Solver(A);
    const Eigen::MatrixXd Inverse =
        Solver.solve(Eigen::MatrixXd::Identity(Count, Count));
    const Eigen::VectorXd Alpha = Inverse * Y;
    const auto N = double(Count);
    // The signal's variance at its most likely, with a prior that weighs as
    // much as one observation.
    const double Variance = (Y.dot(Alpha) + 1) / (N + 1);
    double Value =
        0.5 * (N + 1) * std::log(Variance) +
        Eigen::MatrixXd(Solver.matrixL()).diagonal().array().log().sum();

    const Eigen::ArrayXXd Weight =
        Inverse.array() - (Alpha * Alpha.transpose()).array() / Variance;
    const Eigen::ArrayXXd Slope = Weight * 3 * Decay;
    Gradient = Eigen::VectorXd::Zero(Features + 1);
    auto addPrior = [&](Eigen::Index K, double At, double Mean, double Spread) {
      const double Off = (At - Mean) / Spread;
      Value += 0.5 * Off * Off;
      Gradient[K] += Off / Spread;
    };
    for (Eigen::Index F : Varying)
      Gradient[F] = 0.5 * (Slope * Squares[size_t(F)]).sum() *
                    std::exp(-2 * P.LogScales[F]);
    for (Eigen::Index F = 0; F < Features; ++F)
      addPrior(F, P.LogScales[F], meanLogScale(Features), ScaleDeviation);
    Gradient[Features] = 0.5 * Noise * Weight.matrix().trace();
    addPrior(Features, P.LogNoise, NoiseMean, NoiseDeviation);
    return Value;
  }

private:
  const Eigen::VectorXd &Y;
  Eigen::Index Count;
  /// Differences by feature; empty where the observations are all the same.
  std::vector<Eigen::ArrayXXd> Squares;
  std::vector<Eigen::Index> Varying; // the other features
};

} // namespace

KernelParameters KernelParameters::initial(Eigen::Index Features) {
  KernelParameters P;
  P.LogScales = Eigen::VectorXd::Constant(Features, meanLogScale(Features));
  P.LogNoise = NoiseMean;
  return P;
}

KernelParameters fitParameters(const KernelParameters &Start,
                               const FeatureMatrix &X,
                               const Eigen::VectorXd &Y) {
  // iRprop- of Igel and Huesken 2000, "Improving the Rprop learning algorithm".
  constexpr unsigned Steps = 15;
  constexpr double Grow = 1.2, Shrink = 0.5, First = 0.2, Most = 0.6;
  Density Negative(X, Y);
  KernelParameters P = Start, Best = Start;
  const Eigen::Index Features = X.rows();
  Eigen::VectorXd Gradient, Before = Eigen::VectorXd::Zero(Features + 1);
  Eigen::VectorXd Step = Eigen::VectorXd::Constant(Features + 1, First);
  double Least = INFINITY;
  for (unsigned I = 0; I < Steps; ++I) {
    const double Value = Negative(P, Gradient);
    if (!std::isfinite(Value))
      break;
    if (Value < Least) {
      Least = Value;
      Best = P;
    }
    for (Eigen::Index K = 0; K <= Features; ++K) {
      const double Agreement = Gradient[K] * Before[K];
      if (Agreement > 0) {
        Step[K] = std::min(Step[K] * Grow, Most);
      } else if (Agreement < 0) {
        Step[K] *= Shrink;
        Gradient[K] = 0;
      }
      const double Move = Gradient[K] > 0   ? -Step[K]
                          : Gradient[K] < 0 ? Step[K]
                                            : 0;
      double &At = K < Features ? P.LogScales[K] : P.LogNoise;
      At += Move;
    }
    P.LogNoise = std::clamp(P.LogNoise, LeastNoise, MostNoise);
    Before = Gradient;
  }
  return Best;
}

PoolPosterior::PoolPosterior(const KernelParameters &P,
                             const FeatureMatrix &Candidates,
                             Eigen::Index Capacity)
    : Inverse((-P.LogScales).array().exp().cast<float>()),
      Noise(float(std::exp(P.LogNoise))),
      Pool(Inverse.asDiagonal() * Candidates), Observed(Pool.rows(), Capacity),
      Factor(Eigen::MatrixXf::Zero(Capacity, Capacity)),
      Projected(Pool.cols(), Capacity),
      Explained(Eigen::VectorXf::Zero(Pool.cols())) {}

void PoolPosterior::add(const FeatureMatrix &Given) {
  // One more row of the Cholesky factor, and what it tells of the pool.
  const FeatureMatrix X = Inverse.asDiagonal() * Given;
  Eigen::VectorXf Row = correlation(Observed.leftCols(Count), X);
  Factor.topLeftCorner(Count, Count)
      .triangularView<Eigen::Lower>()
      .solveInPlace(Row);
  const float Rest = 1 + Noise - Row.squaredNorm();
  const float Pivot = std::sqrt(std::max(Rest, std::max(Noise, 1e-6f) * 0.1f));
  Factor.row(Count).head(Count) = Row.transpose();
  Factor(Count, Count) = Pivot;
  Projected.col(Count) =
      (correlation(Pool, X) - Projected.leftCols(Count) * Row) / Pivot;
  Explained.array() += Projected.col(Count).array().square();
  Observed.col(Count) = X;
  ++Count;
}

void PoolPosterior::predict(const Eigen::VectorXf &Y, Eigen::VectorXf &Mean,
                            Eigen::VectorXf &Deviation) const {
  Eigen::VectorXf Weights = Y;
  Factor.topLeftCorner(Count, Count)
      .triangularView<Eigen::Lower>()
      .solveInPlace(Weights);
  Mean.noalias() = Projected.leftCols(Count) * Weights;
  const float Variance = (Weights.squaredNorm() + 1) / float(Count + 1);
  Deviation = (Variance * (1 - Explained.array()).max(1e-6f)).sqrt();
}

Eigen::VectorXf PoolPosterior::correlationWith(const FeatureMatrix &X) const {
  return correlation(Pool, Inverse.asDiagonal() * X);
}

} // namespace r3
