// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a variant asks of code generation, in PTX; options of LLVM; blocks of
// another shape.
#include "plugin/ir/Codegen.h"

#include "plugin/ir/Pipeline.h"
#include "plugin/ir/RemapBlocks.h"
#include "plugin/ir/ScopedOptions.h"
#include "runtime/support/LlvmOptions.h"

#include "Parse.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace r3;

namespace {

const char *const Copy = R"(
define ptx_kernel void @k(ptr %from, ptr %to, i32 %i) "target-cpu"="sm_90" "target-features"="+ptx80,+sm_90" {
  %p = getelementptr float, ptr %from, i32 %i
  %q = getelementptr float, ptr %to, i32 %i
  %x = load float, ptr %p, align 4
  store float %x, ptr %q, align 4
  %v = load <4 x float>, ptr %from, align 16
  store <4 x float> %v, ptr %to, align 16
  %h = load half, ptr %from, align 2
  store half %h, ptr %to, align 2
  %local = alloca float
  store float %x, ptr %local
  %y = load volatile float, ptr %p
  ret void
})";

std::string ptxOf(Module &M) {
  auto Machine = ir::createTargetMachine(M, "O2");
  EXPECT_TRUE(Machine) << Machine.error().message();
  SmallString<0> Text;
  raw_svector_ostream Out(Text);
  legacy::PassManager Passes;
  EXPECT_FALSE((*Machine)->addPassesToEmitFile(Passes, Out, nullptr,
                                               CodeGenFileType::AssemblyFile));
  Passes.run(M);
  return Text.str().str();
}

size_t count(const std::string &Text, const std::string &Part) {
  size_t Count = 0;
  for (size_t At = Text.find(Part); At != std::string::npos;
       At = Text.find(Part, At + 1))
    ++Count;
  return Count;
}

std::string ptxWith(const Variant &Change) {
  LLVMContext Context;
  auto M = parseDevice(Context, Copy);
  if (!Change.Arch.empty()) {
    EXPECT_FALSE(ir::setArchitecture(*M, Change.Arch));
  }
  r3::Error Problem = ir::applyCodegen(*M->getFunction("k"), Change);
  EXPECT_FALSE(Problem) << Problem.message();
  return ptxOf(*M);
}

TEST(Codegen, PutsLimitsIntoPtx) {
  Variant V;
  V.MaxRegisters = 40;
  V.MaxThreads = 256;
  V.MinBlocks = 3;
  const std::string Ptx = ptxWith(V);
  EXPECT_EQ(count(Ptx, ".maxnreg 40"), 1u) << Ptx;
  EXPECT_EQ(count(Ptx, ".maxntid 256"), 1u);
  EXPECT_EQ(count(Ptx, ".minnctapersm 3"), 1u);
  const std::string Plain = ptxWith({});
  EXPECT_EQ(count(Plain, ".maxn"), 0u);
  EXPECT_EQ(count(Plain, ".minn"), 0u);
}

TEST(Codegen, PutsCacheOperatorsOnGlobalMemory) {
  Variant V;
  V.Loads = "cg";
  const std::string Loads = ptxWith(V);
  EXPECT_EQ(count(Loads, "ld.global.cg.b32"), 1u) << Loads;
  EXPECT_EQ(count(Loads, "ld.global.cg.v2.b64"), 1u);
  EXPECT_EQ(count(Loads, "ld.global.cg.b16"), 1u);
  EXPECT_EQ(count(Loads, "ld.volatile.global"), 1u);
  EXPECT_EQ(count(Loads, "st.global.c"), 0u);
  V.Loads.clear();
  V.Stores = "cs";
  const std::string Stores = ptxWith(V);
  EXPECT_EQ(count(Stores, "st.global.cs.b32"), 1u) << Stores;
  EXPECT_EQ(count(Stores, "st.global.cs.v2.b64"), 1u);
  EXPECT_EQ(count(Stores, "st.global.cs.b16"), 1u);
  EXPECT_EQ(count(Stores, "ld.global.c"), 0u);
}

TEST(Codegen, RefusesCacheOperatorsThatNothingCanHave) {
  LLVMContext Context;
  auto M = parseDevice(Context, "define ptx_kernel void @k() { ret void }");
  Variant V;
  V.Loads = "cg";
  EXPECT_EQ(ir::applyCodegen(*M->getFunction("k"), V).message(),
            "no load is known to be one of global memory");
  V.Loads.clear();
  V.Stores = "wt";
  EXPECT_EQ(ir::applyCodegen(*M->getFunction("k"), V).message(),
            "no store is known to be one of global memory");
}

TEST(Codegen, ChoosesAVarietyOfTheArchitecture) {
  Variant V;
  V.Arch = "sm_90a";
  EXPECT_EQ(count(ptxWith(V), ".target sm_90a"), 1u);
  EXPECT_EQ(count(ptxWith({}), ".target sm_90a"), 0u);
  LLVMContext Context;
  auto M = parseDevice(Context, Copy);
  EXPECT_EQ(ir::setArchitecture(*M, "sm_100a").message(),
            "the device code is for sm_90, not for sm_100a");
}

//===-- Options -----------------------------------------------------------===//

TEST(ScopedOptions, LlvmHasEachAndTakesItsValues) {
  for (const LlvmOption &Option : llvmOptions()) {
    const std::string Name(Option.Name);
    auto Found = cl::getRegisteredOptions().find(Name);
    ASSERT_NE(Found, cl::getRegisteredOptions().end()) << Name;
    for (int64_t Value : Option.Values) {
      ir::ScopedOptions Scoped;
      r3::Error Problem = Scoped.set({{Name, Value}});
      EXPECT_FALSE(Problem) << Problem.message();
      EXPECT_EQ(Found->second->getNumOccurrences(), 1) << Name;
    }
    EXPECT_EQ(Found->second->getNumOccurrences(), 0) << Name;
  }
}

TEST(ScopedOptions, ChangeAPipelineAndNothingAfterIt) {
  const char *const Text = R"(
define ptx_kernel void @k(ptr %to, i32 %n) "target-cpu"="sm_90" {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %p = getelementptr i32, ptr %to, i32 %i
  store volatile i32 %i, ptr %p
  %next = add nuw nsw i32 %i, 1
  %more = icmp slt i32 %next, 64
  br i1 %more, label %loop, label %exit
exit:
  ret void
})";
  auto Stores = [&](const std::map<std::string, int64_t> &Options) {
    LLVMContext Context;
    auto M = parseDevice(Context, Text);
    auto Machine = ir::createTargetMachine(*M, "O2");
    r3::Error Problem = ir::runPipeline(
        *M, **Machine, "function(loop-unroll<no-runtime>)", "O2", Options);
    EXPECT_FALSE(Problem) << Problem.message();
    size_t Count = 0;
    for (const BasicBlock &Block : *M->getFunction("k"))
      for (const Instruction &I : Block)
        Count += I.getOpcode() == Instruction::Store;
    return Count;
  };
  const size_t Plain = Stores({});
  EXPECT_EQ(Stores({{"unroll-count", 4}}), 4u);
  EXPECT_EQ(Stores({}), Plain);
  EXPECT_NE(Plain, 4u);
}

TEST(ScopedOptions, NamesWhatItDoesNotTake) {
  ir::ScopedOptions Scoped;
  EXPECT_NE(Scoped.set({{"fp-contract", 1}}).message().find("no option"),
            std::string::npos);
}

//===-- Blocks of another shape -------------------------------------------===//

TEST(RemapBlocks, DropsPromisesOfTheOldShape) {
  LLVMContext Context;
  auto M = parseDevice(Context, R"(
define ptx_kernel void @k(ptr %to) "nvvm.maxntid"="256" "nvvm.minctasm"="2" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  store i32 %t, ptr %to
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x())");
  auto Shape = BlockShape::parse("merge-x=2");
  ASSERT_TRUE(Shape);
  EXPECT_FALSE(ir::remapBlocks(*M, *Shape));
  EXPECT_FALSE(M->getFunction("k")->hasFnAttribute("nvvm.maxntid"));
  EXPECT_FALSE(M->getFunction("k")->hasFnAttribute("nvvm.minctasm"));
}

} // namespace
