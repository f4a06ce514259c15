// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies count twice, as a read and as a write. Where both sides of one
// instruction are guarded, it runs only where both guards allow it.
#include "plugin/instrument/Accesses.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace r3::instrument {

namespace {

bool isOwn(const Value *Address) {
  const Value *Object = getUnderlyingObject(Address, /*MaxLookup=*/32);
  if (auto *A = dyn_cast<Argument>(Object))
    return A->hasByValAttr() || A->hasStructRetAttr();
  return isa<AllocaInst>(Object);
}

class Collector {
public:
  explicit Collector(Function &F) : Layout(F.getDataLayout()) {
    for (Instruction &I : instructions(F))
      visit(I);
  }
  std::vector<Access> Found;

private:
  const DataLayout &Layout;

  void add(Instruction &I, Value *Address, Value *Size, AccessKind Kind,
           Align Alignment) {
    if (!isOwn(Address))
      Found.push_back({&I, Address, Size, Kind, Alignment});
  }

  void add(Instruction &I, Value *Address, Type *T, AccessKind Kind,
           Align Alignment) {
    add(I, Address,
        ConstantInt::get(Type::getInt64Ty(I.getContext()),
                         Layout.getTypeStoreSize(T)),
        Kind, Alignment);
  }

  void visit(Instruction &I) {
    if (auto *L = dyn_cast<LoadInst>(&I))
      add(I, L->getPointerOperand(), L->getType(), AccessKind::Read,
          L->getAlign());
    else if (auto *S = dyn_cast<StoreInst>(&I))
      add(I, S->getPointerOperand(), S->getValueOperand()->getType(),
          AccessKind::Write, S->getAlign());
    else if (auto *R = dyn_cast<AtomicRMWInst>(&I))
      add(I, R->getPointerOperand(), R->getType(), AccessKind::ReadWrite,
          R->getAlign());
    else if (auto *X = dyn_cast<AtomicCmpXchgInst>(&I))
      add(I, X->getPointerOperand(), X->getCompareOperand()->getType(),
          AccessKind::ReadWrite, X->getAlign());
    else if (auto *Set = dyn_cast<AnyMemIntrinsic>(&I)) {
      add(I, Set->getRawDest(), Set->getLength(), AccessKind::Write,
          Set->getDestAlign().valueOrOne());
      if (auto *Copy = dyn_cast<AnyMemTransferInst>(&I))
        add(I, Copy->getRawSource(), Copy->getLength(), AccessKind::Read,
            Copy->getSourceAlign().valueOrOne());
    }
  }
};

bool hasPointer(const CallBase &Call) {
  return any_of(Call.args(), [](const Use &Operand) {
    return Operand->getType()->isPtrOrPtrVectorTy() && !isOwn(Operand);
  });
}

/// Fences and barriers name memory but touch none.
bool isFence(StringRef Text) {
  Text = Text.ltrim(" \t{");
  for (StringRef Name : {"bar.", "barrier.", "membar", "fence", "nanosleep",
                         "griddepcontrol", "discard", "prefetch"})
    if (Text.starts_with(Name))
      return true;
  return false;
}

/// Reads the address of the driver's memory for grid barriers.
bool isGridWorkspace(const CallBase &Call) {
  if (auto *Asm = dyn_cast<InlineAsm>(Call.getCalledOperand()))
    return StringRef(Asm->getAsmString()).contains("%envreg");
  const Function *Callee = Call.getCalledFunction();
  return Callee &&
         Callee->getName().starts_with("llvm.nvvm.read.ptx.sreg.envreg");
}

/// Asks a cache for memory, of which it touches nothing.
bool isPrefetch(const Function &F) {
  return F.getName().starts_with("llvm.prefetch.") ||
         F.getName().starts_with("llvm.nvvm.prefetch");
}

bool isUnseen(const CallBase &Call) {
  if (isGridWorkspace(Call))
    return true;
  if (Call.doesNotAccessMemory() || isa<AnyMemIntrinsic>(Call))
    return false;
  if (auto *Asm = dyn_cast<InlineAsm>(Call.getCalledOperand())) {
    if (isFence(Asm->getAsmString()))
      return false;
    return hasPointer(Call) ||
           StringRef(Asm->getConstraintString()).contains("~{memory}");
  }
  const Function *Callee = Call.getCalledFunction();
  if (!Callee)
    return false; // indirect: the callee is in the module
  if (Callee->isIntrinsic())
    return hasPointer(Call) && !isPrefetch(*Callee) &&
           !Call.isLifetimeStartOrEnd() &&
           !Call.onlyAccessesInaccessibleMemory() &&
           Callee->getIntrinsicID() != Intrinsic::assume;
  return false;
}

} // namespace

std::vector<Access> accessesOf(Function &F) {
  return std::move(Collector(F).Found);
}

std::string sourceOf(const Instruction &I) {
  const std::string Name = demangle(I.getFunction()->getName());
  if (const DILocation *Where = I.getDebugLoc())
    return (Where->getFilename() + ":" + Twine(Where->getLine()) + " in " +
            Name)
        .str();
  return Name;
}

std::vector<std::string> unseenAccesses(const Function &F) {
  std::vector<std::string> Found;
  for (const Instruction &I : instructions(F)) {
    auto *Call = dyn_cast<CallBase>(&I);
    if (!Call || !isUnseen(*Call))
      continue;
    auto *Asm = dyn_cast<InlineAsm>(Call->getCalledOperand());
    const std::string What = Asm ? "asm \"" + Asm->getAsmString().str() + "\""
                                 : Call->getCalledFunction()->getName().str();
    Found.push_back(What + " (" + sourceOf(I) + ")");
  }
  return Found;
}

void guardAccess(const Access &A,
                 function_ref<Value *(IRBuilder<> &)> Allowed) {
  IRBuilder<> Builder(A.Where);
  Value *Condition = Allowed(Builder);
  BasicBlock *Before = A.Where->getParent();
  Instruction *Then =
      SplitBlockAndInsertIfThen(Condition, A.Where, /*Unreachable=*/false);
  BasicBlock *After = A.Where->getParent();
  A.Where->moveBefore(Then->getIterator());
  if (A.Where->getType()->isVoidTy())
    return;
  IRBuilder<> Join(After, After->begin());
  PHINode *Result = Join.CreatePHI(A.Where->getType(), 2);
  A.Where->replaceAllUsesWith(Result);
  Result->addIncoming(A.Where, Then->getParent());
  Result->addIncoming(Constant::getNullValue(A.Where->getType()), Before);
}

} // namespace r3::instrument
