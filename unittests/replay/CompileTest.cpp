// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The real compile worker, CUDA without a GPU: cubins, their digests and
// figures, and pipelines that kill the compiler.
#include "wrapper/replay/CompileLink.h"
#include "wrapper/replay/ElfCode.h"

#include "runtime/support/BlockShape.h"
#include "runtime/support/Files.h"
#include "runtime/support/Process.h"
#include "runtime/support/Variant.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

using namespace r3;
using namespace r3::replay;
using ::testing::HasSubstr;

namespace {

class CompileTest : public ::testing::Test {
protected:
  void SetUp() override { setKernel("cuda", "saxpy"); }
  void setKernel(const std::string &Backend, const std::string &Kernel,
                 const std::string &Arch = "sm_90") {
    auto Bitcode = readFile(R3_TEST_KERNELS ".bc");
    ASSERT_TRUE(Bitcode) << Bitcode.error().message();
    CompileJob Job{Backend, Kernel, Arch, "O2", *Bitcode};
    Job.Parameters = {"x", "y", "a", "n"};
    Link.setJob(std::move(Job));
  }
  Build build(const Variant &V, uint64_t DeadlineMs = 60000) {
    return Link.build(V.canonicalJson(), DeadlineMs);
  }
  Build build(const std::string &Pipeline) {
    Variant V;
    V.Pipeline = Pipeline;
    return build(V);
  }

  Children All;
  CompileLink Link{installationPath("libexec/r3/r3-compile"),
                   /*GraceMs=*/10000, All};
};

TEST_F(CompileTest, TheOriginalIsWhatClangShips) {
  Build B = build(Variant());
  ASSERT_EQ(B.Ending, Outcome::Ok) << B.Message;
  EXPECT_GT(B.Registers, 4u);
  EXPECT_GT(B.Ms["pipeline"], 0);
  EXPECT_GT(B.Ms["codegen"], 0);
  EXPECT_GT(B.Ms["ptxas"], 0);
  auto Shipped = readFile(R3_TEST_KERNELS ".cubin");
  ASSERT_TRUE(Shipped) << Shipped.error().message();
  auto Code = codeDigest(*Shipped, "saxpy");
  ASSERT_TRUE(Code) << Code.error().message();
  EXPECT_EQ(B.Code, Code->hex());
}

TEST_F(CompileTest, BuildsRepeatAndVariantsDiffer) {
  Variant Limited, Unoptimised, Slow;
  Limited.MaxRegisters = 16;
  Unoptimised.PtxasLevel = "O0";
  Slow.Level = "O0";
  Build Original = build("default<O2>");
  ASSERT_EQ(Original.Ending, Outcome::Ok) << Original.Message;
  EXPECT_EQ(build(Variant()).Code, Original.Code);
  EXPECT_NE(build(Unoptimised).Code, Original.Code);
  EXPECT_NE(build(Slow).Code, Original.Code);
  Build B = build(Limited);
  EXPECT_EQ(B.Ending, Outcome::Ok) << B.Message;
  EXPECT_LE(B.Registers, 16u);
}

TEST_F(CompileTest, WhatIsKnownIsLeftOutOfABuild) {
  KnownCode Known;
  auto Built = [&](const Variant &V) {
    return Link.build(V.canonicalJson(), /*DeadlineMs=*/60000, "", &Known);
  };
  for (const char *Backend : {"cuda", "cpu"}) {
    setKernel(Backend, "saxpy");
    Known.clear();
    Variant V;
    V.Pipeline = "default<O2>,verify";
    const Build First = Built(V);
    ASSERT_EQ(First.Ending, Outcome::Ok) << First.Message;
    EXPECT_FALSE(First.Skipped);
    EXPECT_EQ(First.Code, build(V).Code);
    Known.add(First.Code, First.Ir, First.Ptx);
    V.Pipeline = "default<O2>,verify,verify";
    const Build Second = Built(V);
    EXPECT_EQ(Second.Ending, Outcome::Ok) << Second.Message;
    EXPECT_TRUE(Second.Skipped);
    EXPECT_EQ(Second.Code, First.Code);
    EXPECT_TRUE(Second.Binary.empty());
    EXPECT_FALSE(Second.Ms.count("codegen"));
    EXPECT_FALSE(build(V).Skipped); // who does not allow it has all of it
    V.Level = "O0";
    EXPECT_FALSE(Built(V).Skipped) << Backend;
  }
}

TEST_F(CompileTest, WhatIsKnownIsKnownWithAllThatABinaryDependsOn) {
  KnownCode Known;
  std::vector<Variant> All(8);
  All[1].Level = "O0";
  All[2].PtxasLevel = "O1";
  All[3].MaxRegisters = 16;
  All[4].Arch = "sm_90a";
  All[5].MaxThreads = 64;
  All[6].Loads = "cg";
  All[7].Specialise["n"] = 1024;
  for (Variant &V : All) {
    V.Pipeline = "default<O2>";
    const Build B = Link.build(V.canonicalJson(), 60000, "", &Known);
    ASSERT_EQ(B.Ending, Outcome::Ok) << V.canonicalJson() << ": " << B.Message;
    EXPECT_FALSE(B.Skipped) << V.canonicalJson();
    EXPECT_EQ(B.Code, build(V).Code);
    Known.add(B.Code, B.Ir, B.Ptx);
  }
}

TEST_F(CompileTest, KnownPtxIsNotAssembledAgain) {
  KnownCode Known;
  Variant V;
  V.Pipeline = "default<O2>";
  auto Built = [&] {
    return Link.build(V.canonicalJson(), /*DeadlineMs=*/60000, "", &Known);
  };
  const Build First = Built();
  ASSERT_EQ(First.Ending, Outcome::Ok) << First.Message;
  EXPECT_TRUE(First.Ms.count("ptxas"));
  Known.add(First.Code, /*Ir=*/"", First.Ptx);
  Build Second = Built();
  EXPECT_TRUE(Second.Skipped);
  EXPECT_EQ(Second.Code, First.Code);
  EXPECT_TRUE(Second.Ms.count("codegen"));
  EXPECT_FALSE(Second.Ms.count("ptxas"));
  setKernel("cuda", "strided"); // another kernel
  Known.clear();
  EXPECT_FALSE(Built().Skipped);
}

TEST_F(CompileTest, CodeIsGeneratedAsAVariantSays) {
  std::vector<Variant> All(8);
  All[1].MaxThreads = 64;
  All[1].MinBlocks = 32;
  All[2].Loads = "cg";
  All[3].Stores = "cs";
  All[4].Specialise["n"] = 1024;
  All[5].Specialise["block.x"] = 64;
  All[6].Remap = "split-x=2";
  BlockShape::parse(All[6].Remap)->putInto(All[6]);
  All[7].Loads = All[7].Stores = "cs";
  std::set<std::string> Codes;
  for (const Variant &V : All) {
    Build B = build(V);
    EXPECT_EQ(B.Ending, Outcome::Ok) << V.canonicalJson() << ": " << B.Message;
    Codes.insert(B.Code);
  }
  EXPECT_GE(Codes.size(), 7u); // bounds need not change anything
  Variant Own;
  Own.Arch = "sm_90a";
  EXPECT_EQ(build(Own).Ending, Outcome::Ok) << build(Own).Message;
  Own.Arch = "sm_100a";
  EXPECT_THAT(build(Own).Message, HasSubstr("is for sm_90, not for sm_100a"));
}

TEST_F(CompileTest, GuardsTellTheCompiler) {
  setKernel("cuda", "strided");
  Variant Guarded;
  Guarded.Guards = {"divides(4,n)"};
  EXPECT_EQ(build(Guarded).Ending, Outcome::Ok) << build(Guarded).Message;
  Guarded.Guards = {"align(x,16)", "divides(3,n)", "divides(32,block.x)"};
  EXPECT_EQ(build(Guarded).Ending, Outcome::Ok) << build(Guarded).Message;
}

TEST_F(CompileTest, BlocksThatMustStayAreNamed) {
  setKernel("cuda", "staged");
  Variant V;
  BlockShape::parse("split-x=2")->putInto(V);
  Build B = build(V);
  EXPECT_NE(B.Ending, Outcome::Ok);
  EXPECT_THAT(B.Message, HasSubstr("the kernel has shared memory"));
}

TEST_F(CompileTest, OptionsOfLlvmHoldForOneBuild) {
  setKernel("cuda", "hang"); // which has a loop
  Build Original = build("default<O2>");
  Variant V;
  V.Pipeline = "default<O2>";
  V.Options = {{"rotation-max-header-size", 0}};
  EXPECT_EQ(build(V).Ending, Outcome::Ok) << build(V).Message;
  EXPECT_EQ(build("default<O2>").Code, Original.Code);
}

TEST_F(CompileTest, PrintedPipelinesBuild) {
  auto Printed = Link.pipelines("cuda", "sm_90");
  ASSERT_TRUE(Printed) << Printed.error().message();
  ASSERT_EQ(Printed->size(), 4u);
  for (const auto &[Level, Text] : *Printed) {
    Build B = build(Text);
    EXPECT_EQ(B.Ending, Outcome::Ok) << Level << ": " << B.Message;
  }
}

TEST_F(CompileTest, PipelinesThatKillTheCompilerAreNamed) {
  setKernel("cuda", "hang"); // which has a loop
  Build B = build("function(loop(licm))");
  EXPECT_EQ(B.Ending, Outcome::BuildCrashed);
  EXPECT_THAT(B.Message, HasSubstr("LICM requires MemorySSA"));
  const pid_t Worker = Link.childPid();
  EXPECT_EQ(build(Variant()).Ending, Outcome::Ok);
  EXPECT_EQ(Link.childPid(), Worker) << "only the fork should have died";
}

TEST_F(CompileTest, TextThatIsNoPipelineFails) {
  Build B = build("dance");
  EXPECT_EQ(B.Ending, Outcome::BuildFailed);
  EXPECT_THAT(B.Message, HasSubstr("dance"));
}

TEST_F(CompileTest, DeadlinesAreKept) {
  Build B = build(Variant(), /*DeadlineMs=*/1);
  EXPECT_EQ(B.Ending, Outcome::BuildTimeout) << B.Message;
  EXPECT_EQ(build(Variant()).Ending, Outcome::Ok);
}

TEST_F(CompileTest, WhatPtxasRefusesIsAFailedBuild) {
  setKernel("cuda", "saxpy", "sm_20");
  Build B = build(Variant());
  EXPECT_EQ(B.Ending, Outcome::BuildFailed);
  EXPECT_THAT(B.Message, HasSubstr("sm_20"));
}

TEST_F(CompileTest, PtxStandsInForTheCode) {
  Build Made = Link.build("{}", 60000, "ptx");
  ASSERT_EQ(Made.Ending, Outcome::Ok) << Made.Message;
  Variant V;
  V.Ptx.assign(Made.Binary.begin(), Made.Binary.end());
  Build B = build(V);
  EXPECT_EQ(B.Ending, Outcome::Ok) << B.Message;
  EXPECT_EQ(B.Code, build(Variant()).Code);
  EXPECT_GT(B.Registers, 4u);
  EXPECT_EQ(Link.build(V.canonicalJson(), 60000, "ptx").Binary, Made.Binary);

  B = Link.build(V.canonicalJson(), 60000, "trace");
  EXPECT_EQ(B.Ending, Outcome::Refused);
  EXPECT_THAT(B.Message, HasSubstr("cannot be instrumented"));
  Variant Broken = V;
  Broken.Ptx.insert(Broken.Ptx.rfind("ret;"), "dance.f32 %f1;\n");
  EXPECT_EQ(build(Broken).Ending, Outcome::BuildFailed);
  setKernel("cuda", "hang");
  B = build(V);
  EXPECT_EQ(B.Ending, Outcome::Refused);
  EXPECT_THAT(B.Message, HasSubstr("another entry, saxpy"));
  setKernel("cpu", "saxpy");
  B = build(V);
  EXPECT_EQ(B.Ending, Outcome::Refused);
  EXPECT_THAT(B.Message, HasSubstr("on a CUDA device only"));
}

TEST_F(CompileTest, BadModulesAndKernelsAreErrors) {
  setKernel("cuda", "nobody");
  Build B = build(Variant());
  EXPECT_EQ(B.Ending, Outcome::BuildFailed);
  EXPECT_THAT(B.Message, HasSubstr("nobody"));
  auto Bitcode = readFile(R3_TEST_KERNELS ".bc");
  ASSERT_TRUE(Bitcode);
  Bitcode->resize(Bitcode->size() / 2);
  Link.setJob({"cuda", "saxpy", "sm_90", "O2", *Bitcode});
  EXPECT_NE(build(Variant()).Ending, Outcome::Ok);
  Link.clearJob();
  EXPECT_EQ(build(Variant()).Ending, Outcome::Refused);
}

TEST_F(CompileTest, CpuObjectsHaveDigestsToo) {
  setKernel("cpu", "hang");
  Build B = build(Variant());
  ASSERT_EQ(B.Ending, Outcome::Ok) << B.Message;
  EXPECT_EQ(B.Code.size(), 32u);
  EXPECT_EQ(build("default<O2>").Code, B.Code);
  EXPECT_NE(build("default<O0>").Code, B.Code);
  EXPECT_EQ(build("function(loop(licm))").Ending, Outcome::BuildCrashed);
  auto Printed = Link.pipelines("cpu", "x86-64");
  ASSERT_TRUE(Printed) << Printed.error().message();
  EXPECT_EQ(build(Printed->at("O3")).Ending, Outcome::Ok);
}

TEST_F(CompileTest, InstrumentedBuildsHaveNames) {
  for (const char *Backend : {"cuda", "cpu"}) {
    setKernel(Backend, "staged");
    std::set<std::string> Codes;
    for (const char *Name :
         {"", "trace", "round", "double", "freeze-0", "freeze-1", "no-op"}) {
      Build B = Link.build("{}", /*DeadlineMs=*/60000, Name);
      ASSERT_EQ(B.Ending, Outcome::Ok) << Backend << Name << B.Message;
      EXPECT_TRUE(Codes.insert(B.Code).second) << Backend << Name;
      EXPECT_EQ(B.Sites.empty(), Name != std::string("trace"));
    }
    Build B = Link.build("{}", /*DeadlineMs=*/60000, "dance");
    EXPECT_EQ(B.Ending, Outcome::BuildFailed);
    EXPECT_THAT(B.Message, HasSubstr("no instrumented build 'dance' (there are "
                                     "trace, round, double, freeze-0, "
                                     "freeze-1, no-op, permute, count)"));
  }
}

} // namespace
