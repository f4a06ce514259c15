// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A twin in double is made of each operation; then whoever looks at one of the
// old values gets the twin, or the twin truncated, and the old ones go.
#include "plugin/instrument/Promotion.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/ValueHandle.h"

using namespace llvm;

namespace r3::instrument {

namespace {

bool isFloat(const Value *V) { return V->getType()->isFloatTy(); }

/// Intrinsics that both devices have for double, too.
bool isPromotable(Intrinsic::ID Id) {
  switch (Id) {
  case Intrinsic::fma:
  case Intrinsic::fmuladd:
  case Intrinsic::sqrt:
  case Intrinsic::fabs:
  case Intrinsic::floor:
  case Intrinsic::ceil:
  case Intrinsic::trunc:
  case Intrinsic::rint:
  case Intrinsic::nearbyint:
  case Intrinsic::round:
  case Intrinsic::roundeven:
  case Intrinsic::minnum:
  case Intrinsic::maxnum:
  case Intrinsic::copysign:
    return true;
  default:
    return false;
  }
}

class Promotion {
public:
  Promotion(Function &F, InDouble Twin)
      : F(F), Twin(Twin), Double(Type::getDoubleTy(F.getContext())) {}

  void run() {
    ReversePostOrderTraversal<Function *> Order(&F);
    for (BasicBlock *Block : Order)
      for (PHINode &Phi : Block->phis())
        if (isFloat(&Phi))
          makePhi(Phi);
    for (BasicBlock *Block : Order)
      for (Instruction &I : make_early_inc_range(*Block))
        if (isFloat(&I) && !isa<PHINode>(I))
          if (Value *Made = make(I))
            Wide[&I] = Made;
    for (auto &[Old, New] : Wide)
      if (auto *Phi = dyn_cast<PHINode>(Old))
        for (auto [Value, From] : zip(Phi->incoming_values(), Phi->blocks()))
          cast<PHINode>(&*New)->addIncoming(wide(Value), From);
    // From here on every promoted value has its twin.
    SmallVector<Instruction *, 64> All;
    for (Instruction &I : instructions(F))
      All.push_back(&I);
    for (Instruction *I : All)
      look(*I);
    retire();
  }

private:
  Function &F;
  InDouble Twin;
  Type *Double;
  MapVector<Instruction *, TrackingVH<Value>> Wide; // by the old value
  DenseMap<Value *, Value *> Extended;

  void makePhi(PHINode &Phi) {
    IRBuilder<> Builder(&Phi);
    PHINode *New = Builder.CreatePHI(Double, Phi.getNumIncomingValues());
    New->copyFastMathFlags(&Phi);
    Wide[&Phi] = New;
  }

  /// The twin of I; null where I stays.
  Value *make(Instruction &I) {
    IRBuilder<> Builder(&I);
    Value *New = nullptr;
    if (isa<BinaryOperator>(I))
      New = Builder.CreateBinOp(Instruction::BinaryOps(I.getOpcode()),
                                wide(I.getOperand(0)), wide(I.getOperand(1)));
    else if (isa<UnaryOperator>(I))
      New = Builder.CreateFNeg(wide(I.getOperand(0)));
    else if (auto *Select = dyn_cast<SelectInst>(&I))
      New = Builder.CreateSelect(Select->getCondition(),
                                 wide(Select->getTrueValue()),
                                 wide(Select->getFalseValue()));
    else if (isa<FPTruncInst>(I)) // of a double
      return I.getOperand(0);
    else if (isa<SIToFPInst>(I) || isa<UIToFPInst>(I))
      return Builder.CreateCast(Instruction::CastOps(I.getOpcode()),
                                I.getOperand(0), Double);
    else if (auto *Call = dyn_cast<CallInst>(&I))
      New = makeCall(Builder, *Call);
    if (auto *Operation = dyn_cast_or_null<Instruction>(New);
        Operation && isa<FPMathOperator>(Operation) && isa<FPMathOperator>(I))
      Operation->copyFastMathFlags(&I);
    return New;
  }

  Value *makeCall(IRBuilder<> &Builder, CallInst &Call) {
    Function *Callee = Call.getCalledFunction();
    if (!Callee)
      return nullptr;
    Function *New = nullptr;
    if (isPromotable(Callee->getIntrinsicID()))
      New = Intrinsic::getOrInsertDeclaration(
          F.getParent(), Callee->getIntrinsicID(), {Double});
    else if (!Callee->isIntrinsic())
      New = Twin(*Callee);
    if (!New)
      return nullptr;
    SmallVector<Value *, 3> Arguments;
    for (Value *Argument : Call.args())
      Arguments.push_back(isFloat(Argument) ? wide(Argument) : Argument);
    return Builder.CreateCall(New, Arguments);
  }

  Value *wide(Value *V) {
    if (auto *Number = dyn_cast<ConstantFP>(V)) {
      APFloat Exact = Number->getValueAPF();
      bool Inexact;
      Exact.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                    &Inexact);
      return ConstantFP::get(F.getContext(), Exact);
    }
    if (isa<PoisonValue>(V))
      return PoisonValue::get(Double);
    if (auto *I = dyn_cast<Instruction>(V))
      if (auto It = Wide.find(I); It != Wide.end())
        return It->second;
    Value *&Known = Extended[V];
    if (!Known) {
      IRBuilder<> Builder(F.getContext());
      placeBehind(Builder, V);
      Known = Builder.CreateFPExt(V, Double);
    }
    return Known;
  }

  void placeBehind(IRBuilder<> &Builder, Value *V) {
    BasicBlock &Entry = F.getEntryBlock();
    auto *I = dyn_cast<Instruction>(V);
    if (!I)
      return Builder.SetInsertPoint(&Entry,
                                    Entry.getFirstNonPHIOrDbgOrAlloca());
    BasicBlock::iterator Where = *I->getInsertionPointAfterDef();
    Builder.SetInsertPoint(Where->getParent(), Where);
  }

  bool isPromoted(Value *V) const {
    auto *I = dyn_cast<Instruction>(V);
    return I && Wide.contains(I);
  }

  /// Who looks at a promoted value and need not have it as float.
  void look(Instruction &I) {
    if (isPromoted(&I) ||
        none_of(I.operands(), [&](Value *V) { return isPromoted(V); }))
      return;
    IRBuilder<> Builder(&I);
    Value *New = nullptr;
    if (auto *Compare = dyn_cast<FCmpInst>(&I)) {
      New = Builder.CreateFCmp(Compare->getPredicate(), wide(I.getOperand(0)),
                               wide(I.getOperand(1)));
      if (auto *Made = dyn_cast<FCmpInst>(New))
        Made->copyFastMathFlags(Compare);
    } else if (isa<FPToSIInst>(I) || isa<FPToUIInst>(I)) {
      New = Builder.CreateCast(Instruction::CastOps(I.getOpcode()),
                               wide(I.getOperand(0)), I.getType());
    } else if (isa<FPExtInst>(I) && I.getType() == Double) {
      New = wide(I.getOperand(0));
    }
    if (!New)
      return;
    I.replaceAllUsesWith(New);
    I.eraseFromParent();
  }

  /// The old values go; who still looks at one gets its twin truncated.
  void retire() {
    auto IsOutside = [&](const Use &U) {
      return !Wide.contains(cast<Instruction>(U.getUser()));
    };
    for (auto &[Old, New] : Wide) {
      if (isa<FPTruncInst>(Old) || none_of(Old->uses(), IsOutside))
        continue;
      IRBuilder<> Builder(F.getContext());
      placeBehind(Builder, New);
      Value *Narrow = Builder.CreateFPTrunc(New, Old->getType());
      Old->replaceUsesWithIf(Narrow, IsOutside);
    }
    // What is left of their uses is among themselves.
    for (auto &[Old, New] : Wide)
      if (!isa<FPTruncInst>(Old) || none_of(Old->uses(), IsOutside))
        Old->replaceAllUsesWith(PoisonValue::get(Old->getType()));
    for (auto &[Old, New] : Wide)
      if (Old->use_empty())
        Old->eraseFromParent();
  }
};

} // namespace

void promoteFloats(Function &F, InDouble Twin) { Promotion(F, Twin).run(); }

} // namespace r3::instrument
