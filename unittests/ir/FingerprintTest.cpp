// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugin/ir/Fingerprint.h"

#include "Parse.h"

#include "plugin/ir/Closure.h"

using namespace llvm;
using namespace r3;

static std::string fingerprintOf(const std::string &Text,
                                 const char *Kernel = "k") {
  LLVMContext Context;
  auto M = parseDevice(Context, Text);
  const Function *F = M->getFunction(Kernel);
  EXPECT_TRUE(F);
  return ir::fingerprint(*M, *F);
}

static const std::string Base = R"(
define internal i32 @inc(i32 %x) {
  %y = add i32 %x, 1
  ret i32 %y
}
define ptx_kernel void @k(ptr %p, i32 %n) {
  %r = call i32 @inc(i32 %n)
  store i32 %r, ptr %p
  ret void
}
)";

TEST(Fingerprint, has32Digits) { EXPECT_EQ(fingerprintOf(Base).size(), 32u); }

TEST(Fingerprint, isBlindToNamesAttributesAndOrder) {
  const std::string Same = R"(
define ptx_kernel void @k(ptr noundef %out, i32 noundef %count) noinline optnone {
entry:
  %a = alloca i8
  call void @llvm.lifetime.start.p0(ptr %a)
  %v = call i32 @add_one(i32 noundef %count) convergent
  store i32 %v, ptr %out, !tbaa !0
  ret void
}
define linkonce_odr i32 @add_one(i32 %x) nounwind {
  %y = add i32 %x, 1
  ret i32 %y
}
declare void @llvm.lifetime.start.p0(ptr)
!0 = !{!1, !1, i64 0}
!1 = !{!"int", !2, i64 0}
!2 = !{!"root"}
)";
  // The alloca is part of the code, so it is in both.
  std::string WithAlloca = Base;
  WithAlloca.replace(WithAlloca.find("  %r = call"), 0, "  %q = alloca i8\n");
  EXPECT_EQ(fingerprintOf(WithAlloca), fingerprintOf(Same));
}

static std::string changed(const std::string &From, const std::string &To) {
  std::string Text = Base;
  size_t At = Text.find(From);
  EXPECT_NE(At, std::string::npos);
  return fingerprintOf(Text.replace(At, From.size(), To));
}

TEST(Fingerprint, seesWhatTheCodeDoes) {
  const std::string Original = fingerprintOf(Base);
  EXPECT_NE(Original, changed("add i32 %x, 1", "add i32 %x, 2"));
  EXPECT_NE(Original, changed("add i32 %x, 1", "add nsw i32 %x, 1"));
  EXPECT_NE(Original, changed("add i32 %x, 1", "sub i32 %x, 1"));
  EXPECT_NE(Original, changed("store i32", "store volatile i32"));
  EXPECT_NE(Original, changed("%n) {", "%n) \"nvvm.maxntid\"=\"64\" {"));
}

TEST(Fingerprint, ofClosureAndWholeModuleAreEqual) {
  LLVMContext Context;
  auto M = parseDevice(Context, Base + R"(
@g = internal addrspace(1) global i32 0
define ptx_kernel void @another() {
  store i32 1, ptr addrspace(1) @g
  ret void
}
)");
  auto Closure = ir::extractClosure(*M, "k");
  ASSERT_TRUE(Closure);
  EXPECT_EQ(ir::fingerprint(*M, *M->getFunction("k")),
            ir::fingerprint(**Closure, *(*Closure)->getFunction("k")));
}

TEST(Fingerprint, tellsMutableGlobalsApart) {
  const char *Text = R"(
@a = addrspace(1) global i32 0
@b = addrspace(1) global i32 0
define ptx_kernel void @one() {
  store i32 1, ptr addrspace(1) @a
  ret void
}
define ptx_kernel void @two() {
  store i32 1, ptr addrspace(1) @b
  ret void
}
)";
  EXPECT_NE(fingerprintOf(Text, "one"), fingerprintOf(Text, "two"));
}

TEST(Fingerprint, normalisesNames) {
  EXPECT_EQ(ir::normalisedName("_ZN1a1kEi__intern__0123abcd"), "_ZN1a1kEi");
  EXPECT_EQ(ir::normalisedName("_ZN1a1kEi.intern.0123abcd"), "_ZN1a1kEi");
  EXPECT_EQ(ir::normalisedName("_ZL1g__static__0123abcd"), "_ZL1g");
  EXPECT_EQ(ir::normalisedName("_ZL1g__r3_0123abcd"), "_ZL1g");
  EXPECT_EQ(ir::normalisedName("_Z1kIZ4mainEUliE3_EvT_"),
            "_Z1kIZ4mainEUliE_EvT_");
  EXPECT_EQ(ir::normalisedName("_Z1kIZ4mainEUliE_EvT_"),
            "_Z1kIZ4mainEUliE_EvT_");
  EXPECT_EQ(ir::normalisedName("__intern__"), "__intern__");
}

TEST(Fingerprint, keyDependsOnHome) {
  EXPECT_EQ(ir::kernelKey("f", "a.cu:main").size(), 32u);
  EXPECT_NE(ir::kernelKey("f", "a.cu:main"), ir::kernelKey("f", "b.cu:main"));
}
