// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every offset in such a variable doubles: a float has four bytes, a double
// eight, and nothing else is in it.
#include "plugin/instrument/Variables.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace r3::instrument {

namespace {

/// T with doubles for floats; null where it holds anything else.
Type *doubled(Type *T) {
  LLVMContext &Context = T->getContext();
  if (T->isFloatTy())
    return Type::getDoubleTy(Context);
  if (auto *Array = dyn_cast<ArrayType>(T)) {
    Type *Element = doubled(Array->getElementType());
    return Element ? ArrayType::get(Element, Array->getNumElements()) : nullptr;
  }
  auto *Struct = dyn_cast<StructType>(T);
  if (!Struct || Struct->isPacked() || Struct->isOpaque())
    return nullptr;
  SmallVector<Type *, 8> Fields;
  for (Type *Field : Struct->elements()) {
    Fields.push_back(doubled(Field));
    if (!Fields.back())
      return nullptr;
  }
  return StructType::get(Context, Fields);
}

bool isByte(const GetElementPtrInst &Step) {
  return Step.getSourceElementType()->isIntegerTy(8);
}

/// One variable and everything that leads to its memory.
class Variable {
public:
  explicit Variable(AllocaInst &Memory) : Memory(Memory) {}

  bool canWiden() {
    return doubled(Memory.getAllocatedType()) && Memory.isStaticAlloca() &&
           collect(Memory);
  }

  void widen() {
    for (Instruction *User : Users)
      widen(*User);
    Memory.setAllocatedType(doubled(Memory.getAllocatedType()));
    Memory.setAlignment(std::max(Memory.getAlign(), Align(8)));
  }

private:
  AllocaInst &Memory;
  SmallVector<Instruction *, 16> Users;

  bool collect(Instruction &Pointer) {
    for (Use &U : Pointer.uses()) {
      auto &User = *cast<Instruction>(U.getUser());
      if (!canWiden(User, U))
        return false;
      Users.push_back(&User);
      if (isa<GetElementPtrInst>(User) && !collect(User))
        return false;
    }
    return true;
  }

  static bool canWiden(Instruction &User, const Use &U) {
    if (auto *Step = dyn_cast<GetElementPtrInst>(&User))
      return U.getOperandNo() == 0 && Step->getType()->isPointerTy() &&
             (isByte(*Step) ? Step->getNumIndices() == 1
                            : doubled(Step->getSourceElementType()) != nullptr);
    if (auto *Load = dyn_cast<LoadInst>(&User))
      return Load->isSimple() && Load->getType()->isFloatTy();
    if (auto *Store = dyn_cast<StoreInst>(&User))
      return Store->isSimple() && U.getOperandNo() == 1 &&
             Store->getValueOperand()->getType()->isFloatTy();
    if (auto *Set = dyn_cast<MemSetInst>(&User)) {
      auto *Value = dyn_cast<ConstantInt>(Set->getValue());
      return U.getOperandNo() == 0 && !Set->isVolatile() && Value &&
             Value->isZero();
    }
    return isa<LifetimeIntrinsic>(User);
  }

  static Value *twice(IRBuilder<> &Builder, Value *Size) {
    return Builder.CreateMul(Size, ConstantInt::get(Size->getType(), 2));
  }

  static void widen(Instruction &User) {
    IRBuilder<> Builder(&User);
    Type *Double = Builder.getDoubleTy();
    if (auto *Step = dyn_cast<GetElementPtrInst>(&User)) {
      if (isByte(*Step)) {
        Step->setOperand(1, twice(Builder, Step->getOperand(1)));
        return;
      }
      Step->setSourceElementType(doubled(Step->getSourceElementType()));
      Step->setResultElementType(doubled(Step->getResultElementType()));
    } else if (auto *Load = dyn_cast<LoadInst>(&User)) {
      Value *Wide = Builder.CreateAlignedLoad(Double, Load->getPointerOperand(),
                                              Align(8));
      Load->replaceAllUsesWith(Builder.CreateFPTrunc(Wide, Load->getType()));
      Load->eraseFromParent();
    } else if (auto *Store = dyn_cast<StoreInst>(&User)) {
      Builder.CreateAlignedStore(
          Builder.CreateFPExt(Store->getValueOperand(), Double),
          Store->getPointerOperand(), Align(8));
      Store->eraseFromParent();
    } else if (auto *Set = dyn_cast<MemSetInst>(&User)) {
      Set->setLength(twice(Builder, Set->getLength()));
    }
  }
};

} // namespace

void widenVariables(Function &F) {
  SmallVector<AllocaInst *, 16> All;
  for (Instruction &I : instructions(F))
    if (auto *Memory = dyn_cast<AllocaInst>(&I))
      All.push_back(Memory);
  for (AllocaInst *Memory : All)
    if (Variable V(*Memory); V.canWiden())
      V.widen();
}

} // namespace r3::instrument
