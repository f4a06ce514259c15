// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random rounding against the host's directed rounding.
#include "unittests/instrument/Harness.h"

#include "runtime/support/RoundAbi.h"

#include <cfenv>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

namespace r3::cpu {

class RoundTest : public InstrumentTest {
protected:
  void setSeed(uint64_t Seed) {
    auto Where = Module->global(round::RoundSeed);
    ASSERT_TRUE(Where) << Where.error().message();
    ASSERT_EQ(Where->Size, sizeof Seed);
    std::memcpy(reinterpret_cast<void *>(Where->Begin), &Seed, sizeof Seed);
  }

  template <typename In, typename Out>
  std::vector<Out> apply(KernelHandle Kernel,
                         const std::vector<std::vector<In>> &Values) {
    const int N = int(Values[0].size());
    std::vector<std::unique_ptr<Buffer<In>>> Held;
    Arguments A;
    for (const std::vector<In> &V : Values) {
      Held.push_back(std::make_unique<Buffer<In>>(V));
      A.add(Held.back()->data());
    }
    Buffer<Out> To(N);
    A.add(To.data()).add(N);
    launch(Kernel, (N + 63) / 64, 64, A);
    return {To.data(), To.data() + N};
  }

  /// Each result is the one rounded down or the one rounded up, both in turn;
  /// with one seed always the same.
  template <typename In, typename Out>
  void check(const std::string &Name,
             const std::vector<std::vector<In>> &Values,
             const std::function<Out(In, In, In)> &Expected) {
    SCOPED_TRACE(Name);
    KernelHandle Kernel = build(Name, "round");
    setSeed(7);
    const auto Got = apply<In, Out>(Kernel, Values);
    EXPECT_EQ((apply<In, Out>(Kernel, Values)), Got);
    size_t Inexact = 0, Ups = 0, Changed = 0;
    for (size_t I = 0; I < Got.size(); ++I) {
      auto At = [&](size_t Operand) {
        return Values[Operand < Values.size() ? Operand : 0][I];
      };
      auto Rounded = [&](int Mode) {
        std::fesetround(Mode);
        const volatile Out Value = Expected(At(0), At(1), At(2));
        std::fesetround(FE_TONEAREST);
        return Value;
      };
      const Out Down = Rounded(FE_DOWNWARD), Up = Rounded(FE_UPWARD);
      ASSERT_TRUE(Got[I] == Down || Got[I] == Up)
          << Got[I] << ", not " << Down << " or " << Up;
      Inexact += Down != Up;
      Ups += Down != Up && Got[I] == Up;
    }
    setSeed(8);
    const auto Other = apply<In, Out>(Kernel, Values);
    for (size_t I = 0; I < Got.size(); ++I)
      Changed += Other[I] != Got[I];
    // A coin's six standard deviations.
    const double Limit = 3 * std::sqrt(double(Inexact));
    EXPECT_GT(Inexact, 500u);
    EXPECT_LT(std::fabs(double(Ups) - double(Inexact) / 2), Limit);
    EXPECT_LT(std::fabs(double(Changed) - double(Inexact) / 2), Limit);
  }
};

template <typename Real> static std::vector<std::vector<Real>> operands() {
  std::mt19937_64 Random(1);
  std::uniform_real_distribution<double> Uniform(0.5, 8);
  std::vector<std::vector<Real>> Values(3);
  for (auto &V : Values)
    for (int I = 0; I < 4096; ++I)
      V.push_back(static_cast<Real>(I % 16 ? Uniform(Random) : 1 + I / 16));
  return Values;
}

template <typename Real> static Real op(char Name, Real A, Real B, Real C) {
  volatile Real X = A, Y = B, Z = C, R = 0;
  switch (Name) {
  case '+':
    R = X + Y;
    break;
  case '-':
    R = X - Y;
    break;
  case '*':
    R = X * Y;
    break;
  case '/':
    R = X / Y;
    break;
  case 's':
    R = std::sqrt(Real(X));
    break;
  default:
    R = std::fma(Real(X), Real(Y), Real(Z));
    break;
  }
  return R;
}

TEST_F(RoundTest, OperationsRoundDownOrUp) {
  const std::pair<const char *, char> Names[] = {
      {"add", '+'}, {"sub", '-'},  {"mul", '*'},  {"div", '/'},
      {"fma", 'f'}, {"sqrt", 's'}, {"named", '+'}};
  for (auto [Name, Operation] : Names) {
    check<float, float>(
        std::string(Name) + "_f", operands<float>(),
        [&](float A, float B, float C) { return op(Operation, A, B, C); });
    check<double, double>(
        std::string(Name) + "_d", operands<double>(),
        [&](double A, double B, double C) { return op(Operation, A, B, C); });
  }
}

template <typename In> static std::vector<std::vector<In>> integers() {
  std::mt19937_64 Random(2);
  std::vector<In> Values;
  for (int I = 0; I < 4096; ++I)
    Values.push_back(static_cast<In>(Random()));
  Values[0] = 0, Values[1] = 1, Values[2] = std::numeric_limits<In>::max();
  return {Values};
}

template <typename To, typename From> static To convert(From A, From, From) {
  // Exact in the extended format, then rounded once.
  const volatile long double Wide = A;
  const volatile To Result = static_cast<To>(Wide);
  return Result;
}

TEST_F(RoundTest, ConversionsRoundDownOrUp) {
  check<double, float>("narrow", operands<double>(), convert<float, double>);
  check<int, float>("i32_f", integers<int>(), convert<float, int>);
  check<unsigned, float>("u32_f", integers<unsigned>(),
                         convert<float, unsigned>);
  check<int64_t, float>("i64_f", integers<int64_t>(), convert<float, int64_t>);
  check<uint64_t, float>("u64_f", integers<uint64_t>(),
                         convert<float, uint64_t>);
  check<int64_t, double>("i64_d", integers<int64_t>(),
                         convert<double, int64_t>);
  check<uint64_t, double>("u64_d", integers<uint64_t>(),
                          convert<double, uint64_t>);
}

TEST_F(RoundTest, ZerosOverflowsAndNaNsAreWhereTheyWere) {
  const float Inf = INFINITY, Max = std::numeric_limits<float>::max();
  const std::vector<std::vector<float>> Values = {
      {1, 0.0f, -0.0f, Max, -Max, Max, Inf, NAN, 1e-30f},
      {-1, -0.0f, -0.0f, Max, -Max, 1, -Inf, 1, -1e-30f},
      {0, 0, 0, 0, 0, 0, 0, 0, 0}};
  for (uint64_t Seed = 0; Seed < 16; ++Seed) {
    KernelHandle Kernel = build("add_f", "round");
    setSeed(Seed);
    auto Got = apply<float, float>(Kernel, Values);
    for (size_t I = 0; I < Got.size(); ++I) {
      const float Want = Values[0][I] + Values[1][I];
      if (std::isnan(Want))
        EXPECT_TRUE(std::isnan(Got[I]));
      else if (I == 5) // the exact sum is above Max, but not an overflow
        EXPECT_GE(Got[I], std::nextafter(Max, 0.0f));
      else
        EXPECT_TRUE(Got[I] == Want &&
                    std::signbit(Got[I]) == std::signbit(Want))
            << Values[0][I] << " + " << Values[1][I] << " is " << Got[I];
    }
  }
}

TEST_F(RoundTest, LibraryResultsMoveByOneUnit) {
  auto Values = operands<float>();
  KernelHandle Kernel = build("sine_f", "round");
  setSeed(3);
  auto Got = apply<float, float>(Kernel, Values);
  size_t Ups = 0;
  for (size_t I = 0; I < Got.size(); ++I) {
    const float Plain = sinf(Values[0][I]);
    const float Up = std::nextafter(Plain, INFINITY);
    ASSERT_TRUE(Got[I] == Up || Got[I] == std::nextafter(Plain, -INFINITY));
    Ups += Got[I] == Up;
  }
  EXPECT_NEAR(double(Ups), 2048, 200);
}

TEST_F(RoundTest, ExactLibraryResultsStay) {
  auto Values = operands<float>();
  KernelHandle Kernel = build("floor_f", "round");
  auto Got = apply<float, float>(Kernel, Values);
  for (size_t I = 0; I < Got.size(); ++I)
    ASSERT_EQ(Got[I], std::floor(Values[0][I]));
  std::vector<std::vector<double>> Powers = {{2, 2, 3, 10, 4, 0, NAN},
                                             {10, 90, 7, 15, -3, 3, 1},
                                             {0, 0, 0, 0, 0, 0, 0}};
  KernelHandle Power = build("power_d", "round");
  auto Exact = apply<double, double>(Power, Powers);
  for (size_t I = 0; I + 1 < Exact.size(); ++I)
    EXPECT_EQ(Exact[I], std::pow(Powers[0][I], Powers[1][I]));
  EXPECT_TRUE(std::isnan(Exact[6]));
}

TEST_F(RoundTest, DirectedRoundingStays) {
  auto Values = operands<float>();
  KernelHandle Kernel = build("directed", "round");
  auto Got = apply<float, float>(Kernel, Values);
  for (size_t I = 0; I < Got.size(); ++I) {
    std::fesetround(FE_DOWNWARD);
    const float Want = op('+', Values[0][I], Values[1][I], 0.0f);
    std::fesetround(FE_TONEAREST);
    ASSERT_EQ(Got[I], Want);
  }
}

TEST_F(RoundTest, ResultsThroughPointersAndVectorsRoundToo) {
  auto Values = operands<float>();
  Buffer<float> A(Values[0]), B(Values[1]), First(4096), Second(4096);
  KernelHandle Kernel = build("both", "round");
  setSeed(1);
  launch(Kernel, 64, 64, arguments(A.data(), First.data(), Second.data()));
  for (size_t I = 1; I < 4096; ++I) {
    EXPECT_NE(First[I], sinf(A[I]));
    EXPECT_NE(Second[I], cosf(A[I]));
  }
  Kernel = build("pairs", "round");
  setSeed(1);
  launch(Kernel, 32, 64, arguments(A.data(), B.data(), First.data()));
  size_t Moved = 0;
  for (size_t I = 0; I < 4096; ++I)
    Moved += First[I] != A[I] * B[I];
  EXPECT_NEAR(double(Moved), 4096 / 2.0, 300);
}

/// Threads that compute the same value agree.
TEST_F(RoundTest, TheSameOperandsGiveTheSameResult) {
  std::vector<std::vector<float>> Values(3, std::vector<float>(256, 1.1f));
  KernelHandle Kernel = build("fma_f", "round");
  for (uint64_t Seed = 0; Seed < 8; ++Seed) {
    setSeed(Seed);
    auto Got = apply<float, float>(Kernel, Values);
    EXPECT_EQ(Got, std::vector<float>(256, Got[0]));
  }
}

} // namespace r3::cpu
