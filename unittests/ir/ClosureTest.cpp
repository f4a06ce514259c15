// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugin/ir/Closure.h"

#include "Parse.h"

#include "llvm/IR/Verifier.h"

using namespace llvm;
using namespace r3;

static const char *const TwoKernels = R"(
@flag = internal addrspace(1) global i32 0
@limit = internal addrspace(1) global i32 7
@table = internal addrspace(4) constant [2 x float] [float 1.0, float 2.0]
@scale = addrspace(4) externally_initialized constant float 0.0
@tile = internal addrspace(3) global [32 x float] undef
@other = addrspace(1) global i32 0
@llvm.used = appending global [1 x ptr] [ptr @reader], section "llvm.metadata"
define linkonce_odr i32 @helper() {
  %v = load volatile i32, ptr addrspace(1) @flag
  ret i32 %v
}
define ptx_kernel void @reader(ptr %p) {
  %f = call i32 @helper()
  %l = load i32, ptr addrspace(1) @limit
  %s = load float, ptr addrspace(4) @scale
  %t = load float, ptr addrspace(4) @table
  %u = load float, ptr addrspace(3) @tile
  store i32 %f, ptr %p
  ret void
}
define ptx_kernel void @writer() {
  store i32 1, ptr addrspace(1) @flag
  store i32 1, ptr addrspace(1) @other
  ret void
}
)";

TEST(Closure, namesKernels) {
  LLVMContext Context;
  auto M = parseDevice(Context, TwoKernels);
  EXPECT_EQ(ir::kernelNames(*M),
            (std::vector<std::string>{"reader", "writer"}));
}

TEST(Closure, holdsWhatTheKernelReaches) {
  LLVMContext Context;
  auto M = parseDevice(Context, TwoKernels);
  auto Closure = ir::extractClosure(*M, "reader");
  ASSERT_TRUE(Closure);
  EXPECT_FALSE(verifyModule(**Closure, &errs()));
  EXPECT_EQ(ir::kernelNames(**Closure), std::vector<std::string>{"reader"});
  EXPECT_FALSE((*Closure)->getFunction("writer"));
  EXPECT_FALSE((*Closure)->getNamedGlobal("other"));
  EXPECT_FALSE((*Closure)->getNamedGlobal("llvm.used"));
  EXPECT_TRUE((*Closure)->getFunction("helper")->hasInternalLinkage());
}

TEST(Closure, isTheSameInPlace) {
  LLVMContext Context;
  auto M = parseDevice(Context, TwoKernels);
  auto Closure = ir::extractClosure(*M, "reader");
  ASSERT_TRUE(Closure);
  ASSERT_TRUE(ir::reduceToClosure(*M, "nothing"));
  EXPECT_TRUE(M->getFunction("writer"));
  ASSERT_FALSE(ir::reduceToClosure(*M, "reader"));
  EXPECT_FALSE(verifyModule(*M, &errs()));
  std::string Copied, Reduced;
  raw_string_ostream(Copied) << **Closure;
  raw_string_ostream(Reduced) << *M;
  EXPECT_EQ(Copied, Reduced);
}

TEST(Closure, leavesMutableGlobalsInSight) {
  LLVMContext Context;
  auto M = parseDevice(Context, TwoKernels);
  auto Closure = ir::extractClosure(*M, "reader");
  ASSERT_TRUE(Closure);
  for (const char *Name : {"flag", "scale"}) {
    const GlobalVariable *G = (*Closure)->getNamedGlobal(Name);
    ASSERT_TRUE(G) << Name;
    EXPECT_TRUE(G->hasExternalLinkage() && G->hasInitializer()) << Name;
  }
  for (const char *Name : {"table", "tile"})
    EXPECT_TRUE((*Closure)->getNamedGlobal(Name)->hasInternalLinkage()) << Name;
}

TEST(Closure, refusesAnUnknownKernel) {
  LLVMContext Context;
  auto M = parseDevice(Context, TwoKernels);
  auto Closure = ir::extractClosure(*M, "helper");
  ASSERT_FALSE(Closure);
  EXPECT_EQ(Closure.error().code(), ErrorCode::NotFound);
}

TEST(Closure, exposesWhatIsWritten) {
  LLVMContext Context;
  auto M = parseDevice(Context, TwoKernels);
  EXPECT_EQ(ir::exposeGlobals(*M, "1234abcd"),
            std::vector<std::string>{"flag__r3_1234abcd"});
  EXPECT_TRUE(M->getNamedGlobal("flag__r3_1234abcd")->hasExternalLinkage());
}

TEST(Closure, makesConstantsOfWhatNobodyWrites) {
  LLVMContext Context;
  auto M = parseDevice(Context, TwoKernels);
  ir::exposeGlobals(*M, "1234abcd");
  EXPECT_TRUE(M->getNamedGlobal("limit")->isConstant());
  EXPECT_TRUE(M->getNamedGlobal("limit")->hasInternalLinkage());
}

TEST(Closure, takesAnEscapingAddressForAWrite) {
  LLVMContext Context;
  auto M = parseDevice(Context, R"(
@g = internal addrspace(1) global i32 0
declare void @somewhere(ptr)
define ptx_kernel void @k() {
  call void @somewhere(ptr addrspacecast (ptr addrspace(1) @g to ptr))
  ret void
}
)");
  EXPECT_EQ(ir::exposeGlobals(*M, "t").size(), 1u);
}

TEST(Closure, givesNamesThatPtxAllows) {
  LLVMContext Context;
  auto M = parseDevice(Context, R"(
@a.b = internal addrspace(1) global i32 0
define ptx_kernel void @k() {
  store i32 1, ptr addrspace(1) @a.b
  ret void
}
)");
  EXPECT_EQ(ir::exposeGlobals(*M, "t"), std::vector<std::string>{"a_b__r3_t"});
}
