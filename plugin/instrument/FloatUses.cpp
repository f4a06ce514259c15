// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic ends the search: its result is another number, and what comes of
// it is the kernel's affair. What hands the number on is followed.
#include "plugin/instrument/FloatUses.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace r3::instrument {

namespace {

enum class What { Computes, HandsOn, LooksAtBits };

bool isReal(const Type *T) {
  const Type *Scalar = T->getScalarType();
  return Scalar->isFloatTy() || Scalar->isDoubleTy();
}

/// A mark that values are compared with. Zero stays what it is.
bool comparesWithMark(const FCmpInst &I) {
  if (!I.isEquality())
    return false;
  return any_of(I.operands(), [](const Value *Operand) {
    auto *C = dyn_cast<Constant>(Operand);
    return C && !C->isZeroValue() && !C->isNegativeZeroValue();
  });
}

/// What intrinsics and libdevice do, by their names.
What ofLibrary(const Function &F) {
  static const StringSet<> SameNumber = {
      "fabs",      "floor",   "ceil",    "trunc",        "round",     "rint",
      "nearbyint", "fmin",    "fmax",    "copysign",     "roundeven", "minnum",
      "maxnum",    "minimum", "maximum", "canonicalize", "saturate"};
  static const StringSet<> Classes = {
      "isnan",  "isinf",    "finite",  "isfinited", "signbit",
      "is",     "isinfd",   "isnand",  "finitef",   "isinff",
      "isnanf", "signbitf", "signbitd"};
  StringRef Name = F.getName();
  const bool Nvvm = Name.consume_front("llvm.nvvm.");
  if (!Nvvm && !Name.consume_front("llvm.") && !Name.consume_front("__nv_"))
    return What::LooksAtBits;
  StringRef Operation = Name.split('.').first;
  if (Operation == "shfl")
    return What::HandsOn;
  if (Classes.contains(Operation))
    return What::Computes;
  if (!isReal(F.getReturnType()) && !F.getReturnType()->isVoidTy())
    return What::LooksAtBits;
  if (SameNumber.contains(Operation) ||
      (Operation.consume_back("f") && SameNumber.contains(Operation)))
    return What::HandsOn;
  return What::Computes;
}

class Search {
public:
  bool run(const Value &V) {
    follow(V);
    while (!Work.empty() && OnlyNumber) {
      const Value *Next = Work.pop_back_val();
      for (const Use &U : Next->uses())
        look(U);
    }
    return OnlyNumber;
  }

private:
  SmallPtrSet<const Value *, 16> Seen;
  SmallVector<const Value *, 16> Work;
  bool OnlyNumber = true;

  void follow(const Value &V) {
    if (Seen.insert(&V).second)
      Work.push_back(&V);
  }

  void look(const Use &U) {
    const User *I = U.getUser();
    if (isa<StoreInst>(I) || isa<BinaryOperator>(I) || isa<AtomicRMWInst>(I))
      return;
    if (auto *Compare = dyn_cast<FCmpInst>(I))
      OnlyNumber &= !comparesWithMark(*Compare);
    else if (isa<UnaryOperator, FPExtInst, FPTruncInst, PHINode, SelectInst,
                 FreezeInst, InsertElementInst, ExtractElementInst,
                 ShuffleVectorInst, InsertValueInst, ExtractValueInst>(I))
      follow(*I);
    else if (auto *Call = dyn_cast<CallBase>(I))
      lookAtCall(*Call, U);
    else if (auto *Return = dyn_cast<ReturnInst>(I))
      followCallers(*Return->getFunction());
    else if (!isa<BitCastInst>(I) || !isReal(I->getType()))
      OnlyNumber = false;
    else
      follow(*I);
  }

  void lookAtCall(const CallBase &Call, const Use &U) {
    const Function *Callee = Call.getCalledFunction();
    if (!Callee || !Call.isArgOperand(&U)) {
      OnlyNumber = false;
      return;
    }
    const bool Library =
        Callee->isIntrinsic() || Callee->getName().starts_with("__nv_");
    if (!Library && !Callee->isDeclaration() && !Callee->isVarArg())
      return follow(*Callee->getArg(Call.getArgOperandNo(&U)));
    switch (ofLibrary(*Callee)) {
    case What::Computes:
      return;
    case What::HandsOn:
      return follow(Call);
    case What::LooksAtBits:
      OnlyNumber = false;
    }
  }

  void followCallers(const Function &F) {
    for (const Use &U : F.uses()) {
      auto *Call = dyn_cast<CallBase>(U.getUser());
      if (Call && Call->isCallee(&U))
        follow(*Call);
      else
        OnlyNumber = false;
    }
  }
};

} // namespace

bool isOnlyNumber(const Value &V) { return Search().run(V); }

std::vector<uint32_t> numberParameters(const Function &Kernel) {
  const DataLayout &Layout = Kernel.getDataLayout();
  std::vector<uint32_t> Offsets;
  uint64_t Offset = 0;
  for (const Argument &A : Kernel.args()) {
    Type *T = A.hasByValAttr() ? A.getParamByValType() : A.getType();
    Offset = alignTo(Offset, A.hasByValAttr() ? A.getParamAlign().valueOrOne()
                                              : Layout.getABITypeAlign(T));
    if ((T->isFloatTy() || T->isDoubleTy()) && !A.use_empty() &&
        isOnlyNumber(A))
      Offsets.push_back(static_cast<uint32_t>(Offset));
    Offset += Layout.getTypeAllocSize(T);
  }
  return Offsets;
}

} // namespace r3::instrument
