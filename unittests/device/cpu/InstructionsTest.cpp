// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Single PTX instructions (Instructions.cu), against what the PTX ISA says.
#include "unittests/device/cpu/Harness.h"

namespace r3::cpu {

class InstructionsTest : public CpuTest {
protected:
  InstructionsTest() { File = "Instructions"; }

  /// Runs one thread and compares all that it writes.
  void expect(const char *Kernel, const std::vector<uint32_t> &Input,
              const std::vector<uint32_t> &Wanted) {
    Buffer<uint32_t> In(Input), Out(Wanted.size() + 1);
    Out[Wanted.size()] = 0xabcdef01;
    mustRun(Kernel, shape({1, 1, 1}, {1, 1, 1}),
            arguments(In.data(), Out.data()));
    for (size_t I = 0; I < Wanted.size(); ++I)
      EXPECT_EQ(Out[I], Wanted[I]) << "result " << I << " of " << Kernel;
    EXPECT_EQ(Out[Wanted.size()], 0xabcdef01) << "more results in " << Kernel;
  }
};

TEST_F(InstructionsTest, CarriesFromOneStatementToTheNext) {
  std::vector<uint64_t> Values = {0,
                                  1,
                                  0xffffffff,
                                  0x100000000,
                                  0xfedcba9876543210,
                                  0x123456789abcdef0,
                                  ~0ull,
                                  1ull << 63};
  std::vector<uint64_t> Pairs;
  for (uint64_t A : Values)
    for (uint64_t B : Values)
      Pairs.insert(Pairs.end(), {A, B});
  auto Count = static_cast<uint32_t>(Pairs.size() / 2);
  Buffer<uint64_t> In(Pairs), Out(4 * Count);
  mustRun("carries", shape({1, 1, 1}, {Count, 1, 1}),
          arguments(In.data(), Out.data()));
  for (uint32_t I = 0; I < Count; ++I) {
    uint64_t A = Pairs[2 * I], B = Pairs[2 * I + 1];
    uint64_t Product = (A & 0xffffffff) * (B & 0xffffffff);
    // The low words are multiplied and added; the upper word has its own.
    uint64_t Low = (Product & 0xffffffff) + (A & 0xffffffff);
    uint64_t High = (Product >> 32) + (A >> 32) + (Low >> 32);
    EXPECT_EQ(Out[4 * I], A + B);
    EXPECT_EQ(Out[4 * I + 1], A - B);
    EXPECT_EQ(Out[4 * I + 2], High << 32 | (Low & 0xffffffff));
    unsigned __int128 Carry = (static_cast<unsigned __int128>(A) + B) >> 64;
    Carry = (static_cast<unsigned __int128>(A) + B + Carry) >> 64;
    EXPECT_EQ(Out[4 * I + 3], static_cast<uint64_t>(Carry));
  }
}

TEST_F(InstructionsTest, TakesFieldsOfBits) {
  constexpr uint32_t A = 0x80f0adc3, B = 0x1234f00f, C = 0x0f0f0f0f;
  expect("fields", {A, B},
         {0xdc,
          0xffffffdc,
          0xfffffff8,
          0xffffffff,
          0,
          0,
          A,
          0xf80f0adc,
          0xffffffff,
          0xf00f0000,
          0x1234,
          31,
          30,
          0xffffffff,
          3,
          0x3f0,
          0x3f0,
          0xffffffc3,
          0xc3,
          0xc30080f0,
          0x0f80f0ad,
          6,
          (A & B) | (~A & C),
          A - B + 5,
          B - A + 5,
          0x7fffffff,
          0x80000000,
          0xfe800003,
          static_cast<uint32_t>((static_cast<uint64_t>(A) * B) >> 32) + 7,
          0,
          255,
          0xffffff80,
          0xffffffff,
          2,
          0xbf800000});
}

TEST_F(InstructionsTest, ComparesAndCombines) {
  expect("comparisons", {0x3f800000, 0x40000000, 0x7fc00000},
         {1, 0,          // a < b and true; its opposite and true
          0, 1,          // b < a or not true
          0,             // b >= a xor true
          0x3f800000,    // unordered
          0xffffffff, 0, // 1 below and above -1
          1, 0,          // a subnormal number is none of the normal ones
          1, 0,          // the halves of a pair
          0x3c003c00, 0x0000ffff});
}

TEST_F(InstructionsTest, FlushesAndSaturatesWhereItSaysSo) {
  expect("modifiers", {0x00000fff, 0x00800000, 0x7fc00001},
         {0x00400000, 0, 0x80000000, 0, 0x00800000, // .ftz
          0x3f800000, 0, 0,                         // .sat, also of NaN
          0x3f800000, 0x3f800001,                   // .rz, .rp
          0x7f800000, 0, 0, 0,                      // .ftz of sources
          0x00003c00, 0x00003f80, 0x00004000});     // pairs
}

TEST_F(InstructionsTest, RunsWarpOperations) {
  Buffer<uint32_t> Out(64 * 12 + 1);
  mustRun("lanes", shape({1, 1, 1}, {64, 1, 1}), arguments(Out.data()));
  for (uint32_t I = 0; I < 64; ++I) {
    uint32_t First = I / 32 * 32, Lane = I % 32, Thirds = 0;
    for (uint32_t L = 0; L < 32; ++L)
      Thirds |= ((First + L) % 3 == 0) << L;
    uint32_t Wanted[] = {0,
                         Lane == 0,
                         0 - First,
                         First + 5,
                         ~0u,
                         1,
                         40,
                         0,
                         1,
                         1,
                         I % 3 ? ~Thirds : Thirds};
    for (int K = 0; K < 11; ++K)
      EXPECT_EQ(Out[12 * I + K], Wanted[K]) << K << " in thread " << I;
    EXPECT_LE(Out[12 * I + 11], 9u);
  }
  EXPECT_EQ(Out[64 * 12], 4u); // 64 steps of 0 to 9
}

} // namespace r3::cpu
