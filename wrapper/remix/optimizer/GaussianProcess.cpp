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
/// Of the variance, what keeps the prior's length scales. Fitted ones alone
/// grow too sure of themselves: a choice that made no difference so far is
/// believed never to make one, and is not tried with what is good.
constexpr float PriorShare = 0.2f;
/// And what is linear in the features. Choices often do the same wherever they
/// are made (a switch saves a tenth of the time), but kernels of distances
/// know nothing of points far away from all observations.
constexpr float LinearShare = 0.3f;

double meanLogScale(Eigen::Index Features) {
  return ScaleMean +
         0.5 * std::log(double(std::max<Eigen::Index>(Features, 1)));
}

/// Matern 3/2, of squared distances.
Eigen::ArrayXf matern(const Eigen::ArrayXf &Squared) {
  const Eigen::ArrayXf R = float(Root3) * Squared.max(0.0f).sqrt();
  return (1 + R) * (-R).exp();
}

/// The length of a vector less a centre, from the products of both with
/// themselves and each other.
float centredLength(float SquaredNorm, float OfCentre, float CentreNorm) {
  constexpr float Least = 1e-6f;
  return std::sqrt(std::max(SquaredNorm - 2 * OfCentre + CentreNorm, Least));
}

using RowMatrix = Eigen::SparseMatrix<float, Eigen::RowMajor>;

Eigen::VectorXf squaredNorms(const RowMatrix &X) {
  Eigen::VectorXf Norms = Eigen::VectorXf::Zero(X.cols());
  for (Eigen::Index Row = 0; Row < X.rows(); ++Row)
    for (RowMatrix::InnerIterator At(X, Row); At; ++At)
      Norms[At.col()] += At.value() * At.value();
  return Norms;
}

/// The features that are not zero everywhere, by number.
std::vector<Eigen::Index> usedFeatures(const FeatureMatrix &X) {
  std::vector<char> IsUsed(size_t(X.rows()), 0);
  for (Eigen::Index Column = 0; Column < X.cols(); ++Column)
    for (FeatureMatrix::InnerIterator At(X, Column); At; ++At)
      IsUsed[size_t(At.row())] = 1;
  std::vector<Eigen::Index> Used;
  for (Eigen::Index F = 0; F < X.rows(); ++F)
    if (IsUsed[size_t(F)])
      Used.push_back(F);
  return Used;
}

/// The negative logarithm of the posterior density, up to a constant, and its
/// gradient (scales first, noise last). Of a feature that no observation has
/// there is only the prior.
class Density {
public:
  Density(const FeatureMatrix &Given, const Eigen::VectorXd &Y)
      : Features(Given.rows()), Used(usedFeatures(Given)),
        X(Eigen::MatrixXf(Given)(Used, Eigen::all).cast<double>()),
        Sparse(X.sparseView()), Y(Y), Count(X.cols()) {}

  double operator()(const KernelParameters &P, Eigen::VectorXd &Gradient) {
    const Eigen::VectorXd Weights = (-2 * P.LogScales(Used)).array().exp();
    // Squared distances by the products of columns.
    Eigen::ArrayXXd R =
        -2 * Eigen::MatrixXd(Sparse.transpose() * (Weights.asDiagonal() * X));
    const Eigen::ArrayXd Norms = -0.5 * R.matrix().diagonal();
    R.colwise() += Norms;
    R.rowwise() += Norms.transpose();
    R = Root3 * R.max(0).sqrt();
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
    // The sum over pairs of Slope times a feature's squared difference.
    const Eigen::MatrixXd Sloped = Sparse * Slope.matrix();
    const Eigen::VectorXd Sums = Slope.rowwise().sum();
    Gradient(Used) = Weights.array() * (X.array().square().matrix() * Sums -
                                        X.cwiseProduct(Sloped).rowwise().sum())
                                           .array();
    for (Eigen::Index F = 0; F < Features; ++F)
      addPrior(F, P.LogScales[F], meanLogScale(Features), ScaleDeviation);
    Gradient[Features] = 0.5 * Noise * Weight.matrix().trace();
    addPrior(Features, P.LogNoise, NoiseMean, NoiseDeviation);
    return Value;
  }

private:
  const Eigen::Index Features;
  const std::vector<Eigen::Index> Used;
  const Eigen::MatrixXd X;                  // of the used features
  const Eigen::SparseMatrix<double> Sparse; // X
  const Eigen::VectorXd &Y;
  const Eigen::Index Count;
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

PoolPosterior::Scaled::Scaled(const Eigen::VectorXf &Inverse,
                              const FeatureMatrix &Unscaled)
    : X(Inverse.asDiagonal() * Unscaled), SquaredNorms(squaredNorms(X)) {}

PoolPosterior::PoolPosterior(const KernelParameters &P,
                             const FeatureMatrix &Candidates,
                             Eigen::Index Capacity)
    : Inverse((-P.LogScales).array().exp().cast<float>()),
      PriorInverse(Eigen::VectorXf::Constant(
          Candidates.rows(),
          float(std::exp(-meanLogScale(Candidates.rows()))))),
      PriorCentre(PriorInverse.cwiseProduct(
          Candidates * Eigen::VectorXf::Constant(
                           Candidates.cols(), 1 / float(Candidates.cols())))),
      Noise(float(std::exp(P.LogNoise))), Pool(scaled(Candidates)),
      Observed(Candidates.rows(), 0), Capacity(Capacity),
      Factor(Eigen::MatrixXf::Zero(Capacity, Capacity)),
      Projected(Candidates.cols(), Capacity),
      Explained(Eigen::VectorXf::Zero(Candidates.cols())) {}

PoolPosterior::BothScaled PoolPosterior::scaled(const FeatureMatrix &X) const {
  return {Scaled(Inverse, X), Scaled(PriorInverse, X)};
}

Eigen::MatrixXf PoolPosterior::correlation(const BothScaled &A,
                                           const FeatureMatrix &X) const {
  const Eigen::Index Rows = A.Fitted.X.cols();
  // A column at a time, which stays in the cache.
  Eigen::ArrayXf Products(Rows);
  float Norm = 0; // of the column, squared
  auto multiply = [&](const Scaled &Of, const Eigen::VectorXf &InverseScales,
                      Eigen::Index Number) {
    Products.setZero();
    Norm = 0;
    for (FeatureMatrix::InnerIterator B(X, Number); B; ++B) {
      const float Value = InverseScales[B.row()] * B.value();
      Norm += Value * Value;
      for (RowMatrix::InnerIterator At(Of.X, B.row()); At; ++At)
        Products[At.col()] += At.value() * Value;
    }
  };
  auto alike = [&](const Scaled &Of) {
    return matern(Of.SquaredNorms.array() + Norm - 2 * Products);
  };
  // The linear kernel of columns less the centre, divided by their lengths,
  // which would otherwise be its deviations.
  const float CentreNorm = PriorCentre.squaredNorm();
  const Eigen::ArrayXf OfCentre = A.Prior.X.transpose() * PriorCentre;
  Eigen::ArrayXf Lengths(Rows);
  for (Eigen::Index I = 0; I < Rows; ++I)
    Lengths[I] =
        centredLength(A.Prior.SquaredNorms[I], OfCentre[I], CentreNorm);
  const Eigen::VectorXf ScaledCentre = PriorInverse.cwiseProduct(PriorCentre);
  auto linear = [&](Eigen::Index Number) -> Eigen::ArrayXf {
    const float ColumnOfCentre = X.col(Number).dot(ScaledCentre);
    const float Length = centredLength(Norm, ColumnOfCentre, CentreNorm);
    return (Products - OfCentre - ColumnOfCentre + CentreNorm) /
           (Length * Lengths);
  };
  Eigen::MatrixXf Result(Rows, X.cols());
  for (Eigen::Index I = 0; I < X.cols(); ++I) {
    multiply(A.Fitted, Inverse, I);
    Result.col(I) = (1 - PriorShare - LinearShare) * alike(A.Fitted);
    multiply(A.Prior, PriorInverse, I);
    Result.col(I) +=
        (PriorShare * alike(A.Prior) + LinearShare * linear(I)).matrix();
  }
  return Result;
}

Eigen::MatrixXf PoolPosterior::add(const FeatureMatrix &X) {
  const Eigen::Index Before = Count, New = X.cols();
  Observed.conservativeResize(Observed.rows(), Before + New);
  Observed.middleCols(Before, New) = X;
  // More rows of the Cholesky factor.
  const Eigen::MatrixXf Close = correlation(scaled(Observed), X);
  for (; Count < Before + New; ++Count) {
    Eigen::VectorXf Row = Close.col(Count - Before).head(Count);
    Factor.topLeftCorner(Count, Count)
        .triangularView<Eigen::Lower>()
        .solveInPlace(Row);
    const float Rest = 1 + Noise - Row.squaredNorm();
    Factor.row(Count).head(Count) = Row.transpose();
    Factor(Count, Count) =
        std::sqrt(std::max(Rest, std::max(Noise, 1e-6f) * 0.1f));
  }
  // And what they tell of the pool.
  Eigen::MatrixXf OfPool = correlation(Pool, X);
  auto Told = Projected.middleCols(Before, New);
  Told = OfPool;
  if (Before)
    Told.noalias() -= Projected.leftCols(Before) *
                      Factor.block(Before, 0, New, Before).transpose();
  Factor.block(Before, Before, New, New)
      .transpose()
      .triangularView<Eigen::Upper>()
      .solveInPlace<Eigen::OnTheRight>(Told);
  Explained += Told.rowwise().squaredNorm();
  return OfPool;
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
  return correlation(Pool, X);
}

} // namespace r3
