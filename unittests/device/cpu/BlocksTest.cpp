// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CUB's algorithms of a block and of a warp (Blocks.cu), against the standard
// library's on the host.
#include "unittests/device/cpu/Harness.h"

#include <algorithm>
#include <numeric>

namespace r3::cpu {

namespace {

constexpr int Threads = 128, All = 512;

template <typename T> struct TypeName;
#define NAME(Type, Text)                                                       \
  template <> struct TypeName<Type> {                                          \
    static constexpr const char *Value = Text;                                 \
  };
NAME(int, "Int")
NAME(unsigned, "Unsigned")
NAME(float, "Float")
NAME(double, "Double")
NAME(long long, "Long")
NAME(unsigned char, "Byte")

template <typename T> class BlocksTest : public CpuTest {
protected:
  BlocksTest() { File = "Blocks"; }

  /// Whole numbers of both signs, so that sums are exact; some occur twice.
  std::vector<T> values() {
    std::vector<T> Result(All);
    for (int I = 0; I < All; ++I)
      Result[I] =
          static_cast<T>(I * 1103 % 409 - (std::is_signed_v<T> ? 200 : 0));
    return Result;
  }
  void launch(const char *Kernel, const Arguments &A) {
    mustRun(Kernel + std::string(TypeName<T>::Value),
            shape({1, 1, 1}, {Threads, 1, 1}), A);
  }
};

using Types =
    ::testing::Types<int, unsigned, float, double, long long, unsigned char>;
TYPED_TEST_SUITE(BlocksTest, Types);

/// In T's arithmetic.
template <typename T> T sum(const std::vector<T> &V, int From, int To) {
  T Result = 0;
  for (int I = From; I < To; ++I)
    Result = static_cast<T>(Result + V[I]);
  return Result;
}

TYPED_TEST(BlocksTest, Reduces) {
  using T = TypeParam;
  std::vector<T> Values = this->values();
  Buffer<T> In(Values), Out(9);
  this->launch("reduce", arguments(In.data(), Out.data()));
  for (int Variant = 0; Variant < 3; ++Variant) {
    EXPECT_EQ(Out[3 * Variant], sum(Values, 0, Threads)) << Variant;
    EXPECT_EQ(Out[3 * Variant + 1],
              *std::max_element(Values.begin(), Values.begin() + Threads));
    EXPECT_EQ(Out[3 * Variant + 2], sum(Values, 0, 100)) << Variant;
  }
}

TYPED_TEST(BlocksTest, Scans) {
  using T = TypeParam;
  std::vector<T> Values = this->values();
  Buffer<T> In(Values), Out(12 * Threads);
  this->launch("scan", arguments(In.data(), Out.data()));
  for (int Variant = 0; Variant < 3; ++Variant)
    for (int I = 0; I < 2 * Threads; ++I) {
      T *Scanned = Out.data() + 4 * Threads * Variant;
      EXPECT_EQ(Scanned[I], sum(Values, 0, I + 1)) << Variant << " " << I;
      EXPECT_EQ(Scanned[2 * Threads + I], sum(Values, 0, I)) << Variant;
    }
}

TYPED_TEST(BlocksTest, Sorts) {
  using T = TypeParam;
  std::vector<T> Values = this->values(), Ordered = Values;
  std::vector<int> Places(All);
  std::iota(Places.begin(), Places.end(), 0);
  std::stable_sort(Places.begin(), Places.end(),
                   [&](int A, int B) { return Values[A] < Values[B]; });
  std::sort(Ordered.begin(), Ordered.end());
  Buffer<T> In(Values), Out(3 * All);
  Buffer<int> From(All);
  this->launch("sort", arguments(In.data(), Out.data(), From.data()));
  for (int I = 0; I < All; ++I) {
    EXPECT_EQ(Out[I], Ordered[I]) << I;
    EXPECT_EQ(From[I], Places[I]) << I;
    EXPECT_EQ(Out[All + I], Ordered[All - 1 - I]) << I;
    EXPECT_EQ(Out[2 * All + I], Ordered[I]) << I;
  }
}

TYPED_TEST(BlocksTest, LoadsAndStores) {
  using T = TypeParam;
  std::vector<T> Values = this->values();
  Buffer<T> In(Values), Out(6 * All);
  this->launch("move", arguments(In.data(), Out.data()));
  for (int Variant = 0; Variant < 6; ++Variant)
    for (int I = 0; I < All; ++I)
      EXPECT_EQ(Out[Variant * All + I],
                I < 500 ? static_cast<T>(Values[I] + 1) : T(0))
          << Variant << " " << I;
}

TYPED_TEST(BlocksTest, ReducesAndScansWarps) {
  using T = TypeParam;
  std::vector<T> Values = this->values();
  Buffer<T> In(Values), Out(7 * Threads);
  this->launch("warps", arguments(In.data(), Out.data()));
  for (int I = 0; I < Threads; ++I) {
    int First = I / 32 * 32;
    T *Got = Out.data() + 7 * I;
    if (I == First) { // sums are the first lane's
      EXPECT_EQ(Got[0], sum(Values, First, First + 32));
      EXPECT_EQ(Got[1], sum(Values, First, First + 7));
    }
    if (I % 5 == 0) {
      EXPECT_EQ(Got[2], sum(Values, I, std::min(I + 5, First + 32))) << I;
    }
    EXPECT_EQ(Got[3], sum(Values, First, I + 1)) << I;
    EXPECT_EQ(Got[4], sum(Values, First, I)) << I;
    EXPECT_EQ(Got[5], Values[First + 3]) << I;
    if (I % 16 == 0) {
      EXPECT_EQ(Got[6], sum(Values, I, I + 16)) << I;
    }
  }
}

class MoreBlocksTest : public CpuTest {
protected:
  MoreBlocksTest() { File = "Blocks"; }
};

TEST_F(MoreBlocksTest, SortsHalves) {
  std::vector<_Float16> Values(All), Ordered;
  for (int I = 0; I < All; ++I)
    Values[I] = static_cast<_Float16>((I * 1103 % 409 - 200) / 8.f);
  Ordered = Values;
  std::sort(Ordered.begin(), Ordered.end());
  Buffer<_Float16> In(Values), Out(3 * All);
  Buffer<int> From(All);
  mustRun("sortHalf", shape({1, 1, 1}, {Threads, 1, 1}),
          arguments(In.data(), Out.data(), From.data()));
  for (int I = 0; I < All; ++I) {
    EXPECT_EQ(float(Out[I]), float(Ordered[I])) << I;
    EXPECT_EQ(float(Values[From[I]]), float(Ordered[I])) << I;
    EXPECT_EQ(float(Out[All + I]), float(Ordered[All - 1 - I])) << I;
    EXPECT_EQ(float(Out[2 * All + I]), float(Ordered[I])) << I;
  }
}

TEST_F(MoreBlocksTest, CountsByteValues) {
  std::vector<uint8_t> Values(All);
  std::vector<uint32_t> Wanted(256);
  for (int I = 0; I < All; ++I)
    ++Wanted[Values[I] = static_cast<uint8_t>(I * I)];
  Buffer<uint8_t> In(Values);
  Buffer<uint32_t> Out(256);
  mustRun("histogram", shape({1, 1, 1}, {Threads, 1, 1}),
          arguments(In.data(), Out.data()));
  for (int I = 0; I < 256; ++I)
    EXPECT_EQ(Out[I], Wanted[I]) << I;
}

} // namespace

} // namespace r3::cpu
