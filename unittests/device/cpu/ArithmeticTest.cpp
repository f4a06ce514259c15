// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic of kernels (Arithmetic.cu) against the host's libm, against
// definitions in long double, and bit for bit for integers and rounding.
#include "unittests/device/cpu/Harness.h"

#include <bit>
#include <cfenv>
#include <cmath>
#include <functional>
#include <limits>

namespace r3::cpu {

class ArithmeticTest : public CpuTest {
protected:
  ArithmeticTest() { File = "Arithmetic"; }

  std::vector<double> apply(const std::string &Name,
                            const std::vector<double> &In) {
    Buffer<double> A(In), Out(In.size());
    mustRun("unary_" + Name, shape({4, 1, 1}, {64, 1, 1}),
            arguments(A.data(), Out.data(), int(In.size())));
    return std::vector<double>(Out.data(), Out.data() + Out.size());
  }

  /// Kernel Name against Expected, within Ulps of double or float.
  void compare(const std::string &Name,
               const std::function<long double(double)> &Expected, double Ulps,
               bool IsFloat, const std::vector<double> &In) {
    std::vector<double> Out = apply(Name, In);
    for (size_t I = 0; I < In.size(); ++I) {
      long double Want = Expected(In[I]);
      if (std::isnan(Want)) {
        EXPECT_TRUE(std::isnan(Out[I])) << Name << "(" << In[I] << ")";
        continue;
      }
      if (std::isinf(IsFloat ? float(Want) : double(Want))) {
        EXPECT_EQ(Out[I], IsFloat ? float(Want) : double(Want)) << Name;
        continue;
      }
      long double Ulp = std::max<long double>(
          std::fabs(Want) * (IsFloat ? 0x1p-23L : 0x1p-52L),
          IsFloat ? 0x1p-149L : 0x1p-1074L);
      EXPECT_LE(std::fabs(Out[I] - Want), Ulps * Ulp)
          << Name << "(" << In[I] << ") is " << Out[I] << ", not "
          << double(Want);
    }
  }
};

static std::vector<double> samples() {
  std::vector<double> Result = {0.0,   -0.0, 1,         -1,       0.5, -0.5,
                                1e-30, 1e30, -INFINITY, INFINITY, NAN};
  for (int I = 1; I < 80; ++I)
    Result.push_back(float((I % 2 ? 1 : -1) * 0.13 * I));
  for (int I = 1; I < 20; ++I)
    Result.push_back(float(I / 21.0));
  return Result;
}

TEST_F(ArithmeticTest, AgreesWithLibm) {
#define BOTH(Name)                                                             \
  compare(#Name, [](double X) { return Name(X); }, 0, false, samples());       \
  compare(                                                                     \
      #Name "f", [](double X) { return Name##f(float(X)); }, 0, true,          \
      samples());
#define BINARY(Name)                                                           \
  compare(                                                                     \
      #Name, [](double X) { return Name(X, std::fma(X, 0.37, 1.1)); }, 0,      \
      false, samples());                                                       \
  compare(                                                                     \
      #Name "f",                                                               \
      [](double X) {                                                           \
        return Name##f(float(X), float(std::fma(X, 0.37, 1.1)));               \
      },                                                                       \
      0, true, samples());
#include "unittests/device/cpu/Functions.def"
}

TEST_F(ArithmeticTest, HasFunctionsThatLibmLacks) {
  constexpr long double Pi = 3.14159265358979323846264338L;
  std::vector<double> In = samples();
  compare(
      "rsqrt", [](double X) { return 1 / std::sqrt((long double)X); }, 1, false,
      In);
  compare(
      "rcbrt", [](double X) { return 1 / std::cbrt((long double)X); }, 1, false,
      In);
  compare(
      "norm3d", [](double X) { return std::sqrt((long double)X * X + 13); }, 1,
      false, In);
  compare(
      "rnorm4d",
      [](double X) { return 1 / std::sqrt((long double)X * X + 14); }, 1, false,
      In);
  std::vector<double> Moderate;
  for (double X : In)
    if (std::fabs(X) < 20)
      Moderate.push_back(X);
  // Reduced exactly, so that the reference keeps its digits near zeros.
  auto Rest = [](double X) { return (long double)X - std::rint(X); };
  auto Sign = [](double X) { return std::fmod(std::rint(X), 2) ? -1 : 1; };
  auto SinePi = [&](double X) {
    return Rest(X) ? Sign(X) * std::sin(Pi * Rest(X)) : std::copysign(0.0L, X);
  };
  auto CosinePi = [&](double X) {
    return Sign(X) * std::sin(Pi * (0.5L - std::fabs(Rest(X))));
  };
  compare("sinpi", SinePi, 2, false, Moderate);
  compare("cospi", CosinePi, 2, false, Moderate);
  compare("sinpif", SinePi, 1, true, Moderate);
  compare(
      "normcdf",
      [](double X) { return 0.5L * std::erfc(-X / std::sqrt(2.0L)); }, 2, false,
      Moderate);
  compare(
      "erfcx",
      [](double X) {
        long double W = X;
        return std::exp(W * W) * std::erfc(W);
      },
      2, false, Moderate);
  auto Bessel = [](double Order, double X) {
    long double Value = std::cyl_bessel_il(Order, std::fabs((long double)X));
    return Order == 1 && X < 0 ? -Value : Value;
  };
  for (double &X : Moderate)
    X *= 3;
  compare("i0", [&](double X) { return Bessel(0, X); }, 2, false, Moderate);
  compare("i1", [&](double X) { return Bessel(1, X); }, 2, false, Moderate);
}

TEST_F(ArithmeticTest, InvertsErrorFunctions) {
  std::vector<double> In = {1e-300, 1e-20, 1e-5, 0.01, 0.1,      0.3,
                            0.4999, 0.5,   0.6,  0.9,  0.999999, 1 - 1e-15};
  std::vector<double> Inverse = apply("erfinv", In);
  std::vector<double> Complement = apply("erfcinv", In);
  std::vector<double> Normal = apply("normcdfinv", In);
  for (size_t I = 0; I < In.size(); ++I) {
    // How far the argument may be off for a result that is off by 4 ulp.
    auto Near = [](double Got, double Want, double X, double Slope) {
      double Allowed = std::fabs(4 * 0x1p-52 * X * Slope) + 2 * 0x1p-52 * Want;
      EXPECT_LE(std::fabs(Got - Want), Allowed) << Want;
    };
    auto Slope = [](double X) { return 1.1284 * std::exp(-X * X); };
    Near(std::erf(Inverse[I]), In[I], Inverse[I], Slope(Inverse[I]));
    Near(std::erfc(Complement[I]), In[I], Complement[I], Slope(Complement[I]));
    double X = -Normal[I] / std::sqrt(2.0);
    Near(std::erfc(X) / 2, In[I], X, Slope(X));
  }
  EXPECT_EQ(apply("erfinv", {1, -1, 0}),
            (std::vector<double>{INFINITY, -INFINITY, 0}));
  EXPECT_TRUE(std::isnan(apply("erfinv", {1.5})[0]));
}

TEST_F(ArithmeticTest, ComputesFastFunctionsExactly) {
  std::vector<double> In;
  for (int I = -40; I < 40; ++I)
    In.push_back(I / 8.0);
  compare("fastSine", [](double X) { return std::sin(X); }, 1, true, In);
  compare("fastExponential", [](double X) { return std::exp(X); }, 2, true, In);
  compare(
      "fastPower", [](double X) { return std::pow(std::fabs(X), 1.5); }, 8,
      true, In);
}

static uint32_t permute(uint32_t A, uint32_t B, uint32_t Selector) {
  uint32_t Result = 0;
  for (int I = 0; I < 4; ++I) {
    uint32_t S = Selector >> 4 * I & 15;
    uint8_t Byte = uint8_t((uint64_t(B) << 32 | A) >> 8 * (S & 7));
    if (S & 8)
      Byte = Byte >> 7 ? 0xff : 0;
    Result |= uint32_t(Byte) << 8 * I;
  }
  return Result;
}

TEST_F(ArithmeticTest, HasIntegerIntrinsics) {
  std::vector<int> X = {0,         1,         -1,        12345678,
                        -87654321, INT32_MIN, INT32_MAX, -0x7f0080ff};
  std::vector<int> Y = {3,          -7, 0x1234,    -1,
                        0x7fffffff, 2,  INT32_MIN, 0x0180fe7f};
  Buffer<int> A(X), B(Y);
  Buffer<uint32_t> Out(X.size() * 24);
  mustRun("integers", shape({1, 1, 1}, {32, 1, 1}),
          arguments(A.data(), B.data(), int(X.size()), Out.data()));
  for (size_t I = 0; I < X.size(); ++I) {
    uint32_t *O = &Out[I * 24];
    uint32_t UX = uint32_t(X[I]), UY = uint32_t(Y[I]);
    int64_t LX = X[I], LY = Y[I];
    uint32_t Reversed = 0;
    for (int Bit = 0; Bit < 32; ++Bit)
      Reversed |= (UX >> Bit & 1) << (31 - Bit);
    int32_t Dot = 9, Dot2 = 1;
    for (int K = 0; K < 32; K += 8)
      Dot += int8_t(UX >> K) * int8_t(UY >> K);
    for (int K = 0; K < 2; ++K)
      Dot2 += int16_t(UX >> 16 * K) * int8_t(UY >> 8 * K);
    uint32_t Want[24] = {
        uint32_t(std::countl_zero(UX)),
        uint32_t(std::popcount(UX)),
        Reversed,
        UX ? uint32_t(std::countr_zero(UX)) + 1 : 0,
        permute(UX, UY, 0x7250),
        permute(UX, UY, 0x9a3c),
        uint32_t(LX * LY >> 32),
        uint32_t(uint64_t(UX) * UY >> 32),
        uint32_t(3 + std::abs(LX - LY)),
        uint32_t(3 + std::abs(int64_t(UX) - int64_t(UY))),
        uint32_t(int64_t(int32_t(UX << 8) >> 8) * (int32_t(UY << 8) >> 8)),
        uint32_t(uint64_t(UX & 0xffffff) * (UY & 0xffffff)),
        uint32_t((LX + LY) >> 1),
        uint32_t((LX + LY + 1) >> 1),
        uint32_t(std::min(X[I], Y[I])),
        std::max(UX, UY),
        uint32_t(std::countl_zero(uint64_t(LX) << 20)),
        uint32_t((__int128(LX << 30) * (LY << 30)) >> 64),
        UX ? uint32_t(std::countr_zero(UX)) + 8 : 0,
        uint32_t(Dot),
        uint32_t((uint64_t(UY) << 32 | UX) >> 13),
        uint32_t(std::popcount(uint64_t(LX * LY))),
        X[I] < 0 ? 0 - UX : UX,
        uint32_t(Dot2)};
    for (int K = 0; K < 24; ++K)
      EXPECT_EQ(O[K], Want[K])
          << "operation " << K << " of " << X[I] << ", " << Y[I];
  }
}

/// The exact result is between Down and Up, which are neighbours or equal.
static void expectBetween(double Down, double Up, long double Exact,
                          bool IsFloat, int What) {
  EXPECT_LE(Down, Exact) << What;
  EXPECT_GE(Up, Exact) << What;
  if (Down == Up)
    return;
  double Next = IsFloat ? std::nextafter(float(Down), INFINITY)
                        : std::nextafter(Down, INFINITY);
  EXPECT_EQ(Up, Next) << What;
}

TEST_F(ArithmeticTest, RoundsAsAsked) {
  std::vector<double> X = {1.1, -3.7, 1e-3, 123456.789, 0.3333333333, -2.5};
  std::vector<double> Y = {7.3, 1.9, -1e3, 3.14159265, 1e7, 0.1};
  Buffer<double> A(X), B(Y), Out(X.size() * 24);
  mustRun("rounding", shape({1, 1, 1}, {32, 1, 1}),
          arguments(A.data(), B.data(), int(X.size()), Out.data()));
  for (size_t I = 0; I < X.size(); ++I) {
    double *O = &Out[I * 24];
    float F = float(X[I]), G = float(Y[I]);
    long double LX = X[I], LY = Y[I], LF = F, LG = G;
    EXPECT_EQ(O[0], float(F + G));
    expectBetween(O[2], O[3], LF + LG, true, 2);
    EXPECT_EQ(O[1], LF + LG > 0 ? O[2] : O[3]);
    expectBetween(O[5], O[6], LX * LY, false, 5);
    EXPECT_EQ(O[4], LX * LY > 0 ? O[5] : O[6]);
    EXPECT_LE(std::fabs(O[7]), std::fabs(LF / LG));
    EXPECT_NEAR(O[7], double(LF / LG), std::fabs(double(LF / LG)) * 0x1p-22);
    EXPECT_GE(O[8], std::sqrt(std::fabs(LF)));
    EXPECT_LE(O[9], LF * LG + LF);
    EXPECT_LE(std::fabs(O[10]), std::fabs(LX * LY + LX));
    EXPECT_GE(O[11], 1 / LX);
    EXPECT_LE(O[12], LF - LG);
    EXPECT_GE(O[13], LX - LY);
    EXPECT_LE(std::fabs(O[14]), std::fabs(X[I]));
    EXPECT_GE(O[15], X[I]);
    EXPECT_LE(O[16], double((long long)(X[I] * 1e9)));
    EXPECT_LE((long double)O[17],
              (long double)((unsigned long long)(std::fabs(X[I]) * 1e14)));
    EXPECT_EQ(O[18], float(1 / std::sqrt(double(std::fabs(F)))));
    EXPECT_EQ(O[19], F / G);
    EXPECT_EQ(O[20], F < 0 ? 0 : F > 1 ? 1 : F);
    EXPECT_EQ(O[21], std::min(F, G));
    EXPECT_EQ(O[22], std::max(X[I], Y[I]));
    EXPECT_NEAR(O[23], 1 / std::sqrt(std::fabs(F)), O[23] * 0x1p-22);
  }
}

TEST_F(ArithmeticTest, SaturatesConversions) {
  constexpr long long Min64 = std::numeric_limits<long long>::min();
  std::vector<double> X = {2.5, -1.5, 1e30, -1e30, NAN, -0.25};
  long long Want[6][12] = {
      {2, 2, 2, 3, 2, 2, 2, 2, 2, 2},
      {-2, -1, -2, 0, -2, 0, -2, 0, -1, 0},
      {INT32_MAX, INT32_MAX, INT32_MAX, UINT32_MAX, INT32_MAX, UINT32_MAX,
       INT64_MAX, -1, INT64_MAX, -1},
      {INT32_MIN, INT32_MIN, INT32_MIN, 0, INT32_MIN, 0, Min64, 0, Min64, 0},
      {0, 0, 0, 0, INT32_MIN, 1ll << 31, Min64, Min64, Min64, Min64},
      {0, 0, -1, 0, 0, 0, -1, 0, 0, 0},
  };
  Buffer<double> A(X);
  Buffer<long long> Out(X.size() * 12);
  mustRun("conversions", shape({1, 1, 1}, {32, 1, 1}),
          arguments(A.data(), int(X.size()), Out.data()));
  for (size_t I = 0; I < X.size(); ++I) {
    for (int K = 0; K < 10; ++K)
      EXPECT_EQ(Out[I * 12 + K], Want[I][K])
          << "conversion " << K << " of " << X[I];
    uint64_t Bits = std::bit_cast<uint64_t>(X[I]);
    EXPECT_EQ(Out[I * 12 + 10], int32_t(Bits >> 32));
    EXPECT_EQ(Out[I * 12 + 11], int32_t(Bits));
  }
}

} // namespace r3::cpu
