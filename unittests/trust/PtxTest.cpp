// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/trust/Ptx.h"

#include <gmock/gmock.h>

using namespace r3;
using namespace r3::trust;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::StartsWith;

namespace {

/// A text around a body.
std::string
kernel(const std::string &Body, const std::string &Before = "",
       const std::string &Parameters = ".param .u64 .ptr .align 1 k_param_0,\n"
                                       ".param .align 4 .b8 k_param_1[24]") {
  return ".version 8.8\n.target sm_90\n.address_size 64\n" + Before +
         "\t// .globl k\n.visible .entry k(\n" + Parameters + "\n)\n" +
         ".maxntid 128, 1, 1\n{\n" + Body + "\tret;\n}\n";
}

std::string refusal(const std::string &Given,
                    const std::string &Original = kernel("")) {
  return ptxRefusal(readPtx(Original), readPtx(Given), "k");
}

TEST(Ptx, ReadsKernelsAndTheirParameters) {
  const Ptx P = readPtx(kernel(""));
  ASSERT_EQ(P.Entries.size(), 1u);
  EXPECT_THAT(P.Entries.at("k"),
              ElementsAre(PtxParameter{8, 8}, PtxParameter{24, 4}));
  EXPECT_THAT(readPtx(".entry k()\n{\nret;\n}").Entries,
              ElementsAre(Pair("k", ElementsAre())));
}

TEST(Ptx, CountsInstructions) {
  const Ptx P =
      readPtx(kernel("  .reg .f32 %f<3>;\n"
                     "  .loc 1 2 3\n"
                     "  add.f32 %f1, %f2, 0f3F800000;\n"
                     "$L_1: @!%p1 add.f32 %f1, %f2, %f1;\n"
                     "  ld.global.v2.f32 {%f1, %f2}, [%rd1];\n"
                     "  { .reg .b32 tmp; mov.b64 {%r1, tmp}, %rd1; }\n"
                     "  ld.global.L2::128B.b32 %r1, [%rd1];\n"
                     "  .pragma \"nounroll; sub.f32\";\n"
                     "  /* mul.f32 a, b, c; */ // div.full.f32 a;\n"
                     "  call.uni (retval0), f, (param0);\n"));
  EXPECT_THAT(P.Instructions,
              ElementsAre(Pair("add.f32", 2), Pair("call.uni", 1),
                          Pair("ld.global.L2::128B.b32", 1),
                          Pair("ld.global.v2.f32", 1), Pair("mov.b64", 1),
                          Pair("ret", 1)));
  EXPECT_FALSE(P.CallsPointers);
}

TEST(Ptx, SharesMemoryWhereSomeIsDeclaredOrAccessed) {
  EXPECT_FALSE(readPtx(kernel("  ld.global.f32 %f1, [%rd1];\n")).SharesMemory);
  for (const char *Before : {".shared .align 4 .b8 tile[64];\n",
                             ".extern .shared .align 16 .b8 all[];\n"})
    EXPECT_TRUE(readPtx(kernel("", Before)).SharesMemory);
  EXPECT_TRUE(readPtx(kernel("  st.shared.f32 [%r1], %f1;\n")).SharesMemory);
  EXPECT_TRUE(
      readPtx(kernel("  red.async.shared::cluster.add.u32 [%r1], %r2;\n"))
          .SharesMemory);
  EXPECT_TRUE(readPtx(kernel("{ .shared .b32 own; ld.u32 %r1, [own]; }\n"))
                  .SharesMemory);
}

TEST(Ptx, SynchronizesWhereThreadsWaitForEachOther) {
  for (const char *Waits :
       {"bar.sync 0", "bar.warp.sync 1", "barrier.sync 0",
        "@%p1 bar.red.popc.u32 %r1, 0, %p2", "barrier.cluster.arrive",
        "mbarrier.init.shared.b64 [%r1], 2",
        "shfl.sync.down.b32 %r1, %r2, 1, 31, -1",
        "match.any.sync.b32 %r1, %r2, -1", "redux.sync.add.s32 %r1, %r2, -1"})
    EXPECT_TRUE(synchronizes(readPtx(kernel(std::string(Waits) + ";\n"))))
        << Waits;
  for (const char *Alone : {"ld.shared.f32 %f1, [%r1]", "membar.gl",
                            "fence.acq_rel.gpu", "atom.add.u32 %r1, [%rd1], 1"})
    EXPECT_FALSE(synchronizes(readPtx(kernel(std::string(Alone) + ";\n"))))
        << Alone;
}

TEST(Ptx, TakesThePlaceOfTheOriginal) {
  EXPECT_EQ(
      refusal(kernel("  add.f32 %f1, %f2, %f1;\n",
                     ".const .align 4 .b8 table[8] = {1, 2, 3, 4};\n"
                     ".shared .align 4 .b8 tile[64];\n"
                     ".func (.param .b32 r) f(.param .b32 a)\n{ ret; }\n")),
      "");
}

TEST(Ptx, HasNoOtherKernels) {
  EXPECT_THAT(refusal(kernel("", ".visible .entry other()\n{ ret; }\n")),
              HasSubstr("another entry, other"));
  EXPECT_THAT(refusal(""), HasSubstr("no entry k"));
}

TEST(Ptx, HasTheSameParameters) {
  EXPECT_THAT(refusal(kernel("", "", ".param .u64 a")),
              HasSubstr("takes other parameters (8 bytes aligned to 8) than "
                        "the recorded one (8 bytes aligned to 8, 24 bytes "
                        "aligned to 4)"));
  EXPECT_THAT(
      refusal(kernel("", "", ".param .u64 a, .param .align 8 .b8 b[24]")),
      HasSubstr("24 bytes aligned to 8"));
}

TEST(Ptx, BringsNothingNewFromOutside) {
  const std::string Extern = ".extern .func (.param .b32 r) vprintf (.param "
                             ".b64 a, .param .b64 b)\n;\n";
  EXPECT_THAT(refusal(kernel("", Extern)), HasSubstr("calls vprintf"));
  EXPECT_EQ(refusal(kernel("", Extern), kernel("", Extern)), "");

  const std::string Variable = ".visible .global .align 4 .u32 seen[2] = {1, "
                               "2};\n";
  EXPECT_THAT(refusal(kernel("", Variable)), HasSubstr("the variable seen"));
  EXPECT_EQ(refusal(kernel("", Variable), kernel("", Variable)), "");

  const std::string Pointer =
      "  call (retval0), %rd3, (param0), prototype_0;\n";
  EXPECT_THAT(refusal(kernel(Pointer)), HasSubstr("through pointers"));
  EXPECT_EQ(refusal(kernel(Pointer), kernel(Pointer)), "");
}

TEST(Ptx, LooksAtNoClock) {
  for (const std::string Line :
       {"mov.u64 %rd1, %clock64;", "mov.u32 %r1, %clock_hi;",
        "mov.u64 %rd1, %globaltimer;", "mov.u64 %rd1, %gridid;",
        "nanosleep.u32 20;", "mov.u32 %r1, %pm0;", "mov.b32 %r1, %envreg3;"}) {
    EXPECT_THAT(refusal(kernel(Line + "\n")), HasSubstr("the PTX uses "))
        << Line;
    EXPECT_EQ(refusal(kernel(Line), kernel(Line)), "") << Line;
  }
}

std::string policy(const std::string &Given, const std::string &Original = "") {
  return newCachePolicy(readPtx(kernel(Original)), readPtx(kernel(Given)));
}

TEST(Ptx, LeavesNothingToTheL2Cache) {
  for (const std::string Line :
       {"prefetch.global.L2::evict_last [%rd1];",
        "@%p1 ld.global.L1::no_allocate.L2::evict_last.v8.b32 {%r1, %r2}, "
        "[%rd1];",
        "createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %rd2, "
        "0f3F800000;",
        "createpolicy.range.global.L2::evict_first.L2::evict_last.b64 %rd2, "
        "[%rd1], 4096, 8192;",
        "createpolicy.cvt.L2.b64 %rd2, 7;",
        "ld.global.L2::cache_hint.f32 %f1, [%rd1], %rd2;",
        "st.global.L2::cache_hint.v2.f32 [%rd1], {%f1, %f2}, %rd2;",
        "cp.async.bulk.prefetch.L2.global.L2::cache_hint [%rd1], %r1, %rd2;",
        "discard.global.L2 [%rd1], 128;", "discard.L2 [%rd1], 128;"}) {
    EXPECT_THAT(policy(Line), HasSubstr("beyond its launch")) << Line;
    EXPECT_EQ(policy(Line, Line), "") << Line;
  }
  EXPECT_THAT(policy("prefetch.global.L2::evict_last [%rd1];"),
              StartsWith("prefetch.global.L2::evict_last, the like of which"));
}

TEST(Ptx, MayUseCachesWithinALaunch) {
  for (const std::string Line :
       {"ld.global.ca.f32 %f1, [%rd1];",
        "ld.global.cg.v2.b64 {%rd1, %rd2}, "
        "[%rd3];",
        "ld.global.cs.f32 %f1, [%rd1];", "ld.global.lu.f32 %f1, [%rd1];",
        "st.global.wt.f32 [%rd1], %f1;",
        "ld.global.nc.L1::evict_last.f32 %f1, "
        "[%rd1];",
        "ld.global.L2::128B.b32 %r1, [%rd1];", "prefetch.global.L2 [%rd1];",
        "prefetch.global.L2::evict_normal [%rd1];", "prefetchu.L1 [%rd1];",
        "applypriority.global.L2::evict_normal [%rd1], 128;",
        "createpolicy.fractional.L2::evict_first.b64 %rd2;",
        "cp.async.bulk.prefetch.L2.global [%rd1], %r1;"})
    EXPECT_EQ(policy(Line), "") << Line;
}

/// A hint for what is read once, to begin with.
TEST(Ptx, AnotherPolicyForAHintIsNew) {
  const std::string Hint = "createpolicy.fractional.L2::evict_first.b64 %rd2;\n"
                           "ld.global.L2::cache_hint.f32 %f1, [%rd1], %rd2;\n";
  EXPECT_EQ(policy(Hint + Hint, Hint), "");
  EXPECT_THAT(policy("createpolicy.fractional.L2::evict_last.b64 %rd2;\n"
                     "ld.global.L2::cache_hint.f32 %f1, [%rd1], %rd2;\n",
                     Hint),
              StartsWith("createpolicy.fractional.L2::evict_last.b64"));
}

TEST(Ptx, SurvivesAnyText) {
  for (const char *Text : {"",
                           ";",
                           "/*",
                           "//",
                           "\"",
                           "{",
                           "}",
                           ":",
                           "::",
                           "@;",
                           ".entry",
                           ".entry;",
                           ".entry k(",
                           ".entry k(,,)\n{",
                           ".global;",
                           ".extern .func",
                           ".extern .func (;",
                           "call;",
                           "call (;",
                           "@%p"})
    (void)readPtx(Text);
  const std::string Whole = kernel("  add.f32 %f1, {a, b}, [c];\n");
  for (size_t I = 0; I < Whole.size(); ++I) {
    (void)readPtx(std::string_view(Whole).substr(0, I));
    (void)readPtx(std::string_view(Whole).substr(I));
  }
}

} // namespace
