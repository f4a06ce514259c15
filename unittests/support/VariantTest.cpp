// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/support/Variant.h"
#include "unittests/support/TestFolder.h"

using namespace r3;

TEST(Variant, OriginalIsEmpty) {
  EXPECT_EQ(Variant().canonicalJson(), "{}");
  EXPECT_TRUE(Variant().isOriginal());
  Expected<Variant> Parsed = Variant::parse("{}");
  ASSERT_TRUE(Parsed);
  EXPECT_TRUE(Parsed->isOriginal());
  EXPECT_EQ(Variant().id(), contentDigest("{}"));
}

TEST(Variant, CanonicalOrder) {
  const char *Json =
      R"j({"guards": [" align( p,16 )"], "specialise": {"n": 4, "m": -1},)j"
      R"j( "launch": [{"value": "ceildiv(grid.x,2)", "target": "grid.x"}],)j"
      R"j( "codegen": {"ptxas": "O1", "maxnreg": 64}, "level": "O3",)j"
      R"j( "pipeline": "default<O2>", "patch": "--- a\n"})j";
  Expected<Variant> Parsed = Variant::parse(Json);
  ASSERT_TRUE(Parsed) << Parsed.error().message();
  std::string Canonical = Parsed->canonicalJson();
  EXPECT_EQ(Canonical,
            R"j({"patch":"--- a\n","pipeline":"default<O2>","level":"O3",)j"
            R"j("codegen":{"maxnreg":64,"ptxas":"O1"},)j"
            R"j("launch":[{"target":"grid.x","value":"ceildiv(grid.x,2)"}],)j"
            R"j("specialise":{"m":-1,"n":4},"guards":["align(p,16)"]})j");
  EXPECT_EQ(Variant::parse(Canonical)->canonicalJson(), Canonical);
  EXPECT_EQ(Parsed->id(), contentDigest(Canonical));
}

TEST(Variant, SaysHowCodeIsGenerated) {
  const char *Json =
      R"j({"pipeline":"default<O2>","options":{"inline-threshold":500,)j"
      R"j("slp-threshold":-2},"codegen":{"maxthreads":256,"minblocks":2,)j"
      R"j("loads":"cg","stores":"cs","arch":"sm_90a"}})j";
  Expected<Variant> Parsed = Variant::parse(Json);
  ASSERT_TRUE(Parsed) << Parsed.error().message();
  EXPECT_EQ(Parsed->canonicalJson(), Json);
  EXPECT_TRUE(Parsed->needsCompiler());
  EXPECT_FALSE(Variant().needsCompiler());
}

TEST(Variant, EmptyMembersAreLeftOut) {
  Expected<Variant> Parsed = Variant::parse(
      R"j({"patch":"","codegen":{"maxnreg":0},"launch":[],"guards":[]})j");
  ASSERT_TRUE(Parsed) << Parsed.error().message();
  EXPECT_TRUE(Parsed->isOriginal());
}

TEST(Variant, ParsingIsStrict) {
  auto fails = [](const char *Json, const char *Why) {
    return failsWith(Variant::parse(Json), Why);
  };
  EXPECT_TRUE(fails("", "variant: offset 0"));
  EXPECT_TRUE(fails("[]", "variant: an object expected"));
  EXPECT_TRUE(fails(R"j({"colour":1})j", "unknown member 'colour'"));
  EXPECT_TRUE(fails(R"j({"level":"O1","level":"O2"})j", "occurs twice"));
  EXPECT_TRUE(fails(R"j({"level":"O4"})j", "level: 'O4' is not one of"));
  EXPECT_TRUE(fails(R"j({"pipeline":3})j", "pipeline: a string expected"));
  EXPECT_TRUE(fails(R"j({"pipeline":"a\u0000b"})j", "zero byte"));
  EXPECT_TRUE(fails(R"j({"ptx":".version","pipeline":"a"})j",
                    "PTX is not compiled again"));
  EXPECT_TRUE(fails(R"j({"codegen":{"maxnreg":256}})j", "up to 255"));
  EXPECT_TRUE(fails(R"j({"codegen":{"maxnreg":-1}})j", "up to 255"));
  EXPECT_TRUE(fails(R"j({"options":{"slp-threshold":1.5}})j", "an integer"));
  EXPECT_TRUE(fails(R"j({"options":{"unroll-count":0}})j",
                    "options: unroll-count: 0 is not within 1 to 1024"));
  EXPECT_TRUE(fails(R"j({"options":{"fp-contract":1}})j",
                    "no option of LLVM that a variant may set (inline-"));
  EXPECT_TRUE(fails(R"j({"codegen":{"maxthreads":1025}})j", "up to 1024"));
  EXPECT_TRUE(fails(R"j({"codegen":{"minblocks":33}})j", "up to 32"));
  EXPECT_TRUE(fails(R"j({"codegen":{"loads":"wt"}})j", "not one of ca, cg"));
  EXPECT_TRUE(fails(R"j({"codegen":{"stores":"ca"}})j", "not one of wb, cg"));
  for (const char *Arch : {"sm_", "sm_90b", "sm_90aa", "compute_90", "90"})
    EXPECT_TRUE(fails(
        (R"j({"codegen":{"arch":")j" + std::string(Arch) + "\"}}").c_str(),
        "is no architecture"));
  EXPECT_TRUE(fails(R"j({"ptx":".version","remap":"split-x=2"})j",
                    "PTX is not compiled again"));
  EXPECT_TRUE(fails(R"j({"codegen":{"x":1}})j", "codegen: unknown member 'x'"));
  EXPECT_TRUE(fails(R"j({"launch":[{"target":"grid.w","value":"1"}]})j",
                    "'grid.w' is no target"));
  EXPECT_TRUE(fails(R"j({"launch":[{"target":"grid.x","value":"1+"}]})j",
                    "name expected"));
  EXPECT_TRUE(
      fails(R"j({"launch":[{"target":"grid.x"}]})j", "{target, value}"));
  EXPECT_TRUE(fails(R"j({"launch":[{"target":"shared","value":"1"},)j"
                    R"j({"target":"shared","value":"2"}]})j",
                    "occurs twice"));
  EXPECT_TRUE(fails(R"j({"specialise":{"n":1.5}})j", "an integer expected"));
  EXPECT_TRUE(fails(R"j({"guards":["near(p)"]})j", "align, divides"));
}
