// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random rounding against exact results, which __float128 holds where it
// matters: the last bits of its 113 are far below what 4,096 seeds show.
#include "unittests/instrument/Harness.h"

#include "runtime/support/RoundAbi.h"

#include <cfenv>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

namespace r3::cpu {

using Wide = __float128;

constexpr uint64_t Seeds = 4096;

/// Where an exact result is between two numbers, and how often the upper one
/// was given.
template <typename Real> class Place {
public:
  explicit Place(Wide Exact) : Down(static_cast<Real>(Exact)), Up(Down) {
    constexpr Real Infinity = std::numeric_limits<Real>::infinity();
    const Real Next = std::nextafter(Down, Exact > Down ? Infinity : -Infinity);
    if (Exact == Down || Down == 0 || !std::isfinite(Down) ||
        !std::isfinite(Next)) // stays
      return;
    (Exact > Down ? Up : Down) = Next;
    Chance = double((Exact - Down) / (Wide(Up) - Down));
  }
  /// False: Got is neither.
  bool count(Real Got) {
    Ups += Got == Up;
    return Got == Up || Got == Down;
  }
  bool isInexact() const { return Up != Down; }
  /// Within six standard errors, and one event more where that is none.
  bool isMeanExact() const {
    return !isInexact() || std::fabs(double(Ups) - Seeds * Chance) <=
                               6 * std::sqrt(Seeds * Chance * (1 - Chance)) + 1;
  }
  std::string text() const {
    return std::to_string(Ups) + " times up, not " +
           std::to_string(Seeds * Chance);
  }

private:
  Real Down, Up;
  double Chance = 0;
  uint64_t Ups = 0;
};

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

  /// Over Seeds seeds, each result is one of the two neighbours of the exact
  /// one, each as often as its place between them says; an exact one stays.
  template <typename In, typename Out>
  void check(const std::string &Name,
             const std::vector<std::vector<In>> &Values,
             const std::function<Wide(In, In, In)> &Exact) {
    SCOPED_TRACE(Name);
    std::vector<Place<Out>> Places;
    for (size_t I = 0; I < Values[0].size(); ++I) {
      auto At = [&](size_t Operand) {
        return Values[Operand < Values.size() ? Operand : 0][I];
      };
      Places.emplace_back(Exact(At(0), At(1), At(2)));
    }
    KernelHandle Kernel = build(Name, "round");
    setSeed(7);
    const auto Once = apply<In, Out>(Kernel, Values);
    EXPECT_EQ((apply<In, Out>(Kernel, Values)), Once);
    for (uint64_t Seed = 0; Seed < Seeds; ++Seed) {
      setSeed(Seed);
      const auto Got = apply<In, Out>(Kernel, Values);
      for (size_t I = 0; I < Got.size(); ++I)
        ASSERT_TRUE(Places[I].count(Got[I]))
            << "element " << I << ", " << Got[I];
    }
    size_t Inexact = 0;
    for (size_t I = 0; I < Places.size(); ++I) {
      EXPECT_TRUE(Places[I].isMeanExact())
          << "element " << I << ": " << Places[I].text();
      Inexact += Places[I].isInexact();
    }
    EXPECT_GT(Inexact, Places.size() / 4);
  }
};

/// Numbers around which operations round in different ways, of both signs.
template <typename Real> static std::vector<std::vector<Real>> operands() {
  constexpr int Least = std::numeric_limits<Real>::min_exponent -
                        std::numeric_limits<Real>::digits; // a subnormal's
  constexpr Real Unit = std::numeric_limits<Real>::epsilon();
  std::mt19937_64 Random(1);
  std::uniform_real_distribution<double> Uniform(0.5, 8);
  auto Near = [&](int Exponent) {
    return Real(std::ldexp(Real(Uniform(Random)), Exponent));
  };
  std::vector<std::vector<Real>> Values(3);
  auto Add = [&](Real A, Real B, Real C) {
    const Real All[] = {A, B, C};
    for (int I = 0; I < 3; ++I)
      Values[I].push_back(Random() & 1 ? All[I] : -All[I]);
  };
  for (int I = 1; I <= 48; ++I) {
    Add(I, I % 7 + 1, I % 5);
    Add(Near(0), Near(0), Near(0));
    // Sums, products, quotients and roots that round to 1 and beside it.
    Add(1, Near(0) * Unit / 16, Near(0) * Unit);
    Add(1 + I * Unit, 1 - I / 3 * Unit / 2, Near(0) * Unit / 16);
    // Subnormal products; subnormal quotients; both from subnormal operands.
    Add(Near(Least / 2), Near(Least / 2 + 8), Near(Least + 9));
    Add(Near(Least + 20), Near(10), Near(Least + 6));
    Add(Near(20), Near(Least + 3), Near(Least + 9));
    // Zero, or beyond the largest number.
    Add(Near(Least / 2 - 6), Near(Least / 2 - 6), 0);
    Add(std::numeric_limits<Real>::max(), 2, std::numeric_limits<Real>::max());
    // What a product loses, behind a sum that cancels.
    const Real A = Near(0), B = Near(0);
    Add(A, B, A * B + (I % 3 - 1) * A * B * Unit);
  }
  return Values;
}

static Wide exact(char Name, Wide A, Wide B, Wide C) {
  switch (Name) {
  case '+':
    return A + B;
  case '-':
    return A - B;
  case '*':
    return A * B;
  case '/':
    return A / B;
  case 's': {
    const Wide Near = std::sqrt(static_cast<long double>(A));
    return (Near + A / Near) / 2;
  }
  default:
    return A * B + C;
  }
}

template <typename Real> static std::vector<std::vector<Real>> positive() {
  auto Values = operands<Real>();
  for (Real &A : Values[0])
    A = std::fabs(A);
  return Values;
}

TEST_F(RoundTest, MeansOfOperationsAreExact) {
  const std::pair<const char *, char> Names[] = {{"add", '+'}, {"sub", '-'},
                                                 {"mul", '*'}, {"div", '/'},
                                                 {"fma", 'f'}, {"named", '+'}};
  for (auto [Name, Operation] : Names) {
    check<float, float>(
        std::string(Name) + "_f", operands<float>(),
        [&](Wide A, Wide B, Wide C) { return exact(Operation, A, B, C); });
    check<double, double>(
        std::string(Name) + "_d", operands<double>(),
        [&](Wide A, Wide B, Wide C) { return exact(Operation, A, B, C); });
  }
  const auto Root = [](Wide A, Wide, Wide) { return exact('s', A, 0, 0); };
  const auto Inverse = [](Wide, Wide B, Wide) { return 1 / B; };
  check<float, float>("rcp_f", operands<float>(), Inverse);
  check<double, double>("rcp_d", operands<double>(), Inverse);
  check<float, float>("sqrt_f", positive<float>(), Root);
  check<double, double>("sqrt_d", positive<double>(), Root);
}

template <typename In> static std::vector<std::vector<In>> integers() {
  std::mt19937_64 Random(2);
  std::vector<In> Values = {0, 1, std::numeric_limits<In>::max()};
  constexpr int Bits = std::numeric_limits<In>::digits;
  for (int I = 0; I < 256; ++I) {
    Values.push_back(static_cast<In>(Random()));
    // Around powers of two.
    const In Power = In(1) << (Bits - 1 - I % 5);
    Values.push_back(Power + static_cast<In>(Random() >> (66 - Bits / 2)) - 8);
  }
  return {Values};
}

template <typename From> static Wide same(From A, From, From) { return A; }

TEST_F(RoundTest, MeansOfConversionsAreExact) {
  auto Doubles = operands<double>();
  for (double &A : Doubles[0]) // what is subnormal in float
    if (std::fabs(A) < 1e-30 && A != 0)
      A = std::ldexp(A, -147 - std::ilogb(A) + (std::ilogb(A) & 15));
  check<double, float>("narrow", Doubles, same<double>);
  check<int, float>("i32_f", integers<int>(), same<int>);
  check<unsigned, float>("u32_f", integers<unsigned>(), same<unsigned>);
  check<int64_t, float>("i64_f", integers<int64_t>(), same<int64_t>);
  check<uint64_t, float>("u64_f", integers<uint64_t>(), same<uint64_t>);
  check<int64_t, double>("i64_d", integers<int64_t>(), same<int64_t>);
  check<uint64_t, double>("u64_d", integers<uint64_t>(), same<uint64_t>);
}

/// Many terms of few values: what is lost once is lost again and again.
TEST_F(RoundTest, TheMeanOfASumIsExact) {
  const int N = 4001, Runs = 256;
  std::vector<float> Values(N);
  double Exact = 0, Sum = 0, Squares = 0;
  for (int I = 0; I < N; ++I) {
    Values[I] = float(I % 31 + 1) / 3;
    Exact += double(Values[I]) * double(Values[I]);
  }
  Buffer<float> A(Values), Out(1);
  KernelHandle Kernel = build("dot", "round");
  for (uint64_t Seed = 0; Seed < Runs; ++Seed) {
    setSeed(Seed);
    launch(Kernel, 1, 1, arguments(A.data(), A.data(), Out.data(), N));
    const double Error = Out[0] - Exact;
    Sum += Error, Squares += Error * Error;
  }
  const double Mean = Sum / Runs;
  const double Spread = std::sqrt(Squares / Runs - Mean * Mean);
  EXPECT_GT(Spread, 0);
  EXPECT_LT(std::fabs(Mean), 6 * Spread / std::sqrt(Runs))
      << "spread " << Spread;
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
      else
        EXPECT_TRUE(Got[I] == Want &&
                    std::signbit(Got[I]) == std::signbit(Want))
            << Values[0][I] << " + " << Values[1][I] << " is " << Got[I];
    }
  }
}

/// Numbers from 0.5 to 8, every sixteenth an integer.
static std::vector<std::vector<float>> simple() {
  std::mt19937_64 Random(1);
  std::uniform_real_distribution<double> Uniform(0.5, 8);
  std::vector<std::vector<float>> Values(3);
  for (auto &V : Values)
    for (int I = 0; I < 4096; ++I)
      V.push_back(static_cast<float>(I % 16 ? Uniform(Random) : 1 + I / 16));
  return Values;
}

TEST_F(RoundTest, LibraryResultsMoveByOneUnit) {
  auto Values = simple();
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
  auto Values = simple();
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
  auto Values = simple();
  KernelHandle Kernel = build("directed", "round");
  auto Got = apply<float, float>(Kernel, Values);
  for (size_t I = 0; I < Got.size(); ++I) {
    std::fesetround(FE_DOWNWARD);
    volatile float A = Values[0][I], B = Values[1][I];
    const volatile float Want = A + B;
    std::fesetround(FE_TONEAREST);
    ASSERT_EQ(Got[I], Want);
  }
}

TEST_F(RoundTest, ResultsThroughPointersAndVectorsRoundToo) {
  auto Values = simple();
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
  EXPECT_NEAR(double(Moved), 4096 / 4.0, 200);
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
