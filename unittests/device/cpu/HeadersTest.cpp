// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that use CUDA's headers (Headers.cu).
#include "unittests/device/cpu/Harness.h"

#include <bit>

namespace r3::cpu {

class HeadersTest : public CpuTest {
protected:
  HeadersTest() { File = "Headers"; }
};

TEST_F(HeadersTest, RunsTilesOfCooperativeGroups) {
  Buffer<int> Out(64);
  mustRun("tiles", shape({1, 1, 1}, {64, 1, 1}), arguments(Out.data()));
  for (int I = 0; I < 64; ++I)
    EXPECT_EQ(Out[I], (I / 16 * 256 + 120) * 100 + I % 16);
  mustRun("coalesced", shape({1, 1, 1}, {32, 1, 1}), arguments(Out.data()));
  for (int I = 0; I < 32; I += 3)
    EXPECT_EQ(Out[I], 1100 + I / 3);
}

TEST_F(HeadersTest, SynchronisesGrids) {
  auto Kernel = load("gridSync");
  ASSERT_TRUE(bool(Kernel)) << Kernel.error().message();
  uint32_t Blocks = Device.maxCooperativeBlocks(32);
  Buffer<int> Data(Blocks * 32), Out(Blocks * 32);
  LaunchConfig Config = shape({Blocks, 1, 1}, {32, 1, 1});
  Config.Cooperative = true;
  EXPECT_EQ(run(*Kernel, Config, arguments(Data.data(), Out.data())).message(),
            "");
  for (uint32_t I = 0; I < Blocks * 32; ++I)
    ASSERT_EQ(Out[I], 136);
}

TEST_F(HeadersTest, ComputesInHalfPrecision) {
  auto Bits = [](float F) {
    return std::bit_cast<uint16_t>(static_cast<_Float16>(F));
  };
  auto Value = [](uint16_t B) { return float(std::bit_cast<_Float16>(B)); };
  Buffer<uint16_t> A({Bits(1.5f), Bits(0.1f), Bits(-3)}), Out(3);
  Buffer<uint16_t> Pairs(
      {Bits(2), Bits(3), Bits(4), Bits(5), Bits(6), Bits(7)});
  Buffer<float> Wide(3);
  mustRun("halves", shape({1, 1, 1}, {3, 1, 1}),
          arguments(A.data(), Out.data(), Pairs.data(), Wide.data()));
  for (size_t I = 0; I < 3; ++I) {
    float X = Value(A[I]);
    EXPECT_EQ(Out[I], Bits(X * 2 + Value(Bits(X + 1.5f))));
    EXPECT_EQ(Wide[I], Value(Bits(X - Value(A[1]))));
    EXPECT_EQ(Pairs[2 * I], Bits((2 + 2 * I) * Value(A[1])));
    EXPECT_EQ(Pairs[2 * I + 1], Bits((3 + 2 * I) * -3.f));
  }
}

TEST_F(HeadersTest, SleepsAndUsesCacheHints) {
  Buffer<float> In(std::vector<float>(32, 1.25f)), Out(32);
  Buffer<int> Flag(1);
  mustRun("caches", shape({1, 1, 1}, {32, 1, 1}),
          arguments(In.data(), Out.data(), Flag.data()));
  for (int I = 0; I < 32; ++I)
    EXPECT_EQ(Out[I], 2.5f);
}

} // namespace r3::cpu
