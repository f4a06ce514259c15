// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small kernels in several honest and dishonest forms, over Arithmetic.
#pragma once

#include "unittests/trust/RoundedArithmetic.h"

namespace r3::trust::testing {

enum class Inputs { Positive, Signed, FewDigits, WideRange };

template <typename T>
std::vector<T> makeInputs(Inputs Kind, size_t Count, uint64_t Seed) {
  Random Source(Seed);
  std::vector<T> Result(Count);
  for (T &Value : Result) {
    const T Part = T(double(Source() >> 11) * 0x1p-53);
    switch (Kind) {
    case Inputs::Positive:
      Value = T(0.1) + Part;
      break;
    case Inputs::Signed:
      Value = 2 * Part - 1;
      break;
    case Inputs::FewDigits:
      Value = T(std::round(Part * 256) + 1) / 64;
      break;
    case Inputs::WideRange:
      Value = std::ldexp(T(0.5) + Part, int(Source() % 24) - 12);
      break;
    }
  }
  return Result;
}

/// Out[i] = sum over j < Terms of A[i * Terms + j] * B[j], in several orders.
template <typename T> struct Products {
  std::vector<T> A, B;
  size_t Terms;

  Products(Inputs Kind, size_t Elements, size_t Terms, uint64_t Seed)
      : A(makeInputs<T>(Kind, Elements * Terms, Seed)),
        B(makeInputs<T>(Kind, Terms, Seed + 1)), Terms(Terms) {}

  size_t size() const { return A.size() / Terms; }

  template <typename Function> Kernel<T> forEach(Function Element) const {
    return [this, Element](Arithmetic<T> &M) {
      std::vector<T> Result(size());
      for (size_t I = 0; I < Result.size(); ++I)
        Result[I] = Element(M, A.data() + I * Terms, B.data());
      return Result;
    };
  }
  T product(Arithmetic<T> &M, const T *X, const T *Y, size_t J) const {
    return M.mul(X[J], Y[J]);
  }
  Kernel<T> sequential() const {
    return forEach([this](Arithmetic<T> &M, const T *X, const T *Y) {
      T Sum = 0;
      for (size_t J = 0; J < Terms; ++J)
        Sum = M.add(Sum, product(M, X, Y, J));
      return Sum;
    });
  }
  Kernel<T> backward() const {
    return forEach([this](Arithmetic<T> &M, const T *X, const T *Y) {
      T Sum = 0;
      for (size_t J = Terms; J-- > 0;)
        Sum = M.add(Sum, product(M, X, Y, J));
      return Sum;
    });
  }
  /// As a warp does it: Lanes partial sums, then a tree.
  Kernel<T> lanes(size_t Lanes) const {
    return forEach([this, Lanes](Arithmetic<T> &M, const T *X, const T *Y) {
      std::vector<T> Part(Lanes);
      for (size_t J = 0; J < Terms; ++J)
        Part[J % Lanes] = M.add(Part[J % Lanes], product(M, X, Y, J));
      for (size_t Step = Lanes / 2; Step; Step /= 2)
        for (size_t J = 0; J < Step; ++J)
          Part[J] = M.add(Part[J], Part[J + Step]);
      return Part[0];
    });
  }
  Kernel<T> contracted() const {
    return forEach([this](Arithmetic<T> &M, const T *X, const T *Y) {
      T Sum = 0;
      for (size_t J = 0; J < Terms; ++J)
        Sum = M.fma(X[J], Y[J], Sum);
      return Sum;
    });
  }
  Kernel<T> compensated() const {
    return forEach([this](Arithmetic<T> &M, const T *X, const T *Y) {
      T Sum = 0, Lost = 0;
      for (size_t J = 0; J < Terms; ++J) {
        const T Next = M.sub(product(M, X, Y, J), Lost);
        const T Total = M.add(Sum, Next);
        Lost = M.sub(M.sub(Total, Sum), Next);
        Sum = Total;
      }
      return Sum;
    });
  }
  /// Products go through 11 bits.
  Kernel<T> half() const {
    return forEach([this](Arithmetic<T> &M, const T *X, const T *Y) {
      T Sum = 0;
      for (size_t J = 0; J < Terms; ++J) {
        int Exponent = 0;
        const T Digits = std::frexp(product(M, X, Y, J), &Exponent);
        Sum = M.add(Sum,
                    std::ldexp(std::nearbyint(Digits * 2048) / 2048, Exponent));
      }
      return Sum;
    });
  }
  Kernel<T> lastTermLeftOut() const {
    return forEach([this](Arithmetic<T> &M, const T *X, const T *Y) {
      T Sum = 0;
      for (size_t J = 0; J + 1 < Terms; ++J)
        Sum = M.add(Sum, product(M, X, Y, J));
      return Sum;
    });
  }
  std::vector<double> inDouble() const {
    std::vector<double> Result(size());
    for (size_t I = 0; I < Result.size(); ++I)
      for (size_t J = 0; J < Terms; ++J)
        Result[I] += double(A[I * Terms + J]) * double(B[J]);
    return Result;
  }
};

/// Rows scaled by one common sum, as a softmax does: one rounding moves all.
template <typename T> struct Normalise {
  std::vector<T> X;

  Normalise(Inputs Kind, size_t Elements, uint64_t Seed)
      : X(makeInputs<T>(Kind, Elements, Seed)) {}

  T sum(Arithmetic<T> &M, size_t Lanes) const {
    std::vector<T> Part(Lanes);
    for (size_t J = 0; J < 64; ++J)
      Part[J % Lanes] = M.add(Part[J % Lanes], X[J]);
    for (size_t J = 1; J < Lanes; ++J)
      Part[0] = M.add(Part[0], Part[J]);
    return Part[0];
  }
  Kernel<T> dividing(size_t Lanes) const {
    return [this, Lanes](Arithmetic<T> &M) {
      std::vector<T> Result(X.size());
      const T Sum = sum(M, Lanes);
      for (size_t I = 0; I < X.size(); ++I)
        Result[I] = M.div(X[I], Sum);
      return Result;
    };
  }
  Kernel<T> byReciprocal(size_t Lanes) const {
    return [this, Lanes](Arithmetic<T> &M) {
      std::vector<T> Result(X.size());
      const T Factor = M.div(1, sum(M, Lanes));
      for (size_t I = 0; I < X.size(); ++I)
        Result[I] = M.mul(X[I], Factor);
      return Result;
    };
  }
};

/// Steps of a three-point average with a source term: neighbours share errors.
template <typename T> struct Smoothing {
  std::vector<T> U, F;
  size_t Steps;

  Smoothing(Inputs Kind, size_t Elements, size_t Steps, uint64_t Seed)
      : U(makeInputs<T>(Kind, Elements, Seed)),
        F(makeInputs<T>(Kind, Elements, Seed + 1)), Steps(Steps) {}

  template <typename Function> Kernel<T> steps(Function Point) const {
    return [this, Point](Arithmetic<T> &M) {
      std::vector<T> Old = U, New = U;
      for (size_t S = 0; S < Steps; ++S) {
        for (size_t I = 1; I + 1 < Old.size(); ++I)
          New[I] = Point(M, Old[I - 1], Old[I], Old[I + 1], F[I]);
        std::swap(Old, New);
      }
      return Old;
    };
  }
  Kernel<T> plain() const {
    return steps([](Arithmetic<T> &M, T L, T C, T R, T S) {
      const T Sum = M.add(M.mul(T(0.3), M.add(L, R)), M.mul(T(0.4), C));
      return M.add(Sum, M.mul(T(0.01), S));
    });
  }
  Kernel<T> contracted() const {
    return steps([](Arithmetic<T> &M, T L, T C, T R, T S) {
      return M.fma(T(0.01), S,
                   M.fma(T(0.3), R, M.fma(T(0.3), L, M.mul(T(0.4), C))));
    });
  }
};

} // namespace r3::trust::testing
