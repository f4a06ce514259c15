// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From each store the address is followed backwards, through casts, GEPs, phis
// and the arguments of functions that were not inlined, to a pointer parameter
// of the kernel or to a load from a struct parameter. Different types through
// one pointer: floating point wins over an integer of its size (copies are
// often made as integers), everything else is bytes.
#include "plugin/device/Writes.h"

#include "plugin/device/Parameters.h"
#include "plugin/ir/Closure.h"

#include "llvm/IR/DataLayout.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace r3::plugin {

static unsigned bytesOf(ValueType T) {
  switch (T) {
  case ValueType::I8:
    return 1;
  case ValueType::I16:
  case ValueType::F16:
  case ValueType::BF16:
    return 2;
  case ValueType::I32:
  case ValueType::F32:
    return 4;
  case ValueType::I64:
  case ValueType::F64:
  case ValueType::Pointer:
    return 8;
  case ValueType::Bytes:
    break;
  }
  return 0;
}

static bool isInteger(ValueType T) {
  return T == ValueType::I8 || T == ValueType::I16 || T == ValueType::I32 ||
         T == ValueType::I64;
}

static ValueType merge(ValueType A, ValueType B) {
  if (A == B || (isInteger(B) && bytesOf(A) == bytesOf(B)))
    return A;
  if (isInteger(A) && bytesOf(A) == bytesOf(B))
    return B;
  return ValueType::Bytes;
}

namespace {

class Tracer {
public:
  Tracer(const Function &Kernel, UnitKernel &Out)
      : Kernel(Kernel), Layout(Kernel.getParent()->getDataLayout()), Out(Out) {}

  void store(const Value &Address, ValueType Type) {
    SmallPtrSet<const Value *, 16> Seen;
    follow(Address, Type, Seen);
  }

private:
  void follow(const Value &V, ValueType Type,
              SmallPtrSetImpl<const Value *> &Seen) {
    if (!Seen.insert(&V).second || Seen.size() > 256)
      return;
    if (const auto *A = dyn_cast<Argument>(&V))
      return followArgument(*A, Type, Seen);
    if (const auto *Load = dyn_cast<LoadInst>(&V))
      return followLoad(*Load, Type);
    if (isa<GEPOperator, AddrSpaceCastOperator, BitCastOperator, IntToPtrInst>(
            V))
      return follow(*cast<User>(V).getOperand(0), Type, Seen);
    if (const auto *Phi = dyn_cast<PHINode>(&V))
      for (const Use &Incoming : Phi->incoming_values())
        follow(*Incoming, Type, Seen);
    if (const auto *Select = dyn_cast<SelectInst>(&V)) {
      follow(*Select->getTrueValue(), Type, Seen);
      follow(*Select->getFalseValue(), Type, Seen);
    }
  }

  void followArgument(const Argument &A, ValueType Type,
                      SmallPtrSetImpl<const Value *> &Seen) {
    const Function *F = A.getParent();
    if (F == &Kernel) {
      if (!A.hasByValAttr())
        note(Out.Parameters[A.getArgNo()].Offset, Type);
      return;
    }
    for (const User *U : F->users())
      if (const auto *Call = dyn_cast<CallBase>(U);
          Call && Call->getCalledFunction() == F)
        follow(*Call->getArgOperand(A.getArgNo()), Type, Seen);
  }

  /// A pointer that is a member of a struct parameter.
  void followLoad(const LoadInst &Load, ValueType Type) {
    APInt Offset(Layout.getIndexTypeSizeInBits(Load.getPointerOperandType()),
                 0);
    const Value *Base = Load.getPointerOperand();
    while (true) {
      const Value *Next = Base->stripAndAccumulateConstantOffsets(
          Layout, Offset, /*AllowNonInbounds=*/true);
      if (Next == Base)
        break;
      Base = Next;
    }
    const auto *A = dyn_cast<Argument>(Base);
    if (A && A->getParent() == &Kernel && A->hasByValAttr())
      note(Out.Parameters[A->getArgNo()].Offset + Offset.getSExtValue(), Type);
  }

  void note(int64_t Offset, ValueType Type) {
    for (uint32_t I = 0; I < Out.Fields.size(); ++I) {
      if (Out.Fields[I].Offset != Offset ||
          Out.Fields[I].Type != ValueType::Pointer)
        continue;
      auto [It, New] = Out.Written.try_emplace(I, Type);
      if (!New)
        It->second = merge(It->second, Type);
    }
  }

  const Function &Kernel;
  const DataLayout &Layout;
  UnitKernel &Out;
};

} // namespace

/// llvm.nvvm.atomic.*(address, value, ...)
static bool isAtomic(const IntrinsicInst &Call) {
  return Call.getCalledFunction()->getName().starts_with("llvm.nvvm.atomic.") &&
         Call.arg_size() >= 2;
}

void describeWrites(const Function &Kernel, UnitKernel &Out) {
  Tracer T(Kernel, Out);
  for (const GlobalValue *G : ir::reachableFrom(Kernel)) {
    const auto *F = dyn_cast<Function>(G);
    if (!F)
      continue;
    for (const Instruction &I : instructions(*F)) {
      if (const auto *Store = dyn_cast<StoreInst>(&I))
        T.store(*Store->getPointerOperand(),
                valueType(*Store->getValueOperand()->getType()));
      else if (const auto *Rmw = dyn_cast<AtomicRMWInst>(&I))
        T.store(*Rmw->getPointerOperand(),
                valueType(*Rmw->getValOperand()->getType()));
      else if (const auto *Swap = dyn_cast<AtomicCmpXchgInst>(&I))
        T.store(*Swap->getPointerOperand(),
                valueType(*Swap->getNewValOperand()->getType()));
      else if (const auto *Call = dyn_cast<IntrinsicInst>(&I);
               Call && isAtomic(*Call))
        T.store(*Call->getArgOperand(0),
                valueType(*Call->getArgOperand(1)->getType()));
      else if (const auto *Bulk = dyn_cast<MemIntrinsic>(&I))
        T.store(*Bulk->getRawDest(), ValueType::Bytes);
    }
  }
}

} // namespace r3::plugin
