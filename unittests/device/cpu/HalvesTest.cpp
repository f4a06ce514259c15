// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Half and bfloat16 as CUDA's headers compute them (Halves.cu), against a
// search among all values of the format for the one that is right, on results
// that are exact in 113 bits.
#include "unittests/device/cpu/Harness.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

namespace r3::cpu {

namespace {

using Exact = __float128;

struct Format {
  const char *Name;
  int Digits, Smallest;
  uint16_t Largest;

  /// Of a magnitude; one above the largest is what would come next.
  double value(uint16_t Bits) const {
    uint16_t Magnitude = Bits & 0x7fff;
    int Field = Magnitude >> Digits;
    double Units =
        (Magnitude & ((1 << Digits) - 1)) + (Field ? 1 << Digits : 0);
    double Value =
        std::ldexp(Units, std::max(Field, 1) - 1 + Smallest - Digits);
    return Bits & 0x8000 ? -Value : Value;
  }
  bool isNaN(uint16_t Bits) const { return (Bits & 0x7fff) > Largest + 1; }
  double read(uint16_t Bits) const {
    if (isNaN(Bits))
      return std::numeric_limits<double>::quiet_NaN();
    return (Bits & 0x7fff) <= Largest ? value(Bits)
           : Bits & 0x8000            ? -HUGE_VAL
                                      : HUGE_VAL;
  }
};
constexpr Format Half{"F16", 10, -14, 0x7bff};
constexpr Format Brain{"Bf16", 7, -126, 0x7f7f};

enum Direction { Nearest, ToZero, Down, Up };

/// Value in F, found among F's values.
uint16_t rounded(const Format &F, Exact Value, Direction How = Nearest) {
  if (Value != Value)
    return 0x7fff;
  bool IsNegative = __builtin_signbit(Value);
  uint16_t Sign = IsNegative ? 0x8000 : 0;
  Exact Magnitude = IsNegative ? -Value : Value;
  if (Magnitude == Exact(HUGE_VAL))
    return Sign | (F.Largest + 1);
  uint16_t Low = 0, High = F.Largest + 1;
  while (High - Low > 1) {
    uint16_t Middle = static_cast<uint16_t>((Low + High) / 2);
    (Exact(F.value(Middle)) <= Magnitude ? Low : High) = Middle;
  }
  if (Exact(F.value(High)) <= Magnitude) // beyond the largest
    Low = High;
  if (Exact(F.value(Low)) == Magnitude && Low <= F.Largest)
    return Sign | Low;
  bool IsUp =
      How == Nearest ? Low > F.Largest : How == (IsNegative ? Down : Up);
  if (How == Nearest && Low <= F.Largest) {
    Exact Below = Magnitude - F.value(Low),
          Above = F.value(Low + 1) - Magnitude;
    IsUp = Above < Below || (Above == Below && Low % 2);
  }
  uint16_t Cut = std::min(Low, F.Largest);
  return Sign | (IsUp ? Cut + 1 : Cut);
}

Exact multiplyAdd(double A, double B, double C) {
  Exact Product = Exact(A) * B, Sum = Product + C;
  // What 113 bits lose of C is on its side of a product of 22.
  bool IsLost =
      std::isfinite(C) && Product - Product == 0 && C != 0 && Sum == Product;
  Exact Tiny = std::ldexp(1., -90);
  return IsLost ? Product * (1 + ((C > 0) == (Product > 0) ? Tiny : -Tiny))
                : Sum;
}

uint16_t clamped(const Format &F, uint16_t Bits) {
  double Value = F.read(Bits);
  return Value > 0 ? Value < 1 ? Bits : rounded(F, 1) : 0;
}

/// Three values each: all kinds of them, sums between two values, any bits.
std::vector<uint16_t> triples(const Format &F) {
  uint16_t Infinity = F.Largest + 1, One = rounded(F, 1);
  std::vector<uint16_t> Kinds = {0,
                                 1,
                                 uint16_t((1 << F.Digits) - 1),
                                 uint16_t(1 << F.Digits),
                                 One,
                                 uint16_t(One + 1),
                                 F.Largest,
                                 Infinity,
                                 uint16_t(Infinity + 1),
                                 0x7fff};
  for (size_t I = 0, Size = Kinds.size(); I < Size; ++I)
    Kinds.push_back(Kinds[I] | 0x8000);
  std::vector<uint16_t> Result;
  for (uint16_t A : Kinds)
    for (uint16_t B : Kinds)
      for (uint16_t C : Kinds)
        Result.insert(Result.end(), {A, B, C});
  // (1 + 2^-k)^2 is halfway between two values where 2k is a digit too many.
  int K = (F.Digits + 1) / 2;
  uint16_t Root = rounded(F, 1 + std::ldexp(1., -K));
  for (int Exponent = F.Smallest - F.Digits; Exponent < 0; ++Exponent)
    for (double Sign : {1., -1.})
      Result.insert(Result.end(),
                    {Root, Root, rounded(F, std::ldexp(Sign, Exponent))});
  std::mt19937 Random(1);
  for (int I = 0; I < 30000; ++I)
    Result.push_back(static_cast<uint16_t>(Random()));
  // With exponents near each other.
  for (int I = 0; I < 30000; ++I)
    Result.push_back(static_cast<uint16_t>(One + Random() % (4 << F.Digits) -
                                           (2 << F.Digits)) |
                     (Random() % 2 ? 0x8000 : 0));
  return Result;
}

class HalvesTest : public CpuTest,
                   public ::testing::WithParamInterface<Format> {
protected:
  HalvesTest() { File = "Halves"; }
  const Format &F = GetParam();
  std::string named(const char *Kernel) { return Kernel + std::string(F.Name); }
  LaunchConfig threads(size_t Count) {
    return shape({uint32_t((Count + 255) / 256), 1, 1}, {256, 1, 1});
  }

  std::vector<uint16_t> expected(uint16_t X, uint16_t Y, uint16_t Z) {
    double A = F.read(X), B = F.read(Y), C = F.read(Z);
    bool AnyNaN = F.isNaN(X) || F.isNaN(Y);
    auto Lesser = [&](double Sign) {
      double Left = Sign * A, Right = Sign * B;
      bool IsFirst = Left < Right || (Left == Right && std::signbit(Left));
      return F.isNaN(X)              ? rounded(F, B)
             : F.isNaN(Y) || IsFirst ? rounded(F, A)
                                     : rounded(F, B);
    };
    uint16_t Sum = rounded(F, Exact(A) + B);
    uint16_t Fused = rounded(F, multiplyAdd(A, B, C));
    uint16_t Min = Lesser(1), Max = Lesser(-1);
    uint16_t Relu = F.read(Fused) < 0 ? 0 : Fused;
    return {Sum,
            rounded(F, Exact(A) - B),
            rounded(F, Exact(A) * B),
            Fused,
            Min,
            Max,
            AnyNaN ? uint16_t(0x7fff) : Min,
            AnyNaN ? uint16_t(0x7fff) : Max,
            clamped(F, Sum),
            clamped(F, Fused),
            Relu,
            uint16_t(X ^ 0x8000),
            uint16_t(X & 0x7fff),
            rounded(F, std::floor(A)),
            rounded(F, std::ceil(A)),
            rounded(F, std::trunc(A)),
            rounded(F, std::nearbyint(A))};
  }
};

TEST_P(HalvesTest, RoundsSumsAndProductsOnce) {
  Buffer<uint16_t> In(triples(F)), Out(In.size() / 3 * 17);
  int Count = static_cast<int>(In.size() / 3);
  mustRun(named("arithmetic"), threads(Count),
          arguments(In.data(), Out.data(), Count));
  int Wrong = 0;
  for (int I = 0; I < Count && Wrong < 10; ++I) {
    uint16_t A = In[3 * I], B = In[3 * I + 1], C = In[3 * I + 2];
    std::vector<uint16_t> Wanted = expected(A, B, C);
    for (int K = 0; K < 17; ++K)
      if (Out[17 * I + K] != Wanted[K]) {
        ADD_FAILURE() << std::hex << "operation " << K << " of " << A << " "
                      << B << " " << C << ": " << Out[17 * I + K] << ", not "
                      << Wanted[K];
        ++Wrong;
      }
  }
}

TEST_P(HalvesTest, ComputesPairsAsTheirHalves) {
  std::vector<uint16_t> Values = triples(F);
  Values.erase(Values.begin(), Values.end() - 3 * 512);
  Buffer<uint16_t> In(Values), Out(512 * 22);
  mustRun(named("pairs"), shape({1, 1, 1}, {512, 1, 1}),
          arguments(In.data(), Out.data(), 512));
  for (int I = 0; I < 512; ++I)
    for (int Half = 0; Half < 2; ++Half) {
      int J = 3 * ((I + Half) % 512);
      std::vector<uint16_t> Wanted = expected(In[J], In[J + 1], In[J + 2]);
      for (int K = 0; K < 11; ++K)
        EXPECT_EQ(Out[22 * I + 2 * K + Half], Wanted[K]) << I << " " << K;
    }
}

TEST_P(HalvesTest, Compares) {
  Buffer<uint16_t> In(triples(F));
  int Count = static_cast<int>(In.size() / 3);
  Buffer<uint32_t> Out(Count);
  mustRun(named("compare"), threads(Count),
          arguments(In.data(), Out.data(), Count));
  for (int I = 0; I < Count; ++I) {
    double A = F.read(In[3 * I]), B = F.read(In[3 * I + 1]);
    bool Any = std::isnan(A) || std::isnan(B);
    bool Holds[] = {A == B,        A != B && !Any, A<B, A <= B, A> B,
                    A >= B,        A == B || Any,  A != B,
                    A < B || Any,  A <= B || Any,  A > B || Any,
                    A >= B || Any, std::isnan(A)};
    uint32_t Wanted = 0;
    for (int K = 0; K < 13; ++K)
      Wanted |= uint32_t(Holds[K]) << K;
    ASSERT_EQ(Out[I], Wanted) << A << " and " << B;
  }
}

// --- Conversions.

/// Values of the format, halfway between two, and a little beside.
std::vector<double> near(const Format &F) {
  std::vector<double> Result = {0., -0., HUGE_VAL, -HUGE_VAL,
                                std::numeric_limits<double>::quiet_NaN()};
  std::mt19937 Random(2);
  for (int I = 0; I < 200; ++I) {
    auto Bits = static_cast<uint16_t>(I < 20 ? F.Largest - 9 + I : Random());
    if ((Bits & 0x7fff) > F.Largest)
      Bits = F.Largest;
    double Low = F.value(Bits), Half = (F.value(Bits + 1) - Low) / 2;
    for (double Part : {0., 1 - 0x1p-20, 1., 1 + 0x1p-20, 0x1p-30, 1 + 0x1p-40})
      Result.push_back(Low + Half * Part);
  }
  return Result;
}

TEST_P(HalvesTest, ConvertsFloatsInAllDirections) {
  std::vector<float> Values;
  for (double Value : near(F))
    Values.push_back(static_cast<float>(Value));
  Values.resize(1024);
  Buffer<float> In(Values);
  Buffer<uint16_t> Out(In.size() * 5);
  mustRun(named("fromFloat"), shape({1, 1, 1}, {1024, 1, 1}),
          arguments(In.data(), Out.data()));
  for (size_t I = 0; I < In.size(); ++I) {
    for (int How = 0; How < 4; ++How)
      EXPECT_EQ(Out[5 * I + How], rounded(F, In[I], Direction(How)))
          << std::hexfloat << In[I] << " in direction " << How;
    EXPECT_EQ(Out[5 * I + 4], rounded(F, In[I]));
  }
}

TEST_P(HalvesTest, ConvertsToIntegers) {
  std::vector<uint16_t> Values = triples(F);
  Values.erase(Values.begin(), Values.end() - 1000);
  for (double Value :
       {0.,    0.5,  -0.5,   1.5,    2.5,     127.5,  128.,   -129.,
        255.5, 256., 32767., 32768., -32769., 65504., 65536., 1e9,
        -1e9,  3e9,  5e9,    1e18,   1e19,    2e19,   -1e19})
    Values.push_back(rounded(F, Value));
  Values.push_back(0x7fff);
  Buffer<uint16_t> In(Values);
  Buffer<long long> Out(In.size() * 10);
  mustRun(named("toIntegers"),
          shape({1, 1, 1}, {static_cast<uint32_t>(In.size()), 1, 1}),
          arguments(In.data(), Out.data()));
  auto Fit = [](double Value, double Least, double Most) {
    return std::isnan(Value)
               ? 0
               : static_cast<long long>(std::min(std::max(Value, Least), Most));
  };
  constexpr long long Lowest = std::numeric_limits<long long>::min();
  auto Long = [](double Value) {
    return std::isnan(Value) || Value < -0x1p63 ? Lowest
           : Value >= 0x1p63                    ? ~Lowest
                                                : static_cast<long long>(Value);
  };
  for (size_t I = 0; I < In.size(); ++I) {
    double A = F.read(In[I]);
    unsigned long long Unsigned = std::isnan(A) ? 1ull << 63
                                  : A >= 0x1p64 ? ~0ull
                                  : A <= 0      ? 0
                                                : A;
    long long Wanted[] = {Fit(std::trunc(A), -128, 127),
                          Fit(std::trunc(A), 0, 255),
                          Fit(std::nearbyint(A), -32768, 32767),
                          Fit(std::floor(A), 0, 65535),
                          Fit(std::trunc(A), -0x1p31, 0x1p31 - 1),
                          Fit(std::ceil(A), -0x1p31, 0x1p31 - 1),
                          Fit(std::nearbyint(A), 0, 0x1p32 - 1),
                          Long(std::trunc(A)),
                          Long(std::floor(A)),
                          static_cast<long long>(Unsigned)};
    for (int K = 0; K < 10; ++K)
      EXPECT_EQ(Out[10 * I + K], Wanted[K]) << A << " to " << K;
  }
}

TEST_P(HalvesTest, ComputesFunctions) {
  std::vector<uint16_t> Values;
  std::mt19937 Random(3);
  for (int I = 0; I < 500; ++I)
    Values.push_back(
        rounded(F, std::ldexp(1 + Random() % 4096 / 4096.,
                              static_cast<int>(Random() % 20) - 10)));
  for (double Value : {60000., 12345., 1., 2., 0.25, -1., -3.5, -1000., 0.})
    Values.push_back(rounded(F, Value));
  Buffer<uint16_t> In(Values), Out(In.size() * 12);
  mustRun(named("functions"),
          shape({1, 1, 1}, {static_cast<uint32_t>(In.size()), 1, 1}),
          arguments(In.data(), Out.data()));
  for (size_t I = 0; I < In.size(); ++I) {
    double A = F.read(In[I]);
    double Wanted[] = {std::sqrt(A), 1 / std::sqrt(A), 1 / A,
                       std::exp(A),  std::exp2(A),     std::pow(10, A),
                       std::log(A),  std::log2(A),     std::sin(A),
                       std::cos(A),  std::tanh(A),     A / 3};
    for (int K = 0; K < 12; ++K) {
      uint16_t Got = Out[12 * I + K], Best = rounded(F, Wanted[K]);
      if (F.Digits == 7 && std::fabs(Wanted[K]) < 0x1p-126)
        continue; // flushed
      EXPECT_LE(std::abs(Got - Best), 1)
          << "function " << K << " of " << A << ": " << F.read(Got) << ", not "
          << Wanted[K];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, HalvesTest, ::testing::Values(Half, Brain),
                         [](auto &Info) { return Info.param.Name; });

class ConversionTest : public CpuTest {
protected:
  ConversionTest() { File = "Halves"; }
};

TEST_F(ConversionTest, RoundsDoublesOnce) {
  std::vector<double> Values = near(Half);
  for (double Value : near(Brain))
    Values.push_back(Value);
  Values.resize(1024);
  // Rounding to float first would lose the last bit, and the tie with it.
  Values[0] = 1 + 0x1p-11 + 0x1p-40;
  Values[1] = 1 + 0x1p-8 + 0x1p-40;
  Buffer<double> In(Values);
  Buffer<uint16_t> Out(In.size() * 2);
  mustRun("fromDouble", shape({1, 1, 1}, {1024, 1, 1}),
          arguments(In.data(), Out.data()));
  for (size_t I = 0; I < In.size(); ++I) {
    EXPECT_EQ(Out[2 * I], rounded(Half, In[I])) << std::hexfloat << In[I];
    EXPECT_EQ(Out[2 * I + 1], rounded(Brain, In[I])) << std::hexfloat << In[I];
  }
}

TEST_F(ConversionTest, RoundsIntegersOnce) {
  std::vector<long long> Values = {0, 1, -1, 2049, -2051, 65519, 65520, 100000};
  for (int Shift = 10; Shift < 63; ++Shift)
    for (long long Beside : {-1, 0, 1}) {
      Values.push_back((1ll << Shift) + (1ll << Shift >> 8) + Beside);
      Values.push_back(-(1ll << Shift) - (1ll << Shift >> 11) + Beside);
    }
  Buffer<long long> In(Values);
  std::vector<int> Small(Values.begin(), Values.end());
  Buffer<int> SmallIn(Small);
  auto Count = static_cast<uint32_t>(Values.size());
  Buffer<uint16_t> Out(Count * 16), SmallOut(Count * 16);
  mustRun("fromLong", shape({1, 1, 1}, {Count, 1, 1}),
          arguments(In.data(), Out.data()));
  mustRun("fromInt", shape({1, 1, 1}, {Count, 1, 1}),
          arguments(SmallIn.data(), SmallOut.data()));
  for (uint32_t I = 0; I < Count; ++I)
    for (int How = 0; How < 16; ++How) {
      const Format &F = How < 8 ? Half : Brain;
      bool IsSigned = How % 8 < 4;
      auto Unsigned = static_cast<unsigned long long>(Values[I]);
      auto SmallUnsigned = static_cast<unsigned>(Small[I]);
      EXPECT_EQ(Out[16 * I + How],
                rounded(F, IsSigned ? Exact(Values[I]) : Exact(Unsigned),
                        Direction(How % 4)))
          << Values[I] << " as " << How;
      EXPECT_EQ(SmallOut[16 * I + How],
                rounded(F, IsSigned ? Exact(Small[I]) : Exact(SmallUnsigned),
                        Direction(How % 4)))
          << Small[I] << " as " << How;
    }
}

} // namespace

} // namespace r3::cpu
