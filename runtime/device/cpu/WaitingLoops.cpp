// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop waits where it has a volatile, atomic or fenced access, and the
// condition of an exit depends on something that the loop loads. Loops that
// try an atomic exchange until it succeeds look the same and get turns too,
// which costs them little.
#include "runtime/device/cpu/WaitingLoops.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace r3::cpu {

static bool isShared(const Instruction &I) {
  return I.isVolatile() || I.isAtomic() || isa<FenceInst>(I);
}

static bool readsMemory(const Instruction &I) {
  return isa<LoadInst, AtomicRMWInst, AtomicCmpXchgInst>(I);
}

/// Whether V is computed in the loop from something loaded in it.
static bool dependsOnLoad(const Loop &L, Value *V,
                          SmallPtrSetImpl<Value *> &Seen) {
  auto *I = dyn_cast<Instruction>(V);
  if (!I || !L.contains(I) || !Seen.insert(I).second)
    return false;
  if (readsMemory(*I))
    return true;
  return any_of(I->operands(), [&](Value *Operand) {
    return dependsOnLoad(L, Operand, Seen);
  });
}

static bool waits(const Loop &L) {
  bool Shared = any_of(L.blocks(), [](const BasicBlock *Block) {
    return any_of(*Block, isShared);
  });
  if (!Shared)
    return false;
  SmallVector<BasicBlock *, 4> Exiting;
  L.getExitingBlocks(Exiting);
  SmallPtrSet<Value *, 16> Seen;
  for (BasicBlock *Block : Exiting) {
    Instruction *End = Block->getTerminator();
    if (any_of(End->operands(),
               [&](Value *Operand) { return dependsOnLoad(L, Operand, Seen); }))
      return true;
  }
  return Exiting.empty();
}

void addTurns(Module &M) {
  Type *Pointer = PointerType::getUnqual(M.getContext());
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    DominatorTree Tree(F);
    LoopInfo Loops(Tree);
    SmallVector<BasicBlock *, 4> Headers;
    for (Loop *L : Loops.getLoopsInPreorder())
      if (waits(*L))
        Headers.push_back(L->getHeader());
    for (BasicBlock *Header : Headers) {
      IRBuilder<> Builder(Header, Header->getFirstInsertionPt());
      Builder.CreateCall(
          M.getOrInsertFunction("__r3_cpu_spin", Builder.getVoidTy(), Pointer),
          {F.getArg(0)});
    }
  }
}

} // namespace r3::cpu
