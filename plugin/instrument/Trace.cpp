// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checks are calls of one device function, which is linked in as bitcode.
#include "plugin/instrument/Trace.h"

#include "plugin/instrument/Accesses.h"
#include "plugin/instrument/Code.h"
#include "plugin/instrument/FloatUses.h"
#include "plugin/ir/Closure.h"
#include "runtime/support/TraceAbi.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace r3 {
extern const uint8_t TraceCode[]; // code/Trace.cu as bitcode
extern const uint64_t TraceCodeSize;
} // namespace r3

namespace r3::instrument {

namespace {

// NVPTX address spaces.
enum : unsigned { Generic = 0, Global = 1, Shared = 3, Constant = 4 };

unsigned addressSpaceOf(const Access &A) {
  return getUnderlyingObject(A.Address, /*MaxLookup=*/32)
      ->getType()
      ->getPointerAddressSpace();
}

/// Whether an access may be one to global or shared memory, or to a variable in
/// constant memory, which the program fills; as far as one can see here.
bool isTraced(const Access &A) {
  const Value *Object = getUnderlyingObject(A.Address, /*MaxLookup=*/32);
  const unsigned Space = addressSpaceOf(A);
  auto *G = dyn_cast<GlobalVariable>(Object);
  if (G && Space == Constant && G->isExternallyInitialized())
    return true;
  if (G && G->isConstant())
    return A.Kind != AccessKind::Read;
  return Space <= Global || Space == Shared;
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

/// Shared variables with an end, and the first of those that begin dynamic
/// shared memory, which comes last.
SmallVector<GlobalVariable *, 8> sharedVariables(Module &M) {
  SmallVector<GlobalVariable *, 8> Found;
  GlobalVariable *Dynamic = nullptr;
  for (GlobalVariable &G : M.globals())
    if (G.getAddressSpace() == Shared && G.isDeclaration())
      Dynamic = &G;
    else if (G.getAddressSpace() == Shared)
      Found.push_back(&G);
  if (Dynamic)
    Found.push_back(Dynamic);
  return Found;
}

/// Gives __r3_trace_shared its body; the number of bytes of static memory.
uint64_t defineShared(Module &M, ArrayRef<GlobalVariable *> Variables) {
  Function &F = *M.getFunction("__r3_trace_shared");
  F.setLinkage(GlobalValue::InternalLinkage);
  IRBuilder<> Builder(BasicBlock::Create(M.getContext(), "", &F));
  Type *Word = Builder.getInt64Ty();
  Value *Where = Builder.CreatePtrToInt(F.getArg(0), Word);
  Value *Size = F.getArg(1);
  Value *Lowest = Builder.getInt64(~0ull);
  Value *Result = Builder.getInt64(trace::Nowhere);
  uint64_t Bytes = 0;
  for (GlobalVariable *G : Variables) {
    Value *Begin = Builder.CreatePtrToInt(
        Builder.CreateAddrSpaceCast(G, Builder.getPtrTy(Generic)), Word);
    uint64_t Own = 0;
    if (!G->isDeclaration())
      Own = M.getDataLayout().getTypeAllocSize(G->getValueType());
    Value *End =
        G->isDeclaration()
            ? Builder.CreateCall(M.getFunction("__r3_trace_dynamic_size"))
            : static_cast<Value *>(Builder.getInt64(Own));
    Value *Offset = Builder.CreateSub(Where, Begin);
    Value *Inside = Builder.CreateAnd(
        Builder.CreateICmpULE(Size, End),
        Builder.CreateICmpULE(Offset, Builder.CreateSub(End, Size)));
    Result = Builder.CreateSelect(
        Inside, Builder.CreateAdd(Offset, Builder.getInt64(Bytes)), Result);
    Lowest = Builder.CreateBinaryIntrinsic(Intrinsic::umin, Lowest, Begin);
    Bytes += Own;
  }
  Builder.CreateRet(Builder.CreateSelect(Builder.CreateICmpULT(Where, Lowest),
                                         Builder.getInt64(trace::NotOurs),
                                         Result));
  return Bytes;
}

/// Tells the launching process how much there is.
void setStaticShared(Module &M, uint64_t Bytes) {
  GlobalVariable *State = M.getGlobalVariable(trace::TraceState);
  auto *T = cast<StructType>(State->getValueType());
  const unsigned Field =
      M.getDataLayout().getStructLayout(T)->getElementContainingOffset(
          offsetof(trace::State, StaticShared));
  SmallVector<llvm::Constant *, 16> Fields;
  for (Type *Each : T->elements())
    Fields.push_back(llvm::Constant::getNullValue(Each));
  Fields[Field] = ConstantInt::get(T->getElementType(Field), Bytes);
  State->setInitializer(ConstantStruct::get(T, Fields));
}

trace::Use useOf(const Access &A) {
  if (isa<AnyMemTransferInst>(A.Where))
    return trace::Use::Copied;
  const Instruction &I = *A.Where;
  auto *Adds = dyn_cast<AtomicRMWInst>(&I);
  if (!isa<LoadInst>(I) && !(Adds && Adds->isFloatingPointOperation()))
    return trace::Use::Other;
  const Type *T = I.getType()->getScalarType();
  if (!(T->isFloatTy() || T->isDoubleTy()) || !isOnlyNumber(I))
    return trace::Use::Other;
  return T->isFloatTy() ? trace::Use::Float : trace::Use::Double;
}

uint32_t describe(const Access &A) {
  const unsigned Space = addressSpaceOf(A);
  const uint32_t Where = Space == Shared     ? uint32_t(trace::InShared)
                         : Space == Constant ? uint32_t(trace::InConstant)
                                             : 0;
  return trace::describe(uint32_t(A.Kind) | Where, useOf(A), Log2(A.Alignment));
}

void guard(const Access &A, Function &Check, uint32_t Access, uint32_t Site) {
  guardAccess(A, [&](IRBuilder<> &Builder) -> Value * {
    Value *Pointer = Builder.CreatePointerBitCastOrAddrSpaceCast(
        A.Address, Builder.getPtrTy(Generic));
    Value *Size = Builder.CreateZExtOrTrunc(A.Size, Builder.getInt64Ty());
    CallInst *Call =
        Builder.CreateCall(&Check, {Pointer, Size, Builder.getInt32(Access),
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
  SmallVector<GlobalVariable *, 8> Variables = sharedVariables(M);
  if (Error E = linkCode(M, {TraceCode, TraceCodeSize}, "traced build"))
    return E;
  defineConstants(M, Constants);
  setStaticShared(M, defineShared(M, Variables));
  Function *Check = M.getFunction("__r3_trace_access");
  Check->addFnAttr(Attribute::NoInline);
  Check->addRetAttr(Attribute::ZExt);

  std::vector<std::pair<Access, uint32_t>> Seen;
  for (Function *F : Defined) {
    // They lie in no memory that one can tell from global memory.
    for (const Argument &A : F->args())
      if (F->getAttributes().hasParamAttr(A.getArgNo(), "nvvm.grid_constant"))
        Info.Unseen.push_back("a __grid_constant__ parameter of " +
                              sourceOf(F->front().front()));
    for (std::string &Text : unseenAccesses(*F))
      Info.Unseen.push_back(std::move(Text));
    if (ir::isKernel(*F))
      Info.Numbers = numberParameters(*F);
    for (const Access &A : accessesOf(*F))
      if (isTraced(A))
        Seen.emplace_back(A, describe(A));
  }
  // From here on the code is changed.
  for (const auto &[A, Described] : Seen) {
    guard(A, *Check, Described, static_cast<uint32_t>(Info.Sites.size()));
    Info.Sites.push_back(sourceOf(*A.Where));
  }
  return Info;
}

} // namespace r3::instrument
