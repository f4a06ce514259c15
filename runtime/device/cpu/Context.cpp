// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The hidden context argument, shared memory that hangs on it, and the
// kernel's entry. Every defined function gets the context, and every call of
// one, direct or through a pointer, passes it on.
#include "runtime/device/cpu/Retarget.h"

#include "runtime/device/cpu/KernelAbi.h"
#include "runtime/device/cpu/Substitute.h"

#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/ReplaceConstant.h"

#include <cstddef>

using namespace llvm;

namespace r3::cpu {

/// Attributes with those of parameters moved by one.
static AttributeList shifted(LLVMContext &C, const AttributeList &Old,
                             unsigned Count) {
  SmallVector<AttributeSet, 8> Parameters(1);
  for (unsigned I = 0; I < Count; ++I)
    Parameters.push_back(Old.getParamAttrs(I));
  // The one function attribute that names parameters by number.
  AttributeSet Function =
      Old.getFnAttrs().removeAttribute(C, Attribute::AllocSize);
  return AttributeList::get(C, Function, Old.getRetAttrs(), Parameters);
}

static FunctionType *withContext(FunctionType *Old) {
  SmallVector<Type *, 8> Parameters{PointerType::getUnqual(Old->getContext())};
  append_range(Parameters, Old->params());
  return FunctionType::get(Old->getReturnType(), Parameters, Old->isVarArg());
}

static AttributeList contextAttributes(LLVMContext &C, AttributeList List) {
  AttrBuilder Builder(C);
  Builder.addAttribute(Attribute::NonNull);
  Builder.addAttribute(Attribute::NoUndef);
  Builder.addAlignmentAttr(Align(8));
  Builder.addDereferenceableAttr(sizeof(ThreadContext));
  return List.addParamAttributes(C, 0, Builder);
}

/// A function of F's body with the context in front; F is erased.
static Function *rebuild(Function &F) {
  Function *New =
      Function::Create(withContext(F.getFunctionType()), F.getLinkage(),
                       F.getAddressSpace(), "", F.getParent());
  New->copyAttributesFrom(&F);
  New->setAttributes(contextAttributes(
      F.getContext(),
      shifted(F.getContext(), F.getAttributes(), F.arg_size())));
  New->takeName(&F);
  New->splice(New->begin(), &F);
  if (DISubprogram *Program = F.getSubprogram())
    New->setSubprogram(Program);
  for (auto [Old, Argument] : zip(F.args(), drop_begin(New->args()))) {
    Argument.takeName(&Old);
    Old.replaceAllUsesWith(&Argument);
  }
  New->getArg(0)->setName("context");
  F.replaceAllUsesWith(New);
  F.eraseFromParent();
  return New;
}

static void rebuildCall(CallBase &Call, Value *Context) {
  SmallVector<Value *, 8> Arguments{Context};
  append_range(Arguments, Call.args());
  SmallVector<OperandBundleDef, 1> Bundles;
  Call.getOperandBundlesAsDefs(Bundles);
  auto *New = CallInst::Create(withContext(Call.getFunctionType()),
                               Call.getCalledOperand(), Arguments, Bundles, "",
                               Call.getIterator());
  New->setAttributes(
      shifted(Call.getContext(), Call.getAttributes(), Call.arg_size()));
  if (auto *Old = dyn_cast<CallInst>(&Call);
      Old && Old->getTailCallKind() != CallInst::TCK_MustTail)
    New->setTailCallKind(Old->getTailCallKind());
  New->copyMetadata(Call);
  if (isa<FPMathOperator>(New))
    New->setFastMathFlags(Call.getFastMathFlags());
  New->takeName(&Call);
  Call.replaceAllUsesWith(New);
  Call.eraseFromParent();
}

/// Loads from the context always give the same, but for Fuel and Carry.
static void markInvariantLoads(Function &F) {
  const DataLayout &Layout = F.getParent()->getDataLayout();
  for (Instruction &I : instructions(F)) {
    auto *Load = dyn_cast<LoadInst>(&I);
    if (!Load)
      continue;
    APInt Offset(64, 0);
    Value *Base = Load->getPointerOperand()->stripAndAccumulateConstantOffsets(
        Layout, Offset, /*AllowNonInbounds=*/true);
    if (Base == F.getArg(0) && Offset != offsetof(ThreadContext, Fuel) &&
        Offset != offsetof(ThreadContext, Carry))
      Load->setMetadata(LLVMContext::MD_invariant_load,
                        MDNode::get(F.getContext(), {}));
  }
}

static void passContext(Function &F, const SmallPtrSetImpl<Value *> &Rebuilt) {
  SmallVector<CallBase *, 32> Calls;
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallBase>(&I))
      Calls.push_back(Call);
  for (CallBase *Call : Calls) {
    if (Call->isInlineAsm())
      continue;
    auto *Callee = dyn_cast<Function>(Call->getCalledOperand());
    if (Callee && Callee->getName() == ContextFunction) {
      Call->replaceAllUsesWith(F.getArg(0));
      Call->eraseFromParent();
    } else if (!Callee || Rebuilt.contains(Callee)) {
      rebuildCall(*Call, F.getArg(0));
    }
  }
  markInvariantLoads(F);
}

void addContext(Module &M) {
  SmallVector<Function *, 32> Defined;
  for (Function &F : M)
    if (!F.isDeclaration())
      Defined.push_back(&F);
  SmallPtrSet<Value *, 32> Rebuilt;
  for (Function *&F : Defined)
    Rebuilt.insert(F = rebuild(*F));
  for (Function *F : Defined)
    passContext(*F, Rebuilt);
}

namespace {

/// Places of shared variables, each computed once in a function that uses it.
class SharedPlaces {
public:
  SharedPlaces(Module &M, KernelImage &Image) : M(M), Image(Image) {}

  Error run() {
    SmallVector<GlobalVariable *, 8> Variables;
    for (GlobalVariable &G : M.globals())
      if (G.getAddressSpace() == 3)
        Variables.push_back(&G);
    if (Variables.empty())
      return Error::success();
    SmallVector<Constant *, 8> Constants(Variables.begin(), Variables.end());
    convertUsersOfConstantsToInstructions(Constants);
    uint64_t Static = place(Variables);
    if (Static > MaxSharedBytes)
      return fail(ErrorCode::CannotRunHere,
                  "%s: %llu bytes of shared memory, %u is the limit",
                  Image.Kernel.c_str(), static_cast<unsigned long long>(Static),
                  MaxSharedBytes);
    Image.StaticShared = static_cast<uint32_t>(Static);
    for (GlobalVariable *G : Variables)
      if (Error Failure = replace(*G))
        return Failure;
    return Error::success();
  }

private:
  Module &M;
  KernelImage &Image;
  DenseMap<GlobalVariable *, uint64_t> Offsets;

  /// Static variables in order, then dynamic shared memory, which all
  /// `extern __shared__` arrays name.
  uint64_t place(ArrayRef<GlobalVariable *> Variables) {
    uint64_t End = 0;
    for (GlobalVariable *G : Variables)
      if (!G->isDeclaration()) {
        Align Alignment = G->getAlign().value_or(
            M.getDataLayout().getABITypeAlign(G->getValueType()));
        Offsets[G] = alignTo(End, Alignment);
        End =
            Offsets[G] + M.getDataLayout().getTypeAllocSize(G->getValueType());
      }
    uint64_t Dynamic = alignTo(End, 128);
    bool HasDynamic = false;
    for (GlobalVariable *G : Variables)
      if (G->isDeclaration()) {
        Offsets[G] = Dynamic;
        HasDynamic = true;
      }
    return HasDynamic ? Dynamic : End;
  }

  Error replace(GlobalVariable &G) {
    DenseMap<Function *, Value *> Places;
    for (Use &U : make_early_inc_range(G.uses())) {
      auto *User = dyn_cast<Instruction>(U.getUser());
      if (!User)
        return fail(ErrorCode::CannotRunHere,
                    "the CPU device cannot run a constant that holds the "
                    "address of shared variable %s",
                    demangle(G.getName()).c_str());
      Value *&Place = Places[User->getFunction()];
      if (!Place)
        Place = compute(*User->getFunction(), G);
      U.set(Place);
    }
    G.eraseFromParent();
    return Error::success();
  }

  Value *compute(Function &F, GlobalVariable &G) {
    IRBuilder<> Builder(&F.getEntryBlock(), F.getEntryBlock().begin());
    Value *Field = Builder.CreateConstInBoundsGEP1_64(
        Builder.getInt8Ty(), F.getArg(0), offsetof(ThreadContext, Shared));
    LoadInst *Base = Builder.CreateLoad(Builder.getPtrTy(), Field);
    Base->setMetadata(LLVMContext::MD_invariant_load,
                      MDNode::get(F.getContext(), {}));
    Base->setMetadata(LLVMContext::MD_nonnull, MDNode::get(F.getContext(), {}));
    Base->setMetadata(
        LLVMContext::MD_align,
        MDNode::get(F.getContext(), ConstantAsMetadata::get(
                                        Builder.getInt64(SharedAlignment))));
    Value *Place = Builder.CreateConstInBoundsGEP1_64(Builder.getInt8Ty(), Base,
                                                      Offsets[&G]);
    return Builder.CreateAddrSpaceCast(Place, G.getType());
  }
};

} // namespace

Error placeShared(Module &M, KernelImage &Image) {
  return SharedPlaces(M, Image).run();
}

/// What the body gets for parameter Index: its value, or the address of the
/// thread's own copy of an object.
static Value *parameterValue(IRBuilder<> &Builder, Argument &A,
                             Value *Arguments, const Parameter &Where) {
  const DataLayout &Layout = A.getParent()->getParent()->getDataLayout();
  Value *Address = Builder.CreateConstInBoundsGEP1_64(Builder.getInt8Ty(),
                                                      Arguments, Where.Offset);
  if (!A.hasByValAttr()) {
    if (A.getType()->isIntegerTy(1))
      return Builder.CreateTrunc(
          Builder.CreateLoad(Builder.getInt8Ty(), Address), A.getType());
    return Builder.CreateAlignedLoad(A.getType(), Address, Align(1));
  }
  Type *Held = A.getParamByValType();
  Align Alignment =
      std::max(Layout.getABITypeAlign(Held), A.getParamAlign().valueOrOne());
  AllocaInst *Copy = Builder.CreateAlloca(Held);
  Copy->setAlignment(Alignment);
  Builder.CreateMemCpy(Copy, Alignment, Address, Align(1), Where.Size);
  if (A.getType()->getPointerAddressSpace())
    return Builder.CreateAddrSpaceCast(Copy, A.getType());
  return Copy;
}

void addEntry(Module &M, const KernelImage &Image) {
  Function *Body = M.getFunction(Image.Kernel);
  LLVMContext &C = M.getContext();
  Type *Pointer = PointerType::getUnqual(C);
  Body->setName(Image.Kernel + ".body");
  Function *Entry = Function::Create(
      FunctionType::get(Type::getVoidTy(C), {Pointer, Pointer}, false),
      GlobalValue::ExternalLinkage, Image.Kernel, M);
  Entry->setAttributes(contextAttributes(C, AttributeList()));
  Entry->addFnAttr(Attribute::NoUnwind);
  for (Attribute::AttrKind Kind :
       {Attribute::NoAlias, Attribute::ReadOnly, Attribute::NoUndef})
    Entry->addParamAttr(1, Kind);
  Entry->getArg(0)->setName("context");
  IRBuilder<> Builder(BasicBlock::Create(C, "", Entry));
  SmallVector<Value *, 8> Values{Entry->getArg(0)};
  for (unsigned I = 0; I < Image.Parameters.size(); ++I) {
    Argument &A = *Body->getArg(I + 1);
    Values.push_back(
        parameterValue(Builder, A, Entry->getArg(1), Image.Parameters[I]));
    A.removeAttr(Attribute::ByVal);
  }
  CallInst *Call = Builder.CreateCall(Body, Values);
  Call->setAttributes(Body->getAttributes().removeFnAttributes(C));
  Builder.CreateRetVoid();
  Body->setLinkage(GlobalValue::InternalLinkage);
  if (!Body->hasOptNone()) {
    Body->removeFnAttr(Attribute::NoInline);
    Body->addFnAttr(Attribute::AlwaysInline);
  } else {
    Entry->addFnAttr(Attribute::OptimizeNone);
    Entry->addFnAttr(Attribute::NoInline);
  }
}

} // namespace r3::cpu
