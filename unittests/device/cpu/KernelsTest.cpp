// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each language feature of kernels against its expected results, at -O0 and at
// -O2 (Kernels.cu).
#include "unittests/device/cpu/Harness.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

namespace r3::cpu {

class FeatureTest : public CpuTest,
                    public ::testing::WithParamInterface<const char *> {
protected:
  void SetUp() override { Options.Level = GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(Levels, FeatureTest, ::testing::Values("O0", "O2"),
                         [](auto &Info) { return std::string(Info.param); });

template <typename Type> std::vector<Type> countUp(size_t N, Type First = 0) {
  std::vector<Type> Result(N);
  std::iota(Result.begin(), Result.end(), First);
  return Result;
}

TEST_P(FeatureTest, KnowsItsPlace) {
  Dim3 Grid{2, 3, 2}, Block{4, 2, 3};
  Buffer<uint32_t> Out(12 * 24);
  mustRun("geometry", shape(Grid, Block), arguments(Out.data()));
  size_t At = 0;
  for (uint32_t BZ = 0; BZ < 2; ++BZ)
    for (uint32_t BY = 0; BY < 3; ++BY)
      for (uint32_t BX = 0; BX < 2; ++BX)
        for (uint32_t Z = 0; Z < 3; ++Z)
          for (uint32_t Y = 0; Y < 2; ++Y)
            for (uint32_t X = 0; X < 4; ++X)
              ASSERT_EQ(Out[At++], X | Y << 4 | Z << 8 | BX << 12 | BY << 16 |
                                       BZ << 20 | 2u << 24);
}

struct Mixed {
  char C;
  double D;
  short S[3];
};
struct Empty {};

TEST_P(FeatureTest, ReadsParametersAtTheirOffsets) {
  Buffer<double> Out(3);
  Mixed M{3, 0.25, {1, 2, 40}};
  mustRun("parameters", shape({1, 1, 1}, {3, 1, 1}),
          arguments(char(1), M, short(500), Empty(), Out.data(), true, 0.5f,
                    1LL << 40));
  for (size_t I = 0; I < 3; ++I)
    EXPECT_EQ(Out[I], 1 + 3 + 1.25 + 40 + 500 + 1 + 0.5 + double(1LL << 40));
}

TEST_P(FeatureTest, SharesMemoryInABlock) {
  Buffer<int> In(countUp<int>(512)), Out(512);
  mustRun("reverse", shape({2, 1, 1}, {256, 1, 1}, 1024),
          arguments(In.data(), Out.data()));
  for (int B = 0; B < 2; ++B)
    for (int I = 0; I < 256; ++I) {
      auto Reversed = [&](int J) { return B * 256 + 255 - J; };
      ASSERT_EQ(Out[B * 256 + I], Reversed(I) * 2 + Reversed((I + 1) % 256));
    }
}

/// Threads as loops, which share a stack, and as fibers, which have one each.
TEST_P(FeatureTest, FillsSharedAndLocalMemoryBeforeALaunch) {
  constexpr uint32_t Bytes = 10000, Threads = 96, Blocks = 5;
  for (const char *Name : {"leftoversOfLoops", "leftoversOfFibers"}) {
    auto Kernel = load(Name);
    ASSERT_TRUE(Kernel) << Kernel.error().message();
    auto Info = Device.info(*Kernel);
    ASSERT_TRUE(Info && Info->LocalBytes >= 256);
    Buffer<uint32_t> Shared(Threads * Blocks), Local(Threads * Blocks);
    const auto A = arguments(Shared.data(), Local.data(), Bytes);
    const auto Config = shape({Blocks, 1, 1}, {Threads, 1, 1}, Bytes);
    for (uint8_t Byte : {0xFF, 0x5B}) {
      ASSERT_FALSE(Device.fillScratch(Byte, Info->LocalBytes, nullptr));
      ASSERT_FALSE(run(*Kernel, Config, A));
      for (uint32_t I = 0; I < Threads * Blocks; ++I) {
        ASSERT_EQ(Shared[I], Byte * 0x01010101u) << Name << " " << I;
        ASSERT_EQ(Local[I], Byte * 0x01010101u) << Name << " " << I;
      }
    }
    // It is for one launch.
    ASSERT_FALSE(run(*Kernel, Config, A));
    EXPECT_NE(Shared[Threads * Blocks - 1], 0x5B5B5B5Bu);
  }
  EXPECT_TRUE(bool(Device.fillScratch(1, 1, &Device)));
}

TEST_P(FeatureTest, VotesAtBarriers) {
  Buffer<int> In(countUp<int>(100, 1)), Out(100);
  mustRun("barrierVotes", shape({1, 1, 1}, {100, 1, 1}),
          arguments(In.data(), Out.data()));
  for (int I = 0; I < 100; ++I)
    ASSERT_EQ(Out[I], 90 * 100 + 10);
}

TEST_P(FeatureTest, HasNamedBarriers) {
  Buffer<int> Out(64 + 128);
  mustRun("namedBarriers", shape({1, 1, 1}, {128, 1, 1}),
          arguments(Out.data()));
  for (int I = 0; I < 64; ++I)
    ASSERT_EQ(Out[I], (63 - I) * 3);
  for (int I = 0; I < 128; ++I)
    ASSERT_EQ(Out[64 + I], 7 + I / 64);
}

TEST_P(FeatureTest, CountsThreadsThatEndedAtBarriers) {
  Buffer<int> Out(200);
  mustRun("earlyExit", shape({1, 1, 1}, {200, 1, 1}),
          arguments(Out.data(), 77));
  for (int I = 0; I < 200; ++I)
    ASSERT_EQ(Out[I], I < 77 ? 77 : 0);
}

TEST_P(FeatureTest, Shuffles) {
  Buffer<int> Out(64 * 8);
  Buffer<double> Doubles(64);
  mustRun("shuffles", shape({1, 1, 1}, {64, 1, 1}),
          arguments(Out.data(), Doubles.data()));
  for (int T = 0; T < 64; ++T) {
    int L = T % 32;
    int *O = &Out[T * 8];
    ASSERT_EQ(O[0], 50);
    ASSERT_EQ(O[1], L < 3 ? L : L - 3);
    ASSERT_EQ(O[2], L + 3 > 31 ? L : L + 3);
    ASSERT_EQ(O[3], L ^ 7);
    ASSERT_EQ(O[4], L / 8 * 8 + 1);
    ASSERT_EQ(O[5], L % 4 ? L - 1 : L);
    ASSERT_EQ(O[6], L % 4 == 3 ? L : L + 1);
    ASSERT_EQ(O[7], L < 8 ? L ^ 1 : 0);
    ASSERT_EQ(Doubles[T], (L < 16 ? L + 16 : L) + 0.5);
  }
}

TEST_P(FeatureTest, VotesInAWarp) {
  Buffer<uint32_t> Out(32 * 12);
  mustRun("votes", shape({1, 1, 1}, {32, 1, 1}), arguments(Out.data()));
  uint32_t Xor = 0, Thirds = 0;
  for (uint32_t L = 0; L < 32; ++L) {
    Xor ^= L * L;
    Thirds |= L % 3 ? 0 : 1u << L;
  }
  for (uint32_t L = 0; L < 32; ++L) {
    uint32_t *O = &Out[L * 12];
    EXPECT_EQ(O[0], 0xaaaaaaaau);
    EXPECT_EQ(O[1], 1u);
    EXPECT_EQ(O[2], 0u);
    EXPECT_EQ(O[3], 0u);
    EXPECT_EQ(O[4], 0xfu << (L / 4 * 4));
    EXPECT_EQ(O[5], ~0u);
    EXPECT_EQ(O[6], 1u);
    EXPECT_EQ(O[7], 496u);
    EXPECT_EQ(int(O[8]), -9);
    EXPECT_EQ(O[9], Xor);
    EXPECT_EQ(O[10], L % 3 ? 0 : Thirds);
    EXPECT_EQ(O[11], L % 2 ? 0xaaaaaaaau : 0x55555555u);
  }
}

TEST_P(FeatureTest, ReducesWithShuffles) {
  const int N = 100000;
  Buffer<float> In(std::vector<float>(N, 0.5f)), Out(1);
  mustRun("warpSum", shape({8, 1, 1}, {256, 1, 1}),
          arguments(In.data(), Out.data(), N));
  EXPECT_EQ(Out[0], N * 0.5f);
}

TEST_P(FeatureTest, HasAtomics) {
  const unsigned Blocks = 6, Threads = 96, N = Blocks * Threads;
  Buffer<int> I(8);
  Buffer<uint32_t> U({0, ~0u, 0, 0, 0});
  Buffer<uint64_t> L(2);
  Buffer<float> F(2);
  Buffer<double> D(2);
  Buffer<uint16_t> H(2);
  mustRun(
      "atomics", shape({Blocks, 1, 1}, {Threads, 1, 1}),
      arguments(I.data(), U.data(), L.data(), F.data(), D.data(), H.data()));
  uint32_t Xor = 0, Dec = 0;
  for (uint32_t T = 0; T < N; ++T) {
    Xor ^= T;
    Dec = Dec == 0 || Dec > 9 ? 9 : Dec - 1;
  }
  EXPECT_EQ(I[0], int(2 * N));
  EXPECT_EQ(I[1], -int(N));
  EXPECT_EQ(I[2], int(N) - 6);
  EXPECT_EQ(I[3], -int(N - 1));
  EXPECT_EQ(I[4], int(N));
  EXPECT_EQ(I[5], int(N));
  EXPECT_EQ(I[6], 42);
  EXPECT_EQ(U[0], ~0u);
  EXPECT_EQ(U[1], 0xffff0000u);
  EXPECT_EQ(U[2], Xor);
  EXPECT_EQ(U[3], N % 10);
  EXPECT_EQ(U[4], Dec);
  EXPECT_EQ(L[0], uint64_t(N) << 33);
  EXPECT_EQ(L[1], uint64_t(N - 1) << 40);
  EXPECT_EQ(F[0], 0.5f * N);
  EXPECT_EQ(F[1], float(N));
  EXPECT_EQ(D[0], 0.25 * N);
  EXPECT_EQ(D[1], double(N));
  EXPECT_EQ(H[0], N);
}

TEST_P(FeatureTest, LetsOthersRunWhileAThreadWaits) {
  Buffer<int> Lock(1), Count(1), Flags(128);
  mustRun("spinLock", shape({8, 1, 1}, {64, 1, 1}),
          arguments(Lock.data(), Count.data()));
  EXPECT_EQ(Count[0], 8 * 64);
  mustRun("chain", shape({1, 1, 1}, {128, 1, 1}), arguments(Flags.data()));
  for (int I = 0; I < 128; ++I)
    EXPECT_EQ(Flags[I], 1);
}

TEST_P(FeatureTest, KeepsAllBlocksOfACooperativeLaunchAlive) {
  auto Kernel = load("gridBarrier");
  ASSERT_TRUE(bool(Kernel)) << Kernel.error().message();
  uint32_t Blocks = Device.maxCooperativeBlocks(64);
  Buffer<uint32_t> Arrived(1);
  Buffer<int> Data(Blocks), Out(Blocks);
  LaunchConfig Config = shape({Blocks, 1, 1}, {64, 1, 1});
  Config.Cooperative = true;
  Arguments A = arguments(Arrived.data(), Data.data(), Out.data());
  EXPECT_EQ(run(*Kernel, Config, A).message(), "");
  for (uint32_t I = 0; I < Blocks; ++I)
    ASSERT_EQ(Out[I], int(Blocks * (Blocks + 1) / 2));
  Config.Grid[0] = Blocks + 1;
  EXPECT_NE(run(*Kernel, Config, A).message().find("fit at once"),
            std::string::npos);
}

TEST_P(FeatureTest, HasGlobals) {
  auto Kernel = load("globals");
  ASSERT_TRUE(bool(Kernel)) << Kernel.error().message();
  Buffer<float> Out({1, 3});
  EXPECT_EQ(run(*Kernel, shape({1, 1, 1}, {1, 1, 1}), arguments(Out.data()))
                .message(),
            "");
  EXPECT_EQ(Out[0], 3.f + 101);
  EXPECT_EQ(Out[1], 7.f);
  auto Counter = Module->global("Counter");
  auto Buffer = Module->global("Buffer");
  ASSERT_TRUE(Counter && Buffer);
  EXPECT_EQ(Counter->Size, 4u);
  EXPECT_EQ(*reinterpret_cast<int *>(Counter->Begin), 6);
  EXPECT_EQ(Buffer->Size, 32u);
  EXPECT_EQ(reinterpret_cast<int *>(Buffer->Begin)[2], 77);
  auto Table = Module->global("Table");
  ASSERT_TRUE(bool(Table));
  EXPECT_EQ(reinterpret_cast<float *>(Table->Begin)[3], 4.f);
  EXPECT_TRUE(bool(Device.allocationOf(Counter->Begin)));
  EXPECT_FALSE(bool(Module->global("Primes")));
}

TEST_P(FeatureTest, CallsThroughPointers) {
  Buffer<float> Out(8);
  mustRun("functionPointers", shape({1, 1, 1}, {8, 1, 1}),
          arguments(Out.data()));
  for (int I = 0; I < 8; ++I)
    EXPECT_EQ(Out[I], I % 2 ? I * I : 2 * I);
  mustRun("virtualCalls", shape({1, 1, 1}, {8, 1, 1}), arguments(Out.data()));
  for (int I = 0; I < 8; ++I)
    EXPECT_EQ(Out[I], I % 2 ? (2 + I) * (2 + I) : 3 * I * I);
}

TEST_P(FeatureTest, HasStacks) {
  Buffer<uint32_t> Fibonacci(20);
  mustRun("recursion", shape({1, 1, 1}, {20, 1, 1}),
          arguments(Fibonacci.data()));
  EXPECT_EQ(Fibonacci[19], 4181u);
  Buffer<int> In(countUp<int>(64)), Out(64);
  mustRun("localArray", shape({1, 1, 1}, {64, 1, 1}),
          arguments(In.data(), Out.data(), 5));
  for (int T = 0; T < 64; ++T) {
    std::vector<int> Own(64);
    for (int I = 0; I < 64; ++I)
      Own[(I * 7 + T) % 64] = I;
    ASSERT_EQ(Out[T], Own[5] + Own[(5 + T) % 64]);
  }
}

TEST_P(FeatureTest, CopiesBytes) {
  Buffer<char> In(countUp<char>(80)), Out(64 * 32);
  mustRun("copies", shape({1, 1, 1}, {32, 1, 1}),
          arguments(In.data(), Out.data()));
  for (int T = 0; T < 32; ++T)
    for (int I = 0; I < 64; ++I)
      ASSERT_EQ(Out[64 * T + I], I < 33 ? T + I : I == 50 ? T + 3 : 7);
}

TEST_P(FeatureTest, Prints) {
  ::testing::internal::CaptureStdout();
  mustRun("prints", shape({1, 1, 1}, {1, 1, 1}), arguments(3));
  fflush(stdout);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(),
            "3  3.50 text c 3298534883328 4294967295 ff %|3   |0x10\n");
}

TEST_P(FeatureTest, RunsSmallAssembly) {
  Buffer<uint32_t> Out(32);
  mustRun("smallAssembly", shape({1, 1, 1}, {32, 1, 1}), arguments(Out.data()));
  for (uint32_t L = 0; L < 32; ++L)
    EXPECT_EQ(Out[L], L + 15 + 0x18);
}

TEST_P(FeatureTest, AccessesAllThatIsAllowedUnderChecks) {
  Options.CheckBounds = true;
  Buffer<int> Out(32);
  Mixed M{3, 0.25, {1, 2, 40}};
  mustRun("withinBounds", shape({1, 1, 1}, {32, 1, 1}, 128),
          arguments(Out.data(), M, 2));
  for (int T = 0; T < 32; ++T)
    EXPECT_EQ(Out[31 - T], T % 4 + 1 + 5 + 43);
  Buffer<int> In(countUp<int>(512)), Reversed(512);
  mustRun("reverse", shape({2, 1, 1}, {256, 1, 1}, 1024),
          arguments(In.data(), Reversed.data()));
  EXPECT_EQ(Reversed[0], 255 * 2 + 254);
}

// --- Faults, refusals and limits.

class FaultTest : public CpuTest {};

TEST_F(FaultTest, ReportsAssertions) {
  ::testing::internal::CaptureStderr();
  std::string Message =
      tryRun("asserts", shape({1, 1, 1}, {8, 1, 1}), arguments(3));
  std::string Printed = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(Message.find("thread (4,0,0): Kernels.cu:"), std::string::npos)
      << Message;
  EXPECT_NE(Message.find("assertion `N + threadIdx.x < 7` failed"),
            std::string::npos);
  EXPECT_NE(Printed.find("thread: [4,0,0] Assertion"), std::string::npos);
  DeviceFault Fault = Device.fault();
  EXPECT_EQ(Fault.Kind, Outcome::IllegalAccess);
  EXPECT_FALSE(Fault.Sticky);
  EXPECT_EQ(Device.peekFault().Kind, Outcome::Ok);
}

TEST_F(FaultTest, ReportsTrapsWithAndWithoutFibers) {
  for (const char *Name : {"traps", "trapsInBarrier"}) {
    Buffer<int> Out(8);
    EXPECT_EQ(tryRun(Name, shape({1, 1, 1}, {8, 1, 1}), arguments(Out.data())),
              std::string(Name) + ": block (0,0,0) thread (3,0,0): trap");
    EXPECT_EQ(Device.fault().Kind, Outcome::IllegalAccess);
    mustRun("geometry", shape({1, 1, 1}, {8, 1, 1}), arguments(Out.data()));
  }
}

TEST_F(FaultTest, NamesDeadlocks) {
  Buffer<int> Out(32);
  std::string Message =
      tryRun("deadlock", shape({1, 1, 1}, {32, 1, 1}), arguments(Out.data()));
  EXPECT_NE(Message.find("7 wait at barrier 1 (first: thread (0,0,0))"),
            std::string::npos)
      << Message;
  EXPECT_NE(Message.find("1 wait at __syncwarp(0x00000088) (first: thread "
                         "(7,0,0))"),
            std::string::npos)
      << Message;
  EXPECT_EQ(Device.fault().Kind, Outcome::Deadlock);
}

TEST_F(FaultTest, FindsAccessesOutOfBounds) {
  Options.CheckBounds = true;
  Buffer<int> Out(32);
  std::string Message = tryRun("outOfBounds", shape({1, 1, 1}, {32, 1, 1}),
                               arguments(Out.data(), 40));
  EXPECT_NE(Message.find("block (0,0,0) thread (9,0,0): store of 4 bytes at "),
            std::string::npos)
      << Message;
  EXPECT_NE(Message.find("Kernels.cu:"), std::string::npos) << Message;
  EXPECT_EQ(Device.fault().Kind, Outcome::OutOfBounds);
  // The launch ended there.
  for (int I = 0; I < 32; ++I)
    EXPECT_EQ(Out[I], I < 10 ? I : 0);
}

TEST_F(FaultTest, RefusesWhatItCannotRun) {
  Buffer<uint32_t> Out(1);
  struct {
    const char *Kernel, *Message;
  } Cases[] = {
      {"assembly", "cannot run inline assembly \"mov.u32 $0, %smid;"},
      {"assembly", "Kernels.cu:"},
      {"callsElsewhere", "elsewhere(int*): it is not defined in this unit"},
      {"unknownIntrinsic", "cannot run llvm.nvvm.barrier.cluster.arrive"},
      {"noSuchKernel", "no kernel noSuchKernel"},
  };
  for (auto &Case : Cases) {
    auto Kernel = load(Case.Kernel);
    ASSERT_FALSE(bool(Kernel)) << Case.Kernel;
    EXPECT_NE(Kernel.error().message().find(Case.Message), std::string::npos)
        << Kernel.error().message();
  }
  EXPECT_EQ(load("assembly").error().code(), ErrorCode::CannotRunHere);
}

TEST_F(FaultTest, ChecksLaunchesAsCudaDoes) {
  Buffer<int> Out(1024);
  Arguments A = arguments(Out.data());
  auto Kernel = load("bounded");
  ASSERT_TRUE(bool(Kernel));
  EXPECT_FALSE(run(*Kernel, shape({1, 1, 1}, {64, 1, 1}), A));
  EXPECT_EQ(Device.info(*Kernel)->MaxThreads, 64u);
  for (const LaunchConfig &Bad :
       {shape({1, 1, 1}, {65, 1, 1}), shape({0, 1, 1}, {1, 1, 1}),
        shape({1, 65536, 1}, {1, 1, 1}), shape({1, 1, 1}, {1, 1, 65}),
        shape({1, 1, 1}, {1, 1, 1}, 48 * 1024 + 4)})
    EXPECT_TRUE(bool(run(*Kernel, Bad, A)));
  EXPECT_TRUE(bool(run(*Kernel, shape({1, 1, 1}, {1, 1, 1}), Arguments())));
  Kernel = load("tooMuchShared");
  ASSERT_TRUE(bool(Kernel));
  LaunchConfig Config = shape({1, 1, 1}, {1024, 1, 1}, 227 * 1024);
  EXPECT_TRUE(bool(run(*Kernel, Config, A)));
  Config.MaxDynamicShared = 227 * 1024;
  EXPECT_EQ(run(*Kernel, Config, A).message(), "");
  EXPECT_TRUE(bool(run(*Kernel, shape({1, 1, 1}, {1025, 1, 1}), A)));
}

TEST_F(FaultTest, RunsOtherPipelines) {
  for (const char *Pipeline :
       {"default<O1>", "default<O3>",
        "function(sroa,early-cse,instcombine<no-verify-fixpoint>,gvn)",
        "function(mem2reg,loop-mssa(licm),loop-unroll<O3>)"}) {
    Options.Pipeline = Pipeline;
    Buffer<int> In(countUp<int>(512)), Out(512);
    mustRun("reverse", shape({2, 1, 1}, {256, 1, 1}, 1024),
            arguments(In.data(), Out.data()));
    EXPECT_EQ(Out[0], 255 * 2 + 254) << Pipeline;
  }
  Options.Pipeline = "no-such-pass";
  EXPECT_NE(load("reverse").error().message().find("no-such-pass"),
            std::string::npos);
}

TEST_F(FaultTest, CompilesTheSameBytesAgain) {
  Options.Kernel = "warpSum";
  std::vector<uint8_t> Bitcode = bitcodeOf(File);
  auto First = compileForCpu(Bitcode, Options);
  auto Second = compileForCpu(Bitcode, Options);
  ASSERT_TRUE(First && Second);
  EXPECT_EQ(*First, *Second);
  auto Text = cpuDefaultPipeline("O2");
  ASSERT_TRUE(bool(Text));
  Options.Pipeline = *Text;
  EXPECT_TRUE(bool(compileForCpu(Bitcode, Options)));
}

TEST_F(FaultTest, RejectsDamagedInput) {
  Options.Kernel = "reverse";
  std::vector<uint8_t> Bitcode = bitcodeOf(File);
  for (size_t Size : {size_t(0), size_t(3), Bitcode.size() / 2})
    EXPECT_FALSE(bool(compileForCpu({Bitcode.data(), Size}, Options)));
  auto Object = compileForCpu(Bitcode, Options);
  ASSERT_TRUE(bool(Object));
  for (size_t Size = 0; Size < Object->size(); Size += 97)
    EXPECT_FALSE(bool(Device.load({Object->data(), Size}))) << Size;
}

} // namespace r3::cpu
