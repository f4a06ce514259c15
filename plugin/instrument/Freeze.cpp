// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugin/instrument/Freeze.h"

#include "plugin/instrument/Code.h"
#include "plugin/ir/Closure.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace r3 {
extern const uint8_t FreezeCode[]; // code/Freeze.cu as bitcode
extern const uint64_t FreezeCodeSize;
} // namespace r3

namespace r3::instrument {

namespace {

constexpr unsigned Shared = 3; // NVPTX's address space

class Freezer {
public:
  explicit Freezer(uint8_t Byte) : Byte(Byte) {}

  void visit(Function &F) {
    SmallVector<Instruction *, 64> All;
    for (Instruction &I : instructions(F))
      All.push_back(&I);
    for (Instruction *I : All)
      visit(*I);
  }

private:
  const uint8_t Byte;

  void visit(Instruction &I) {
    for (Use &Operand : I.operands())
      if (auto *C = dyn_cast<Constant>(Operand))
        Operand.set(defined(C));
    if (auto *Variable = dyn_cast<AllocaInst>(&I))
      fill(*Variable, *behindVariables(I));
    else if (auto *Marker = dyn_cast<LifetimeIntrinsic>(&I))
      visitMarker(*Marker);
    else if (isa<LoadInst>(I)) { // a pattern may be out of a promised range
      I.dropPoisonGeneratingMetadata();
      I.dropUBImplyingAttrsAndMetadata();
    }
  }

  static Instruction *behindVariables(Instruction &I) {
    Instruction *Next = &I;
    while (isa<AllocaInst>(Next))
      Next = Next->getNextNode();
    return Next;
  }

  /// A life that begins anew is a new fill; the memory itself lives on.
  void visitMarker(LifetimeIntrinsic &Marker) {
    Value *Where = Marker.getArgOperand(Marker.arg_size() - 1);
    auto *Variable = dyn_cast<AllocaInst>(Where->stripPointerCasts());
    if (Variable && Marker.getIntrinsicID() == Intrinsic::lifetime_start)
      fill(*Variable, Marker);
    if (Variable)
      Marker.eraseFromParent();
  }

  void fill(AllocaInst &Variable, Instruction &Before) {
    IRBuilder<> Builder(&Before);
    const DataLayout &Layout = Variable.getDataLayout();
    Value *Size = Builder.CreateMul(
        Builder.CreateZExtOrTrunc(Variable.getArraySize(),
                                  Builder.getInt64Ty()),
        Builder.getInt64(Layout.getTypeAllocSize(Variable.getAllocatedType())));
    Builder.CreateMemSet(&Variable, Builder.getInt8(Byte), Size,
                         Variable.getAlign());
  }

  /// C without undef and poison.
  Constant *defined(Constant *C) {
    if (isa<UndefValue>(C))
      return pattern(C);
    if (isa<GlobalValue>(C) || !C->getNumOperands() ||
        !(isa<ConstantAggregate>(C) || isa<ConstantExpr>(C)))
      return C;
    SmallVector<Constant *, 8> Parts;
    bool Changed = false;
    for (Use &Operand : C->operands()) {
      auto *Part = cast<Constant>(Operand);
      Parts.push_back(defined(Part));
      Changed |= Parts.back() != Part;
    }
    if (!Changed)
      return C;
    if (auto *Expression = dyn_cast<ConstantExpr>(C))
      return Expression->getWithOperands(Parts);
    if (auto *Struct = dyn_cast<StructType>(C->getType()))
      return ConstantStruct::get(Struct, Parts);
    if (auto *Array = dyn_cast<ArrayType>(C->getType()))
      return ConstantArray::get(Array, Parts);
    return ConstantVector::get(Parts);
  }

  APInt bits(unsigned Count) const {
    const unsigned Whole = alignTo(Count, 8);
    return APInt::getSplat(Whole, APInt(8, Byte)).trunc(Count);
  }

  /// Undefined itself where its type has no values of its own (tokens).
  Constant *pattern(Constant *Undefined) {
    Type *T = Undefined->getType();
    LLVMContext &Context = T->getContext();
    if (auto *Integer = dyn_cast<IntegerType>(T))
      return ConstantInt::get(Context, bits(Integer->getBitWidth()));
    if (T->isFloatingPointTy())
      return ConstantFP::get(
          Context,
          APFloat(T->getFltSemantics(), bits(T->getPrimitiveSizeInBits())));
    if (T->isPointerTy())
      return ConstantExpr::getIntToPtr(ConstantInt::get(Context, bits(64)), T);
    if (auto *Vector = dyn_cast<FixedVectorType>(T))
      return ConstantVector::getSplat(
          Vector->getElementCount(),
          pattern(UndefValue::get(Vector->getElementType())));
    SmallVector<Constant *, 8> Parts;
    if (auto *Array = dyn_cast<ArrayType>(T)) {
      Parts.assign(Array->getNumElements(),
                   pattern(UndefValue::get(Array->getElementType())));
      return ConstantArray::get(Array, Parts);
    }
    if (auto *Struct = dyn_cast<StructType>(T)) {
      for (Type *Part : Struct->elements())
        Parts.push_back(pattern(UndefValue::get(Part)));
      return ConstantStruct::get(Struct, Parts);
    }
    return Undefined;
  }
};

SmallVector<GlobalVariable *, 8> sharedVariables(Module &M) {
  SmallVector<GlobalVariable *, 8> Found;
  bool Dynamic = false; // all of them begin at one address
  for (GlobalVariable &G : M.globals()) {
    if (G.getAddressSpace() != Shared || (G.isDeclaration() && Dynamic))
      continue;
    Dynamic |= G.isDeclaration();
    Found.push_back(&G);
  }
  return Found;
}

/// All threads together, before anything else.
void fillShared(Function &Kernel, ArrayRef<GlobalVariable *> Variables,
                uint8_t Byte) {
  Module &M = *Kernel.getParent();
  IRBuilder<> Builder(&Kernel.getEntryBlock(),
                      Kernel.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  for (GlobalVariable *G : Variables) {
    Value *Size =
        G->isDeclaration()
            ? static_cast<Value *>(
                  Builder.CreateCall(M.getFunction("__r3_freeze_dynamic_size")))
            : Builder.getInt64(
                  M.getDataLayout().getTypeAllocSize(G->getValueType()));
    Builder.CreateCall(M.getFunction("__r3_freeze_fill"),
                       {Builder.CreateAddrSpaceCast(G, Builder.getPtrTy()),
                        Size, Builder.getInt8(Byte)});
  }
  Builder.CreateCall(M.getFunction("__r3_freeze_barrier"));
}

} // namespace

Error freezeUndefined(Module &M, uint8_t Byte) {
  SmallVector<Function *, 32> Defined = definedFunctions(M);
  SmallVector<GlobalVariable *, 8> Variables = sharedVariables(M);
  if (Error E =
          linkCode(M, {FreezeCode, FreezeCodeSize}, "frozen undefined values"))
    return E;
  for (Function *F : Defined)
    Freezer(Byte).visit(*F);
  for (Function *F : Defined)
    if (ir::isKernel(*F) && !Variables.empty())
      fillShared(*F, Variables, Byte);
  return Error::success();
}

} // namespace r3::instrument
