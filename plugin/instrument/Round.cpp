// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugin/instrument/Round.h"

#include "plugin/instrument/Code.h"
#include "plugin/instrument/MathNames.h"
#include "runtime/support/RoundAbi.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace r3 {
extern const uint8_t RoundCode[]; // code/Round.cu as bitcode
extern const uint64_t RoundCodeSize;
} // namespace r3

namespace r3::instrument {

namespace {

bool isReal(Type *T) {
  Type *S = T->getScalarType();
  return (S->isFloatTy() || S->isDoubleTy()) && !isa<ScalableVectorType>(T);
}

class Rounder {
public:
  explicit Rounder(Module &M) : M(M) {}

  void visit(Function &F) {
    Seed = nullptr;
    SmallVector<Instruction *, 64> All;
    for (Instruction &I : instructions(F))
      All.push_back(&I);
    for (Instruction *I : All)
      visit(*I);
  }

private:
  Module &M;
  Value *Seed = nullptr; // in the function that is visited
  uint64_t Sites = 0;

  void visit(Instruction &I) {
    if (auto *Operation = dyn_cast<BinaryOperator>(&I))
      visitBinary(*Operation);
    else if (auto *Cast = dyn_cast<CastInst>(&I))
      visitCast(*Cast);
    else if (auto *Call = dyn_cast<CallInst>(&I))
      visitCall(*Call);
  }

  void visitBinary(BinaryOperator &I) {
    const char *Name = I.getOpcode() == Instruction::FAdd   ? "add"
                       : I.getOpcode() == Instruction::FSub ? "sub"
                       : I.getOpcode() == Instruction::FMul ? "mul"
                       : I.getOpcode() == Instruction::FDiv ? "div"
                                                            : nullptr;
    if (Name && isReal(I.getType()))
      replace(I, Name, {I.getOperand(0), I.getOperand(1)});
  }

  /// Conversions that may be inexact. Integers become 32 or 64 bits wide.
  void visitCast(CastInst &I) {
    Type *From = I.getSrcTy()->getScalarType();
    if (!isReal(I.getType()))
      return;
    if (isa<FPTruncInst>(I)) // of double: there is nothing wider
      return replace(I, "narrow", {I.getOperand(0)});
    const bool Signed = isa<SIToFPInst>(I);
    if (!Signed && !isa<UIToFPInst>(I))
      return;
    const unsigned Bits = From->getIntegerBitWidth();
    const unsigned Exact = I.getType()->getScalarType()->isFloatTy() ? 24 : 53;
    if (Bits - Signed <= Exact || Bits > 64)
      return;
    const unsigned Wide = Bits <= 32 ? 32 : 64;
    IRBuilder<> Builder(&I);
    Value *Integer = Builder.CreateIntCast(
        I.getOperand(0), I.getSrcTy()->getWithNewType(Builder.getIntNTy(Wide)),
        Signed);
    replace(I, (Signed ? "i" : "u") + std::to_string(Wide), {Integer});
  }

  void visitCall(CallInst &I) {
    const Function *Callee = I.getCalledFunction();
    if (!Callee)
      return;
    if (hasRealsByPointer(*Callee)) {
      moveStored(I, I.getArgOperand(1));
      moveStored(I, I.getArgOperand(2));
    }
    if (!isReal(I.getType()))
      return;
    if (std::string Name = roundedOperation(*Callee); !Name.empty())
      replace(I, Name, SmallVector<Value *, 3>(I.args()));
    else if (isInexact(*Callee))
      move(I);
  }

  /// The same call for each element, or one for a scalar. Name: without the
  /// type of the result.
  Value *build(IRBuilder<> &Builder, const std::string &Name, Type *Result,
               ArrayRef<Value *> Operands) {
    auto *Vector = dyn_cast<FixedVectorType>(Result);
    if (!Vector)
      return buildScalar(Builder, Name, Result, Operands);
    Value *Whole = PoisonValue::get(Vector);
    for (unsigned I = 0; I < Vector->getNumElements(); ++I) {
      SmallVector<Value *, 3> Elements;
      for (Value *Operand : Operands)
        Elements.push_back(Builder.CreateExtractElement(Operand, I));
      Whole = Builder.CreateInsertElement(
          Whole, buildScalar(Builder, Name, Vector->getElementType(), Elements),
          I);
    }
    return Whole;
  }

  Value *buildScalar(IRBuilder<> &Builder, const std::string &Name,
                     Type *Result, ArrayRef<Value *> Operands) {
    Function *Callee = M.getFunction("__r3_round_" + Name +
                                     (Result->isFloatTy() ? "_f" : "_d"));
    SmallVector<Value *, 4> Arguments(Operands);
    Arguments.push_back(key(Builder));
    return Builder.CreateCall(Callee, Arguments);
  }

  /// Seed and place as one number.
  Value *key(IRBuilder<> &Builder) {
    if (!Seed)
      Seed = loadSeed(*Builder.GetInsertBlock()->getParent());
    constexpr uint64_t Spread = 0x9e3779b97f4a7c15;
    return Builder.CreateAdd(Seed, Builder.getInt64(++Sites * Spread));
  }

  Value *loadSeed(Function &F) {
    IRBuilder<> Builder(&F.getEntryBlock(),
                        F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    LoadInst *Load = Builder.CreateLoad(
        Builder.getInt64Ty(), M.getGlobalVariable(round::RoundSeed), "r3.seed");
    // Nobody writes it while a kernel runs.
    Load->setMetadata(LLVMContext::MD_invariant_load,
                      MDNode::get(M.getContext(), {}));
    return Load;
  }

  void replace(Instruction &I, const std::string &Name,
               ArrayRef<Value *> Operands) {
    IRBuilder<> Builder(&I);
    Value *Result = build(Builder, Name, I.getType(), Operands);
    I.replaceAllUsesWith(Result);
    Result->takeName(&I);
    I.eraseFromParent();
  }

  void move(CallInst &I) {
    Instruction *Exact = I.clone();
    Exact->insertBefore(I.getIterator());
    replace(I, "moved", {Exact});
  }

  void moveStored(CallInst &I, Value *Pointer) {
    const bool IsFloat = I.getArgOperand(0)->getType()->isFloatTy();
    IRBuilder<> Builder(I.getNextNode());
    Type *Real = IsFloat ? Builder.getFloatTy() : Builder.getDoubleTy();
    Value *Stored = Builder.CreateLoad(Real, Pointer);
    Builder.CreateStore(build(Builder, "moved", Real, {Stored}), Pointer);
  }
};

} // namespace

Error addRounding(Module &M) {
  SmallVector<Function *, 32> Own = ownFunctions(M);
  if (Error E = linkCode(M, {RoundCode, RoundCodeSize}, "random rounding"))
    return E;
  Rounder Rounds(M);
  for (Function *F : Own)
    Rounds.visit(*F);
  // From here on those that nothing calls are of no use.
  for (Function &F : make_early_inc_range(M))
    if (F.getName().starts_with("__r3_round_") && F.use_empty())
      F.eraseFromParent();
  return Error::success();
}

} // namespace r3::instrument
