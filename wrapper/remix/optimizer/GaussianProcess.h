// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gaussian process regression (Rasmussen and Williams 2006) with a Matern 3/2
// kernel and one length scale for each feature, for some hundred observations
// and a fixed pool of candidates. Predictions are made by a sum of three
// kernels (section 5.4.3 there): with the fitted length scales, with those that
// are believed beforehand, and a linear one (section 4.2.2). What is known of
// the pool grows by one column an observation, so that a prediction for all
// candidates costs no more than the product of both numbers (as in Willemsen,
// van Nieuwpoort and van Werkhoven 2021, "Bayesian optimization for auto-tuning
// GPU kernels").
#pragma once

#include <Eigen/SparseCore>

namespace r3 {

/// One feature vector a column: of the features of a large space most are zero.
using FeatureMatrix = Eigen::SparseMatrix<float>;

/// What is learnt of a space from the observations as a whole.
struct KernelParameters {
  Eigen::VectorXd LogScales; // of each feature's length scale
  double LogNoise = 0;       // variance of noise over that of the signal

  static KernelParameters initial(Eigen::Index Features);
};

/// Climbs from Start towards the maximum of the posterior density of the
/// parameters (marginal likelihood times priors; length scales grow with the
/// root of the number of features, after Hvarfner, Hellsten and Nardi 2024,
/// "Vanilla Bayesian optimization performs great in high dimensions"). X: one
/// observation a column; Y: standardised.
KernelParameters fitParameters(const KernelParameters &Start,
                               const FeatureMatrix &X,
                               const Eigen::VectorXd &Y);

/// Predictions for a pool of candidates, from observations that arrive one by
/// one.
class PoolPosterior {
public:
  /// At most Capacity observations can be added.
  PoolPosterior(const KernelParameters &P, const FeatureMatrix &Pool,
                Eigen::Index Capacity);

  /// Adds where something is, or will be, observed, one column each; together
  /// they cost less than one by one. The correlation of each candidate (row)
  /// with each of X (column).
  Eigen::MatrixXf add(const FeatureMatrix &X);
  Eigen::Index size() const { return Count; }
  bool isFull() const { return Count == Capacity; }

  /// Y: standardised values in the order of add(); what is not known yet may
  /// hold any belief. Writes mean and standard deviation (without noise, in
  /// units of Y) for each candidate.
  void predict(const Eigen::VectorXf &Y, Eigen::VectorXf &Mean,
               Eigen::VectorXf &Deviation) const;
  /// Of each candidate with X, -1..1.
  Eigen::VectorXf correlationWith(const FeatureMatrix &X) const;

private:
  /// Columns in units of the length scales, by features: two columns have few
  /// in common.
  struct Scaled {
    Scaled(const Eigen::VectorXf &Inverse, const FeatureMatrix &X);
    Eigen::SparseMatrix<float, Eigen::RowMajor> X;
    Eigen::VectorXf SquaredNorms;
  };
  /// By the fitted scales, and by those that are believed beforehand.
  struct BothScaled {
    Scaled Fitted, Prior;
  };
  BothScaled scaled(const FeatureMatrix &X) const;
  Eigen::MatrixXf correlation(const BothScaled &A,
                              const FeatureMatrix &X) const;

  Eigen::VectorXf Inverse, PriorInverse; // of each feature's length scale
  Eigen::VectorXf
      PriorCentre; // the pool's mean, in units of the prior's scales
  float Noise;
  BothScaled Pool;
  FeatureMatrix Observed;
  Eigen::Index Capacity, Count = 0;
  Eigen::MatrixXf Factor;    // lower Cholesky factor of the observations
  Eigen::MatrixXf Projected; // its inverse times correlations, pool x count
  Eigen::VectorXf Explained; // of each candidate's variance
};

} // namespace r3
