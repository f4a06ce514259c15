// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/r3/IrDifference.h"

#include "wrapper/r3/PassTest.h"

#include <gtest/gtest.h>

using namespace r3;

namespace {

const std::string Head = "declare void @llvm.nvvm.barrier(i32)\n"
                         "define ptx_kernel void @k(ptr %p) {\n"
                         "entry:\n";

std::string kernel(const std::string &Body) { return Head + Body + "}\n"; }

using Directives = std::vector<std::string>;

TEST(IrDifference, IsEmptyForTheSameCode) {
  const std::string Code = kernel("  %a = load float, ptr %p, align 4\n");
  EXPECT_TRUE(differences(Code, Code).empty());
  // Names, places and metadata are no difference.
  EXPECT_TRUE(
      differences(Code,
                  kernel("  %b = load float, ptr %q, align 4, !tbaa !3\n"))
          .empty());
}

TEST(IrDifference, SaysAtMostWhereThereIsLess) {
  const auto Found = differences(
      kernel("  store float %a, ptr %p\n  store float 0.0, ptr %p\n"),
      kernel("  store float %a, ptr addrspace(1) %p\n"));
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Prefix, "STORES");
  EXPECT_EQ(Found[0].Directives,
            (Directives{"-COUNT-1: store float {{.*}}, ptr",
                        "-NOT: store float {{.*}}, ptr"}));
  EXPECT_EQ(Found[0].Meaning, "1 x store float; 2 without");
}

TEST(IrDifference, SaysAtLeastWhereThereIsMore) {
  const auto Found = differences(
      kernel("  %a = fmul contract float %x, %y\n"),
      kernel("  %a = fmul float %x, %y\n  %b = fmul float %x, %a\n"));
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Prefix, "ARITHMETIC");
  EXPECT_EQ(Found[0].Directives, Directives{"-COUNT-2: = fmul {{.*}}"});
}

TEST(IrDifference, BeginsWithWhatSaysMost) {
  const auto Found = differences(
      kernel("  call void @llvm.nvvm.barrier(i32 0)\n"
             "  %a = load float, ptr %p\n  %b = load float, ptr %q\n"
             "  %s = select i1 %c, float %a, float %b\n"
             "  br i1 %c, label %entry, label %x, !llvm.loop !4\n"),
      kernel("  %v = load <2 x float>, ptr %p\n  %g = add i32 %i, 1\n"));
  std::vector<std::string> Prefixes;
  for (const IrProperty &P : Found)
    Prefixes.push_back(P.Prefix);
  EXPECT_EQ(Prefixes,
            (std::vector<std::string>{"BARRIERS", "VECTORS", "LOADS", "LOOPS",
                                      "BRANCHES", "SELECTS", "CODE"}));
  EXPECT_EQ(Found[0].Directives,
            Directives{"-NOT: call {{.*}}@llvm.nvvm.barrier("});
}

TEST(IrDifference, CountsNeitherDeclarationsNorNotes) {
  EXPECT_TRUE(differences("declare float @f(float)\n" + kernel(""),
                          kernel("  call void @llvm.assume(i1 true)\n"))
                  .empty());
}

TEST(IrDifference, TellsTheOrderWhereCountsAgree) {
  const std::string Load = "  %a = load float, ptr %p\n",
                    Store = "  store float %x, ptr %p\n";
  const auto Found = differences(kernel(Load + Store), kernel(Store + Load));
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Prefix, "ORDER");
  EXPECT_EQ(Found[0].Directives,
            (Directives{": store float {{.*}}, ptr", ": = load float, ptr"}));
  EXPECT_EQ(checkOptions(Found[0]),
            (Directives{"--implicit-check-not=store float {{.*}}, ptr",
                        "--implicit-check-not== load float, ptr"}));
}

TEST(IrDifference, KeepsPrefixesApart) {
  const auto Found = differences(
      kernel("  %a = load float, ptr %p\n  %b = load i32, ptr %p\n"),
      kernel(""));
  ASSERT_EQ(Found.size(), 2u);
  EXPECT_EQ(Found[0].Prefix, "LOADS");
  EXPECT_EQ(Found[1].Prefix, "LOADS2");
}

TEST(PassTest, NamesPipelinesAsThePluginDoes) {
  EXPECT_EQ(passesForOpt("", "O3"), "r3-default<O3>");
  EXPECT_EQ(passesForOpt("default<Os>", "O2"), "r3-default<Os>");
  EXPECT_EQ(passesForOpt("default<O2>,function(sink)", "O2"),
            "nvvm-reflect,function(nvvm-intr-range),always-inline,"
            "r3-default<O2>,function(sink)");
  EXPECT_EQ(passesForOpt("default<O2>", "O0"), "r3-optimisable,r3-default<O2>");
  EXPECT_EQ(passesForOpt("", "O0"), "r3-default<O0>");
}

TEST(PassTest, BreaksLongRunLinesWhereLitPutsThemTogether) {
  PassTest T;
  T.Head = {"a kernel"};
  T.Passes = "a,";
  for (int I = 0; I < 40; ++I)
    T.Passes += "function(instcombine),";
  T.Passes += "end";
  T.Options = {"-mcpu=sm_90"};
  const std::string Text = T.text();
  std::string Joined;
  int Lines = 0;
  for (size_t At = 0; At < Text.size();) {
    const size_t End = Text.find('\n', At);
    std::string Line = Text.substr(At, End - At);
    if (Line.starts_with("; RUN: ")) {
      // lit: the ends are stripped, and joined by a blank.
      std::string Part = Line.substr(Line.find_first_not_of(' ', 7));
      const bool GoesOn = Part.ends_with(" \\");
      Joined += Part.substr(0, Part.size() - (GoesOn ? 2 : 0));
      Joined += GoesOn ? " " : "";
      ++Lines;
    }
    At = End + 1;
  }
  EXPECT_EQ(Joined, "opt -load-pass-plugin=%r3plugin -mcpu=sm_90 -passes='" +
                        T.Passes + "' %s -S -o %t.ll");
  EXPECT_GT(Lines, 1);
}

TEST(PassTest, TakesTargetFromTheCode) {
  EXPECT_EQ(optOptions("attributes #0 = { \"target-cpu\"=\"sm_90\" "
                       "\"target-features\"=\"+ptx88,+sm_90\" }"),
            (std::vector<std::string>{"-mcpu=sm_90", "-mattr=+ptx88,+sm_90",
                                      "-enable-memcpyopt-without-libcalls"}));
  EXPECT_EQ(withoutPlace("; ModuleID = 'x'\nsource_filename = \"a\"\ntarget\n"),
            "target\n");
  EXPECT_EQ(withoutPlace(""), "");
}

} // namespace
