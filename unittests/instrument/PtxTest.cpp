// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the CPU device runs in the other tests is code that ptxas takes, too,
// functions of libdevice for double included.
#include "unittests/instrument/Harness.h"
#include "wrapper/replay/CudaCodegen.h"
#include "wrapper/replay/Ptxas.h"

#include <gmock/gmock.h>

using ::testing::HasSubstr;
using ::testing::Not;

namespace r3::cpu {

static std::string ptxOf(const std::string &Kernel, const std::string &Build) {
  auto Code = replay::instrument(bitcodeOf("Kernels"), Kernel, Build);
  EXPECT_TRUE(Code) << Code.error().message();
  auto Closure = replay::CudaClosure::parse(Code->Bitcode, Kernel);
  EXPECT_TRUE(Closure) << Closure.error().message();
  std::map<std::string, double> Ms;
  auto Ptx = (*Closure)->toPtx(Variant(), "O2", Ms);
  EXPECT_TRUE(Ptx) << Ptx.error().message();
  replay::PtxasOptions O;
  O.Arch = "sm_90";
  O.Level = "O2";
  O.Kernel = Kernel;
  replay::PtxasResult R = replay::runPtxas(*Ptx, O);
  EXPECT_EQ(R.Ending, Outcome::Ok) << Kernel << " " << Build << R.Message;
  return *Ptx;
}

TEST(PtxTest, PtxasTakesInstrumentedCode) {
  for (const char *Kernel : {"fma_d", "u64_f", "both", "pairs", "power_d"})
    ptxOf(Kernel, "round");
  for (const char *Kernel : {"dot", "binned", "bits", "both"})
    ptxOf(Kernel, "double");
  for (const char *Kernel : {"defined", "flag", "dynamic"}) {
    ptxOf(Kernel, "freeze-0");
    ptxOf(Kernel, "freeze-1");
  }
}

TEST(PtxTest, BlocksThatWereLaunchedStillCanBe) {
  for (const auto &[Threads, Has] : {std::pair(1024, true), {0, false}}) {
    auto Code = replay::instrument(bitcodeOf("Kernels"), "dot", "trace",
                                   static_cast<uint64_t>(Threads));
    ASSERT_TRUE(Code) << Code.error().message();
    auto Closure = replay::CudaClosure::parse(Code->Bitcode, "dot");
    ASSERT_TRUE(Closure) << Closure.error().message();
    std::map<std::string, double> Ms;
    auto Ptx = (*Closure)->toPtx(Variant(), "O2", Ms);
    ASSERT_TRUE(Ptx) << Ptx.error().message();
    EXPECT_EQ(Ptx->find(".maxntid 1024") != Ptx->npos, Has) << *Ptx;
  }
}

TEST(PtxTest, ResidualsAreNotFused) {
  const std::string Ptx = ptxOf("fma_d", "round");
  EXPECT_THAT(Ptx, HasSubstr("mul.rn.f64"));
  EXPECT_THAT(Ptx, HasSubstr("fma.rn.f64"));
  EXPECT_THAT(Ptx, HasSubstr("add.rn.f64"));
  EXPECT_THAT(Ptx, HasSubstr(".global .align 8 .u64 __r3_round_seed"));
}

TEST(PtxTest, LibdeviceIsThatOfDouble) {
  const std::string Ptx = ptxOf("mixed", "double");
  EXPECT_THAT(Ptx, HasSubstr("fma.rn.f64"));
  EXPECT_THAT(Ptx, Not(HasSubstr("ex2.approx")));
}

} // namespace r3::cpu
