// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checks are calls of one device function, which is linked in as bitcode.
#include "plugin/instrument/Trace.h"

#include "plugin/instrument/Accesses.h"
#include "plugin/instrument/Code.h"
#include "runtime/support/TraceAbi.h"

#include "llvm/Analysis/ValueTracking.h"

using namespace llvm;

namespace r3 {
extern const uint8_t TraceCode[]; // code/Trace.cu as bitcode
extern const uint64_t TraceCodeSize;
} // namespace r3

namespace r3::instrument {

namespace {

// NVPTX address spaces.
enum : unsigned { Generic = 0, Global = 1, Constant = 4 };

/// Whether an access may be one to global memory, as far as one can see here.
bool mayBeGlobal(const Access &A) {
  const Value *Object = getUnderlyingObject(A.Address, /*MaxLookup=*/32);
  if (auto *G = dyn_cast<GlobalVariable>(Object); G && G->isConstant())
    return A.Kind != AccessKind::Read;
  return Object->getType()->getPointerAddressSpace() <= Global;
}

/// Constants that generic pointers may lead to.
std::vector<GlobalVariable *> constantsOf(Module &M) {
  std::vector<GlobalVariable *> Found;
  for (GlobalVariable &G : M.globals())
    if ((G.getAddressSpace() <= Global || G.getAddressSpace() == Constant) &&
        G.isConstant() && G.hasInitializer() &&
        !G.getName().starts_with("llvm."))
      Found.push_back(&G);
  return Found;
}

/// Replaces the declaration Name by a definition.
void define(Module &M, StringRef Name, llvm::Constant *Value) {
  GlobalVariable *Old = M.getGlobalVariable(Name, /*AllowInternal=*/true);
  auto *New = new GlobalVariable(
      M, Value->getType(), /*isConstant=*/true, GlobalValue::InternalLinkage,
      Value, "", Old, GlobalValue::NotThreadLocal, Old->getAddressSpace());
  Old->replaceAllUsesWith(New);
  New->takeName(Old);
  Old->eraseFromParent();
}

void defineConstants(Module &M, ArrayRef<GlobalVariable *> Globals) {
  LLVMContext &Context = M.getContext();
  Type *Pointer = PointerType::get(Context, Generic);
  Type *Word = Type::getInt64Ty(Context);
  auto *Row = StructType::get(Pointer, Word);
  std::vector<llvm::Constant *> Rows;
  for (GlobalVariable *G : Globals)
    Rows.push_back(ConstantStruct::get(
        Row, {ConstantExpr::getPointerBitCastOrAddrSpaceCast(G, Pointer),
              ConstantInt::get(Word, M.getDataLayout().getTypeAllocSize(
                                         G->getValueType()))}));
  if (Rows.empty()) // PTX has no empty arrays
    Rows.push_back(llvm::Constant::getNullValue(Row));
  define(M, "__r3_trace_constants",
         ConstantArray::get(ArrayType::get(Row, Rows.size()), Rows));
  define(M, "__r3_trace_constant_count",
         ConstantInt::get(Word, Globals.size()));
}

void guard(const Access &A, Function &Check, uint32_t Site) {
  guardAccess(A, [&](IRBuilder<> &Builder) -> Value * {
    Value *Pointer = Builder.CreatePointerBitCastOrAddrSpaceCast(
        A.Address, Builder.getPtrTy(Generic));
    Value *Size = Builder.CreateZExtOrTrunc(A.Size, Builder.getInt64Ty());
    CallInst *Call = Builder.CreateCall(
        &Check, {Pointer, Size, Builder.getInt32(uint32_t(A.Kind)),
                 Builder.getInt32(Site)});
    Call->addRetAttr(Attribute::ZExt);
    // Only the traced build itself looks at what this writes, so that the code
    // around it is optimised as it would be without.
    Call->setMemoryEffects(MemoryEffects::inaccessibleMemOnly());
    Call->setDoesNotThrow();
    return Call;
  });
}

} // namespace

Expected<TraceInfo> addTrace(Module &M) {
  TraceInfo Info;
  SmallVector<Function *, 32> Defined = definedFunctions(M);
  std::vector<GlobalVariable *> Constants = constantsOf(M);
  if (Error E = linkCode(M, {TraceCode, TraceCodeSize}, "traced build"))
    return E;
  defineConstants(M, Constants);
  Function *Check = M.getFunction("__r3_trace_access");
  Check->addFnAttr(Attribute::NoInline);
  Check->addRetAttr(Attribute::ZExt);

  for (Function *F : Defined) {
    // They lie in no memory that one can tell from global memory.
    for (const Argument &A : F->args())
      if (F->getAttributes().hasParamAttr(A.getArgNo(), "nvvm.grid_constant"))
        Info.Unseen.push_back("a __grid_constant__ parameter of " +
                              sourceOf(F->front().front()));
    for (std::string &Text : unseenAccesses(*F))
      Info.Unseen.push_back(std::move(Text));
    for (const Access &A : accessesOf(*F)) {
      if (!mayBeGlobal(A))
        continue;
      guard(A, *Check, static_cast<uint32_t>(Info.Sites.size()));
      Info.Sites.push_back(sourceOf(*A.Where));
    }
  }
  return Info;
}

} // namespace r3::instrument
