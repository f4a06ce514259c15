// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Works on unoptimised code, so that each access of the source is seen with
// its line. The checker is a function of the engine, which knows the device's
// allocations; it reports the first access that fails.
#include "runtime/device/cpu/BoundsChecks.h"

#include "plugin/instrument/Accesses.h"
#include "runtime/device/cpu/Substitute.h"

#include "llvm/Analysis/ValueTracking.h"

using namespace llvm;

namespace r3::cpu {

/// The context, and what is reached through it.
static bool isContext(const Value *Address) {
  auto *A = dyn_cast<Argument>(getUnderlyingObject(Address, /*MaxLookup=*/32));
  return A && A->getArgNo() == 0;
}

/// As the engine numbers them.
static uint32_t numberOf(instrument::AccessKind Kind) {
  return Kind == instrument::AccessKind::Read    ? 0
         : Kind == instrument::AccessKind::Write ? 1
                                                 : 2;
}

/// The access happens where the call returns. The call changes nothing that the
/// kernel sees, so that the optimiser knows what it knows without it.
static void check(const instrument::Access &A) {
  Function &F = *A.Where->getFunction();
  IRBuilder<> Builder(A.Where);
  Type *Pointer = Builder.getPtrTy();
  FunctionCallee Check = F.getParent()->getOrInsertFunction(
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
      1, Attribute::getWithCaptureInfo(F.getContext(), CaptureInfo::none()));
  Value *Address =
      Builder.CreatePointerBitCastOrAddrSpaceCast(A.Address, Pointer);
  Value *Source = Builder.CreateGlobalString(sourceOf(*A.Where));
  Value *Size = Builder.CreateZExtOrTrunc(A.Size, Builder.getInt64Ty());
  Builder.CreateCall(Check, {F.getArg(0), Address, Size,
                             Builder.getInt32(numberOf(A.Kind)), Source});
}

void addBoundsChecks(Module &M) {
  SmallVector<Function *, 32> Defined;
  for (Function &F : M)
    if (!F.isDeclaration())
      Defined.push_back(&F);
  for (Function *F : Defined)
    for (const instrument::Access &A : instrument::accessesOf(*F))
      if (!isContext(A.Address))
        check(A);
}

} // namespace r3::cpu
