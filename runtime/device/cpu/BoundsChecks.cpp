// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Works on unoptimised code, so that each access of the source is seen with
// its line. The checker is a function of the engine, which knows the device's
// allocations; it reports the first access that fails.
#include "runtime/device/cpu/BoundsChecks.h"

#include "runtime/device/cpu/Substitute.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace r3::cpu {

namespace {

enum AccessKind : uint32_t { Load = 0, Store = 1, Atomic = 2 };

struct Access {
  Instruction *Where;
  Value *Address;
  Value *Size;
  AccessKind Kind;
};

class Checker {
public:
  explicit Checker(Function &F)
      : F(F), M(*F.getParent()), Layout(M.getDataLayout()) {}

  void run() {
    SmallVector<Access, 32> Found;
    for (Instruction &I : instructions(F))
      collect(I, Found);
    for (const Access &A : Found)
      guard(A);
  }

private:
  Function &F;
  Module &M;
  const DataLayout &Layout;

  bool isOwn(Value *Address) const {
    const Value *Object = getUnderlyingObject(Address, /*MaxLookup=*/32);
    auto *A = dyn_cast<Argument>(Object);
    return isa<AllocaInst>(Object) ||
           (A &&
            (A->getArgNo() == 0 || A->hasByValAttr() || A->hasStructRetAttr()));
  }

  void add(Instruction &I, Value *Address, Value *Size, AccessKind Kind,
           SmallVectorImpl<Access> &Found) {
    if (!isOwn(Address))
      Found.push_back({&I, Address, Size, Kind});
  }

  Value *sizeOf(Type *T) {
    return ConstantInt::get(Type::getInt64Ty(M.getContext()),
                            Layout.getTypeStoreSize(T));
  }

  void collect(Instruction &I, SmallVectorImpl<Access> &Found) {
    if (auto *L = dyn_cast<LoadInst>(&I))
      add(I, L->getPointerOperand(), sizeOf(L->getType()), Load, Found);
    else if (auto *S = dyn_cast<StoreInst>(&I))
      add(I, S->getPointerOperand(), sizeOf(S->getValueOperand()->getType()),
          Store, Found);
    else if (auto *R = dyn_cast<AtomicRMWInst>(&I))
      add(I, R->getPointerOperand(), sizeOf(R->getType()), Atomic, Found);
    else if (auto *X = dyn_cast<AtomicCmpXchgInst>(&I))
      add(I, X->getPointerOperand(), sizeOf(X->getCompareOperand()->getType()),
          Atomic, Found);
    else if (auto *Set = dyn_cast<AnyMemIntrinsic>(&I)) {
      add(I, Set->getRawDest(), Set->getLength(), Store, Found);
      if (auto *Copy = dyn_cast<AnyMemTransferInst>(&I))
        add(I, Copy->getRawSource(), Copy->getLength(), Load, Found);
    }
  }

  /// The access happens where the call returns. The call changes nothing that
  /// the kernel sees, so that the optimiser knows what it knows without it.
  void guard(const Access &A) {
    IRBuilder<> Builder(A.Where);
    Type *Pointer = Builder.getPtrTy();
    FunctionCallee Check = M.getOrInsertFunction(
        "__r3_cpu_checkAccess",
        FunctionType::get(Builder.getVoidTy(),
                          {Pointer, Pointer, Builder.getInt64Ty(),
                           Builder.getInt32Ty(), Pointer},
                          false));
    auto *Declared = cast<Function>(Check.getCallee());
    Declared->setDoesNotThrow();
    Declared->setMemoryEffects(MemoryEffects::argMemOnly(ModRefInfo::Ref) |
                               MemoryEffects::inaccessibleMemOnly());
    Declared->addParamAttr(1, Attribute::ReadNone);
    Declared->addParamAttr(
        1, Attribute::getWithCaptureInfo(M.getContext(), CaptureInfo::none()));
    Value *Address =
        Builder.CreatePointerBitCastOrAddrSpaceCast(A.Address, Pointer);
    Value *Source = Builder.CreateGlobalString(sourceOf(*A.Where));
    Value *Size = Builder.CreateZExtOrTrunc(A.Size, Builder.getInt64Ty());
    Builder.CreateCall(
        Check, {F.getArg(0), Address, Size, Builder.getInt32(A.Kind), Source});
  }
};

} // namespace

void addBoundsChecks(Module &M) {
  SmallVector<Function *, 32> Defined;
  for (Function &F : M)
    if (!F.isDeclaration())
      Defined.push_back(&F);
  for (Function *F : Defined)
    Checker(*F).run();
}

} // namespace r3::cpu
