// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/trust/Precision.h"

#include <gtest/gtest.h>

using namespace r3;
using namespace r3::trust;

namespace {

Ptx of(const std::vector<std::string> &Names, unsigned Times = 1) {
  Ptx P;
  for (const std::string &Name : Names)
    P.Instructions[Name] += Times;
  return P;
}

std::string added(const std::vector<std::string> &Names,
                  const std::vector<std::string> &Original) {
  std::vector<std::string> All = Original;
  All.insert(All.end(), Names.begin(), Names.end());
  return lessPrecise(of(Original), of(All));
}

const std::vector<std::string> Float = {"ld.global.b32", "fma.rn.f32",
                                        "div.rn.f32", "st.global.b32"};

TEST(Precision, NewKinds) {
  const std::pair<const char *, const char *> Rows[] = {
      {"ex2.approx.ftz.f32", "ex2.approx.ftz.f32"},
      {"div.full.f32", "div.full.f32"},
      {"rsqrt.approx.f32", "rsqrt.approx.f32"},
      {"mul.ftz.f32", "f32 arithmetic with .ftz"},
      {"setp.lt.ftz.f32", "f32 arithmetic with .ftz"},
      {"add.rz.f32", "f32 arithmetic with .rz"},
      {"fma.rn.f16", "f16 arithmetic"},
      {"add.rn.bf16", "bf16 arithmetic"},
      {"cvt.rn.f16.f32", "conversions to f16"},
      {"cvt.rna.tf32.f32", "conversions to tf32"},
      {"cvt.rn.satfinite.e4m3x2.f32", "conversions to e4m3"},
      {"red.global.add.noftz.f16", "f16 arithmetic"},
      {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
       "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16",
       "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16"},
      {"tcgen05.mma.cta_group::1.kind::tf32",
       "tcgen05.mma.cta_group::1.kind::tf32"}};
  for (const auto &[Name, Kind] : Rows) {
    const bool Pair = std::string(Name).find("3x2") != std::string::npos;
    EXPECT_EQ(
        added({Name}, Float),
        (Pair ? "2 less exact instructions: " : "1 less exact instruction: ") +
            std::string(Kind) + (Pair ? " x 2" : " x 1"))
        << Name;
  }
}

TEST(Precision, WhatIsExact) {
  for (const char *Name :
       {"add.f32", "add.f64", "add.rn.f32", "sqrt.rn.f32", "cvt.f64.f32",
        "cvt.f32.f16", "cvt.rzi.s32.f32", "setp.lt.f32", "neg.f16", "min.f16",
        "ld.global.b16", "mov.b16", "add.s32", "atom.global.add.f32",
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32",
        "wmma.load.a.sync.aligned.row.m16n16k16.global.f16", "call.uni"})
    EXPECT_EQ(added({Name}, Float), "") << Name;
}

TEST(Precision, SumsUpAllKinds) {
  EXPECT_EQ(added({"ex2.approx.ftz.f32", "ex2.approx.ftz.f32", "fma.rn.f16x2"},
                  Float),
            "4 less exact instructions: ex2.approx.ftz.f32 x 2, f16 "
            "arithmetic x 2");
}

TEST(Precision, FloatWhereTheOriginalHasDouble) {
  const std::vector<std::string> Double = {"ld.global.b64", "fma.rn.f64",
                                           "st.global.b64"};
  EXPECT_EQ(added({"cvt.rn.f32.f64"}, Double),
            "1 less exact instruction: f32 arithmetic x 1");
  EXPECT_EQ(added({"fma.rn.f32"}, {"add.s32"}),
            "1 less exact instruction: f32 arithmetic x 1");
  // Comparisons of high words: those of the mathematics library in double.
  EXPECT_EQ(added({"abs.f32", "setp.lt.f32"}, Double), "");
  // Both: what was double becomes float.
  EXPECT_EQ(lessPrecise(of({"ld.global.b32", "fma.rn.f32", "fma.rn.f64"}),
                        of({"ld.global.b32", "fma.rn.f32", "add.f32"})),
            "1 less exact instruction: f32 arithmetic x 1");
}

TEST(Precision, RepeatedCodeRepeatsAllOfIt) {
  std::vector<std::string> Fast = Float;
  Fast.push_back("ex2.approx.ftz.f32");
  for (unsigned Times : {1, 2, 3, 16})
    EXPECT_EQ(lessPrecise(of(Fast), of(Fast, Times)), "") << Times;
  // Beside a part that is not repeated.
  Ptx Before = of(Fast), After = of(Fast, 5);
  Before.Instructions["fma.rn.f32"] += 20;
  After.Instructions["fma.rn.f32"] += 20;
  EXPECT_EQ(lessPrecise(Before, After), "");
  // Loads of four are four loads.
  After.Instructions.erase("ld.global.b32");
  After.Instructions.erase("st.global.b32");
  After.Instructions["ld.global.v4.b32"] = 1;
  After.Instructions["ld.global.b32"] = 1;
  EXPECT_EQ(lessPrecise(Before, After), "");
}

TEST(Precision, MoreThanTheCodeHasGrown) {
  std::vector<std::string> Fast = Float;
  Fast.push_back("rcp.approx.f32");
  Ptx After = of(Fast);
  After.Instructions["rcp.approx.f32"] = 2;
  EXPECT_EQ(lessPrecise(of(Fast), After),
            "1 less exact instruction: rcp.approx.f32 x 1");
  After = of(Fast, 2);
  After.Instructions["rcp.approx.f32"] = 3;
  EXPECT_EQ(lessPrecise(of(Fast), After),
            "2 less exact instructions: rcp.approx.f32 x 2");
}

TEST(Precision, MoreOfAKindThanOfTheRest) {
  std::vector<std::string> Fast = Float;
  Fast.push_back("rcp.approx.f32");
  Ptx After = of(Fast);
  After.Instructions["rcp.approx.f32"] = 2;
  After.Instructions["fma.rn.f32"] = 1; // and what else is repeated by chance
  After.Instructions["ld.global.b32"] = 4;
  After.Instructions.erase("div.rn.f32");
  EXPECT_EQ(lessPrecise(of(Fast), After),
            "1 less exact instruction: rcp.approx.f32 x 1");
}

} // namespace
