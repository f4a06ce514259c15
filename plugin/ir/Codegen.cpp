// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM has no word for cache operators, so an access with one is a line of
// assembly, which the assembler of PTX schedules like any other. What is known
// to be global memory: its address space, and what a kernel's pointers lead
// to, as LLVM's own lowering has it.
#include "plugin/ir/Codegen.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace r3::ir {

namespace {

constexpr unsigned GlobalSpace = 1;

bool isGlobal(const Value *Pointer) {
  if (Pointer->getType()->getPointerAddressSpace() == GlobalSpace)
    return true;
  if (Pointer->getType()->getPointerAddressSpace() != 0)
    return false;
  SmallVector<const Value *, 4> Objects;
  getUnderlyingObjects(Pointer, Objects);
  return !Objects.empty() && all_of(Objects, [](const Value *Object) {
    if (Object->getType()->isPointerTy() &&
        Object->getType()->getPointerAddressSpace() == GlobalSpace)
      return true;
    auto *Parameter = dyn_cast<Argument>(Object);
    return Parameter && !Parameter->hasByValAttr() &&
           Parameter->getParent()->getCallingConv() == CallingConv::PTX_Kernel;
  });
}

/// Bits that one instruction moves; 0: none does.
unsigned bitsOf(Type *T, Align Alignment, const DataLayout &Layout) {
  if (!T->isSingleValueType() || T->getScalarType()->isPointerTy())
    return T->isPointerTy() && Alignment >= 8 ? 64 : 0;
  const TypeSize Bits = Layout.getTypeSizeInBits(T);
  if (Bits.isScalable() || Layout.getTypeStoreSizeInBits(T) != Bits)
    return 0;
  const uint64_t Size = Bits.getFixedValue();
  const bool Fits = Size == 16 || Size == 32 || Size == 64 || Size == 128;
  return Fits && Alignment.value() * 8 >= Size ? unsigned(Size) : 0;
}

/// The register class of a constraint.
char registerOf(unsigned Bits) {
  return Bits == 16 ? 'h' : Bits == 32 ? 'r' : 'l';
}

Value *addressOf(IRBuilder<> &Builder, Value *Pointer) {
  if (Pointer->getType()->getPointerAddressSpace() != GlobalSpace)
    Pointer = Builder.CreateAddrSpaceCast(
        Pointer, PointerType::get(Builder.getContext(), GlobalSpace));
  return Builder.CreatePtrToInt(Pointer, Builder.getInt64Ty());
}

Value *assembly(IRBuilder<> &Builder, const std::string &Text,
                const std::string &Constraints, Type *Result,
                ArrayRef<Value *> Operands) {
  SmallVector<Type *, 4> Types;
  for (Value *V : Operands)
    Types.push_back(V->getType());
  return Builder.CreateCall(
      InlineAsm::get(FunctionType::get(Result, Types, false), Text, Constraints,
                     /*hasSideEffects=*/true),
      Operands);
}

void replaceLoad(LoadInst &Load, const std::string &Operator, unsigned Bits) {
  IRBuilder<> Builder(&Load);
  Value *Address = addressOf(Builder, Load.getPointerOperand());
  Value *Made = nullptr;
  if (Bits == 128) {
    Type *Half = Builder.getInt64Ty();
    Value *Pair =
        assembly(Builder, "ld.global." + Operator + ".v2.b64 {$0, $1}, [$2];",
                 "=l,=l,l,~{memory}", StructType::get(Half, Half), {Address});
    Made = PoisonValue::get(FixedVectorType::get(Half, 2));
    for (unsigned I = 0; I < 2; ++I)
      Made = Builder.CreateInsertElement(
          Made, Builder.CreateExtractValue(Pair, I), I);
  } else {
    Made = assembly(Builder,
                    "ld.global." + Operator + ".b" + std::to_string(Bits) +
                        " $0, [$1];",
                    std::string("=") + registerOf(Bits) + ",l,~{memory}",
                    Builder.getIntNTy(Bits), {Address});
  }
  Load.replaceAllUsesWith(Builder.CreateBitOrPointerCast(Made, Load.getType()));
  Load.eraseFromParent();
}

void replaceStore(StoreInst &Store, const std::string &Operator,
                  unsigned Bits) {
  IRBuilder<> Builder(&Store);
  Value *Address = addressOf(Builder, Store.getPointerOperand());
  Value *Stored = Store.getValueOperand();
  Type *Void = Builder.getVoidTy();
  if (Bits == 128) {
    Value *Pair = Builder.CreateBitCast(
        Stored, FixedVectorType::get(Builder.getInt64Ty(), 2));
    assembly(Builder, "st.global." + Operator + ".v2.b64 [$0], {$1, $2};",
             "l,l,l,~{memory}", Void,
             {Address, Builder.CreateExtractElement(Pair, uint64_t(0)),
              Builder.CreateExtractElement(Pair, uint64_t(1))});
  } else {
    Value *Whole =
        Builder.CreateBitOrPointerCast(Stored, Builder.getIntNTy(Bits));
    assembly(Builder,
             "st.global." + Operator + ".b" + std::to_string(Bits) +
                 " [$0], $1;",
             std::string("l,") + registerOf(Bits) + ",~{memory}", Void,
             {Address, Whole});
  }
  Store.eraseFromParent();
}

Error replaceLoads(Module &M, const std::string &Operator) {
  size_t Count = 0;
  for (Function &F : M)
    for (Instruction &I : make_early_inc_range(instructions(F)))
      if (auto *Load = dyn_cast<LoadInst>(&I);
          Load && Load->isSimple() && isGlobal(Load->getPointerOperand()))
        if (unsigned Bits =
                bitsOf(Load->getType(), Load->getAlign(), M.getDataLayout())) {
          replaceLoad(*Load, Operator, Bits);
          ++Count;
        }
  return Count ? Error::success()
               : fail(ErrorCode::CannotRunHere,
                      "no load is known to be one of global memory");
}

Error replaceStores(Module &M, const std::string &Operator) {
  size_t Count = 0;
  for (Function &F : M)
    for (Instruction &I : make_early_inc_range(instructions(F)))
      if (auto *Store = dyn_cast<StoreInst>(&I);
          Store && Store->isSimple() && isGlobal(Store->getPointerOperand()))
        if (unsigned Bits = bitsOf(Store->getValueOperand()->getType(),
                                   Store->getAlign(), M.getDataLayout())) {
          replaceStore(*Store, Operator, Bits);
          ++Count;
        }
  return Count ? Error::success()
               : fail(ErrorCode::CannotRunHere,
                      "no store is known to be one of global memory");
}

} // namespace

Error applyCodegen(Function &Kernel, const Variant &Change) {
  auto Put = [&](const char *Name, uint32_t Value) {
    if (Value)
      Kernel.addFnAttr(Name, std::to_string(Value));
  };
  Put("nvvm.maxnreg", Change.MaxRegisters);
  Put("nvvm.maxntid", Change.MaxThreads);
  Put("nvvm.minctasm", Change.MinBlocks);
  if (!Change.Loads.empty())
    if (Error Problem = replaceLoads(*Kernel.getParent(), Change.Loads))
      return Problem;
  if (!Change.Stores.empty())
    return replaceStores(*Kernel.getParent(), Change.Stores);
  return Error::success();
}

Error setArchitecture(Module &M, const std::string &Arch) {
  const std::string Number =
      Arch.substr(0, Arch.find_last_of("0123456789") + 1);
  for (Function &F : M) {
    const std::string Own =
        F.getFnAttribute("target-cpu").getValueAsString().str();
    if (Own.empty())
      continue;
    if (Own.substr(0, Own.find_last_of("0123456789") + 1) != Number)
      return fail(ErrorCode::Usage, "the device code is for %s, not for %s",
                  Own.c_str(), Arch.c_str());
    // "+ptx87,+sm_90": the architecture is a feature, too.
    SmallVector<StringRef, 4> Features;
    const std::string All =
        F.getFnAttribute("target-features").getValueAsString().str();
    StringRef(All).split(Features, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    std::string Changed;
    for (StringRef Feature : Features) {
      Changed += Changed.empty() ? "" : ",";
      Changed += Feature == "+" + Own ? "+" + Arch : Feature.str();
    }
    F.addFnAttr("target-cpu", Arch);
    if (!Changed.empty())
      F.addFnAttr("target-features", Changed);
  }
  return Error::success();
}

} // namespace r3::ir
