// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers are places on the stack, of integers, that the optimiser removes.
// A guarded instruction becomes a branch around it.
#include "runtime/device/cpu/AssemblyCode.h"

#include "runtime/device/cpu/AssemblyNames.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace r3::cpu {

namespace {

using Kind = AssemblyOperand::Kind;

class Writer {
public:
  Writer(CallBase &Call, const AssemblyText &Text,
         function_ref<Function *(StringRef)> Definition, unsigned &Sites)
      : Call(Call), Text(Text), Definition(Definition), Sites(Sites),
        Builder(&Call) {}

  bool run() {
    if (!bindOperands())
      return false;
    for (const AssemblyRegister &R : Text.Registers)
      Places[R.Name] = place(assemblyBits(R.Type));
    for (const AssemblyInstruction &I : Text.Instructions)
      if (!writeGuarded(I))
        return false;
    if (!Outputs.empty())
      Call.replaceAllUsesWith(result());
    Call.eraseFromParent();
    return true;
  }

private:
  CallBase &Call;
  const AssemblyText &Text;
  function_ref<Function *(StringRef)> Definition;
  unsigned &Sites;
  IRBuilder<> Builder;
  StringMap<AllocaInst *> Places;
  StringMap<Value *> Inputs;
  SmallVector<std::pair<AllocaInst *, Type *>, 4> Outputs;

  // --- The assembly's operands.

  AllocaInst *place(unsigned Bits) {
    BasicBlock &Entry = Call.getFunction()->getEntryBlock();
    IRBuilder<> AtEntry(&Entry, Entry.begin());
    return AtEntry.CreateAlloca(AtEntry.getIntNTy(Bits));
  }

  unsigned bitsOf(Type *T) const {
    return Call.getModule()->getDataLayout().getTypeSizeInBits(T);
  }

  Type *outputType(unsigned Number) const {
    auto *Struct = dyn_cast<StructType>(Call.getType());
    return Struct ? Struct->getElementType(Number) : Call.getType();
  }

  bool bindOperands() {
    unsigned Argument = 0, Number = 0;
    auto *Assembly = cast<InlineAsm>(Call.getCalledOperand());
    for (const InlineAsm::ConstraintInfo &C : Assembly->ParseConstraints()) {
      if (C.Type == InlineAsm::isClobber)
        continue;
      if (C.isIndirect || C.Type == InlineAsm::isLabel)
        return false;
      std::string Name = "$" + std::to_string(Number++);
      if (C.Type == InlineAsm::isOutput) {
        Type *Held = outputType(Outputs.size());
        Places[Name] = place(bitsOf(Held));
        Outputs.push_back({Places[Name], Held});
        continue;
      }
      Value *Input = Call.getArgOperand(Argument++);
      unsigned Tied = 0;
      if (!StringRef(C.Codes.front()).getAsInteger(10, Tied)) {
        Places[Name] = Outputs[Tied].first;
        write(Name, Input, /*IsSigned=*/false);
      } else
        Inputs[Name] = Input;
    }
    return true;
  }

  Value *result() {
    if (!Call.getType()->isStructTy())
      return read(Outputs[0]);
    Value *All = PoisonValue::get(Call.getType());
    for (auto [Number, Output] : enumerate(Outputs))
      All = Builder.CreateInsertValue(All, read(Output), Number);
    return All;
  }

  Value *read(std::pair<AllocaInst *, Type *> Output) {
    return as(
        Builder.CreateLoad(Output.first->getAllocatedType(), Output.first),
        Output.second, /*IsSigned=*/false);
  }

  // --- Values.

  /// V's bits as a value of type To; null where that has no meaning.
  Value *as(Value *V, Type *To, bool IsSigned) {
    if (!V || V->getType() == To)
      return V;
    if (V->getType()->isPointerTy()) {
      if (V->getType()->getPointerAddressSpace())
        V = Builder.CreateAddrSpaceCast(V, Builder.getPtrTy());
      if (To->isPointerTy())
        return V;
      V = Builder.CreatePtrToInt(V, Builder.getInt64Ty());
    }
    if (To->isPointerTy())
      return asPointer(V);
    Type *Integer = Builder.getIntNTy(bitsOf(V->getType()));
    Type *Wanted = Builder.getIntNTy(bitsOf(To));
    V = Builder.CreateBitCast(V, Integer);
    V = IsSigned ? Builder.CreateSExtOrTrunc(V, Wanted)
                 : Builder.CreateZExtOrTrunc(V, Wanted);
    return Builder.CreateBitCast(V, To);
  }

  /// 32 bits are an address in shared memory.
  Value *asPointer(Value *V) {
    unsigned Bits = bitsOf(V->getType());
    if (Bits == 64)
      return Builder.CreateIntToPtr(as(V, Builder.getInt64Ty(), false),
                                    Builder.getPtrTy());
    Function *Shared = Definition("__r3_shared_address");
    return Bits == 32 && Shared
               ? call(*Shared, {as(V, Builder.getInt32Ty(), false)})
               : nullptr;
  }

  Value *call(Function &Callee, ArrayRef<Value *> Arguments) {
    return Builder.CreateCall(Call.getModule()->getOrInsertFunction(
                                  Callee.getName(), Callee.getFunctionType()),
                              Arguments);
  }

  /// The operand as a value of type To, or null.
  Value *operand(const AssemblyOperand &O, Type *To) {
    Value *V = plainOperand(O, To);
    if (!O.IsNegated || !V)
      return V;
    return To->isIntegerTy(1) ? Builder.CreateNot(V) : nullptr;
  }

  Value *plainOperand(const AssemblyOperand &O, Type *To) {
    switch (O.Is) {
    case Kind::Register:
      if (auto Input = Inputs.find(O.Name); Input != Inputs.end())
        return as(Input->second, To, /*IsSigned=*/false);
      if (AllocaInst *Place = Places.lookup(O.Name))
        return as(Builder.CreateLoad(Place->getAllocatedType(), Place), To,
                  /*IsSigned=*/false);
      return nullptr;
    case Kind::Special:
      if (Function *F = Definition("__r3_nvvm_read_ptx_sreg_" + O.Name))
        return as(call(*F, {}), To, /*IsSigned=*/false);
      return nullptr;
    case Kind::Number:
      return as(Builder.getInt64(O.Bits), To, /*IsSigned=*/false);
    case Kind::Float:
      return as(Builder.getInt32(O.Bits), To, /*IsSigned=*/false);
    case Kind::Double:
      return as(Builder.getInt64(O.Bits), To, /*IsSigned=*/false);
    case Kind::Address:
      return address(O, To);
    case Kind::Group:
      return joined(O, To);
    }
    return nullptr;
  }

  Value *address(const AssemblyOperand &O, Type *To) {
    Value *Base = To->isPointerTy() ? operand(registerAlone(O), To) : nullptr;
    return Base ? Builder.CreateGEP(Builder.getInt8Ty(), Base,
                                    Builder.getInt64(O.Bits))
                : nullptr;
  }

  static const AssemblyOperand &registerAlone(const AssemblyOperand &Address) {
    return Address.Parts.front();
  }

  /// The bits of each part of a group that is Whole bits long; 0: it is not.
  static unsigned shareOf(const AssemblyOperand &Group, unsigned Whole) {
    return Whole % Group.Parts.size() ? 0 : Whole / Group.Parts.size();
  }

  /// Parts one behind the other, the lowest first.
  Value *joined(const AssemblyOperand &Group, Type *To) {
    unsigned Bits = shareOf(Group, bitsOf(To));
    if (!Bits)
      return nullptr;
    Type *Whole = Builder.getIntNTy(bitsOf(To));
    Value *All = ConstantInt::get(Whole, 0);
    for (auto [Number, Part] : enumerate(Group.Parts)) {
      Value *V = operand(Part, Builder.getIntNTy(Bits));
      if (!V)
        return nullptr;
      All = Builder.CreateOr(
          All, Builder.CreateShl(Builder.CreateZExt(V, Whole), Number * Bits));
    }
    return as(All, To, /*IsSigned=*/false);
  }

  bool write(StringRef Name, Value *V, bool IsSigned) {
    if (Name == "_")
      return true;
    AllocaInst *Place = Places.lookup(Name);
    Value *Held = Place ? as(V, Place->getAllocatedType(), IsSigned) : nullptr;
    if (Held)
      Builder.CreateStore(Held, Place);
    return Held;
  }

  // --- Instructions.

  bool writeGuarded(const AssemblyInstruction &I) {
    if (I.Guard.empty())
      return writeInstruction(I);
    AssemblyOperand Guard;
    Guard.Name = I.Guard;
    Value *Condition = operand(Guard, Builder.getInt1Ty());
    if (!Condition)
      return false;
    if (I.GuardIsNegated)
      Condition = Builder.CreateNot(Condition);
    Builder.SetInsertPoint(
        SplitBlockAndInsertIfThen(Condition, &Call, /*Unreachable=*/false));
    bool IsWritten = writeInstruction(I);
    Builder.SetInsertPoint(&Call);
    return IsWritten;
  }

  bool writeInstruction(const AssemblyInstruction &I) {
    StringRef First = I.Words.front();
    if (First == "mov" || First == "cvta")
      return I.Operands.size() == 2 &&
             (isFromShared(I) ? writeFromShared(I) : writeMove(I));
    if (First == "ld" || First == "ldu" || First == "st")
      return I.Operands.size() == 2 && writeAccess(I);
    if (First == "set" || First == "setp")
      return writeComparison(I);
    if (First == "activemask")
      return I.Operands.size() == 1 && writeActiveMask(I);
    return writeCall(I);
  }

  /// The lanes that are here, told apart by the number of this place.
  bool writeActiveMask(const AssemblyInstruction &I) {
    Function *F = Definition("__r3_activemask");
    return F && write(I.Operands[0].Name, call(*F, Builder.getInt32(++Sites)),
                      /*IsSigned=*/false);
  }

  /// "cvta.shared.u64": from an address in shared memory to a generic one;
  /// with ".to" the other way, and the low half of a generic one does.
  static bool isFromShared(const AssemblyInstruction &I) {
    return I.Words[0] == "cvta" && I.Words.size() > 1 &&
           StringRef(I.Words[1]).starts_with("shared");
  }

  bool writeFromShared(const AssemblyInstruction &I) {
    Value *Low = operand(I.Operands[1], Builder.getInt32Ty());
    Value *Whole = Low ? asPointer(Low) : nullptr;
    return Whole && write(I.Operands[0].Name, Whole, /*IsSigned=*/false);
  }

  bool writeMove(const AssemblyInstruction &I) {
    unsigned Bits = assemblyBits(I.Words.back());
    if (!Bits)
      return false;
    Value *V = operand(I.Operands[1], Builder.getIntNTy(Bits));
    const AssemblyOperand &To = I.Operands[0];
    if (!V)
      return false;
    if (To.Is != Kind::Group)
      return To.Is == Kind::Register && write(To.Name, V, /*IsSigned=*/false);
    unsigned Share = shareOf(To, Bits);
    if (!Share)
      return false;
    for (auto [Number, Part] : enumerate(To.Parts))
      if (!write(Part.Name,
                 Builder.CreateTrunc(Builder.CreateLShr(V, Number * Share),
                                     Builder.getIntNTy(Share)),
                 /*IsSigned=*/false))
        return false;
    return true;
  }

  struct Access {
    Type *Element = nullptr;
    unsigned Count = 1;
    bool IsStore = false, IsSigned = false, IsVolatile = false;
    AtomicOrdering Order = AtomicOrdering::NotAtomic;
  };

  std::optional<Access> accessOf(const AssemblyInstruction &I) {
    Access A;
    A.IsStore = I.Words.front() == "st";
    for (StringRef Word : ArrayRef(I.Words).drop_front()) {
      if (Word == "volatile" || Word == "cv" || Word == "mmio")
        A.IsVolatile = true;
      else if (Word == "relaxed")
        A.Order = AtomicOrdering::Monotonic;
      else if (Word == "acquire")
        A.Order = AtomicOrdering::Acquire;
      else if (Word == "release")
        A.Order = AtomicOrdering::Release;
      else if (Word == "v2" || Word == "v4")
        A.Count = Word == "v2" ? 2 : 4;
      else if (unsigned Bits = assemblyBits(Word)) {
        A.Element = Builder.getIntNTy(Bits);
        A.IsSigned = Word[0] == 's';
      } else if (!isIgnoredWord(Word) && !isWordOfAtomics(Word))
        return std::nullopt;
    }
    return A.Element ? std::optional(A) : std::nullopt;
  }

  bool writeAccess(const AssemblyInstruction &I) {
    std::optional<Access> A = accessOf(I);
    if (!A)
      return false;
    const AssemblyOperand &Held = I.Operands[A->IsStore ? 1 : 0];
    ArrayRef<AssemblyOperand> Parts = Held;
    if (Held.Is == Kind::Group)
      Parts = Held.Parts;
    Value *Where = operand(I.Operands[A->IsStore ? 0 : 1], Builder.getPtrTy());
    if (!Where || Parts.size() != A->Count)
      return false;
    for (auto [Number, Part] : enumerate(Parts))
      if (!writeElement(*A, Part,
                        Builder.CreateConstGEP1_32(A->Element, Where, Number)))
        return false;
    return true;
  }

  bool writeElement(const Access &A, const AssemblyOperand &Part,
                    Value *Where) {
    Align Whole(bitsOf(A.Element) / 8);
    if (!A.IsStore) {
      LoadInst *Load =
          Builder.CreateAlignedLoad(A.Element, Where, Whole, A.IsVolatile);
      Load->setAtomic(A.Order);
      return write(Part.Name, Load, A.IsSigned);
    }
    Value *V = operand(Part, A.Element);
    if (V)
      Builder.CreateAlignedStore(V, Where, Whole, A.IsVolatile)
          ->setAtomic(A.Order);
    return V;
  }

  // --- Comparisons.

  bool writeComparison(const AssemblyInstruction &I) {
    AssemblyComparison C = assemblyComparison(I);
    Function *F = Definition("__r3_asm_setp_" + C.Operator + "_" + C.Type);
    if (!F || I.Operands.size() != (C.Combination.empty() ? 3u : 4u))
      return false;
    SmallVector<Value *, 2> Holds;
    for (unsigned Half = 0; Half < (C.IsPair ? 2u : 1u); ++Half) {
      Value *Left = compared(I, 1, C, F->getFunctionType(), Half);
      Value *Right = compared(I, 2, C, F->getFunctionType(), Half);
      if (!Left || !Right)
        return false;
      Holds.push_back(call(*F, {Left, Right}));
    }
    return I.Words[0] == "setp" ? writePredicates(I, C, Holds)
                                : writeSet(I, C, Holds);
  }

  /// Source Number, or one half of it.
  Value *compared(const AssemblyInstruction &I, unsigned Number,
                  const AssemblyComparison &C, FunctionType *Type,
                  unsigned Half) {
    auto *One = Type->getParamType(0);
    if (!C.IsPair)
      return flushed(I, operand(I.Operands[Number], One));
    Value *Pair = operand(I.Operands[Number], Builder.getInt32Ty());
    return Pair ? Builder.CreateTrunc(
                      Builder.CreateLShr(flushed(I, Pair), 16 * Half), One)
                : nullptr;
  }

  /// With a predicate as fourth operand, where the instruction has one.
  Value *combined(const AssemblyInstruction &I, const AssemblyComparison &C,
                  Value *Holds) {
    if (C.Combination.empty())
      return Holds;
    Value *Other = operand(I.Operands[3], Builder.getInt1Ty());
    if (!Other)
      return nullptr;
    return C.Combination == "and"  ? Builder.CreateAnd(Holds, Other)
           : C.Combination == "or" ? Builder.CreateOr(Holds, Other)
                                   : Builder.CreateXor(Holds, Other);
  }

  /// The second predicate is that of the upper half, or the opposite.
  bool writePredicates(const AssemblyInstruction &I,
                       const AssemblyComparison &C, ArrayRef<Value *> Holds) {
    const AssemblyOperand &To = I.Operands[0];
    Value *First = combined(I, C, Holds[0]);
    Value *Second =
        combined(I, C, C.IsPair ? Holds[1] : Builder.CreateNot(Holds[0]));
    return First && Second && write(To.Name, First, /*IsSigned=*/false) &&
           (To.Also.empty() || write(To.Also, Second, /*IsSigned=*/false));
  }

  /// One, or all bits of an integer, where the comparison holds; else zero.
  bool writeSet(const AssemblyInstruction &I, const AssemblyComparison &C,
                ArrayRef<Value *> Holds) {
    StringRef Name = resultType(I), One = Name;
    One.consume_back("x2");
    unsigned Bits = assemblyBits(Name) / Holds.size();
    if (!Bits || (C.IsPair && Bits != 16))
      return false;
    uint64_t Yes = One == "f32"    ? 0x3f800000
                   : One == "f16"  ? 0x3c00
                   : One == "bf16" ? 0x3f80
                                   : ~0ull >> (64 - Bits);
    Value *All = Builder.getIntN(assemblyBits(Name), 0);
    for (auto [Half, Held] : enumerate(Holds)) {
      Value *Condition = combined(I, C, Held);
      if (!Condition)
        return false;
      All = Builder.CreateOr(
          All, Builder.CreateSelect(
                   Condition,
                   Builder.getIntN(assemblyBits(Name), Yes << Half * Bits),
                   Builder.getIntN(assemblyBits(Name), 0)));
    }
    return write(I.Operands[0].Name, All, Name.starts_with("s"));
  }

  // --- Other instructions.

  /// V as .ftz has it: a source, or a result of type Name.
  Value *flushed(const AssemblyInstruction &I, Value *V, StringRef Name) {
    bool IsOfFloatOnly = I.Words[0] == "cvt"; // the other type is kept
    if (!V || !hasWord(I, "ftz") || (IsOfFloatOnly && Name != "f32"))
      return V;
    Function *F = Definition(("__r3_asm_ftz_" + Name).str());
    bool IsOfType = F && F->getFunctionType()->getParamType(0) == V->getType();
    return IsOfType ? call(*F, V) : V;
  }
  Value *flushed(const AssemblyInstruction &I, Value *Source) {
    return flushed(I, Source, sourceType(I));
  }

  /// The function that runs I; null: there is none. A number behind its name
  /// is a number of operands.
  Function *functionOf(const AssemblyInstruction &I, bool WithModifiers) {
    bool IsPair = !I.Operands.empty() && !I.Operands[0].Also.empty();
    std::string Name =
        assemblyFunction(I, WithModifiers) + (IsPair ? "_p" : "");
    if (Function *F =
            Definition(Name + "_" + std::to_string(I.Operands.size())))
      return F;
    return Definition(Name);
  }

  /// A result as .sat and .relu have it; null: they have no meaning here.
  Value *modified(const AssemblyInstruction &I, Value *Result) {
    for (StringRef Word : {"sat", "relu"}) {
      if (!hasWord(I, Word))
        continue;
      Function *F =
          Definition(("__r3_asm_" + Word + "_" + resultType(I)).str());
      if (!F || F->getFunctionType()->getParamType(0) != Result->getType())
        return nullptr;
      Result = call(*F, Result);
    }
    return Result;
  }

  /// The library has instructions with a modifier where that changes more than
  /// the result, and those without.
  bool writeCall(const AssemblyInstruction &I) {
    if (Function *F = functionOf(I, /*WithModifiers=*/true))
      return writeCall(I, *F, /*IsModified=*/false);
    Function *F = functionOf(I, /*WithModifiers=*/false);
    return F && writeCall(I, *F, /*IsModified=*/true);
  }

  /// A function that returns something has its destination as first operand;
  /// one of a pair of destinations writes the second through its last
  /// parameter.
  bool writeCall(const AssemblyInstruction &I, Function &F, bool IsModified) {
    bool IsPair = !I.Operands.empty() && !I.Operands[0].Also.empty();
    bool HasResult = !F.getReturnType()->isVoidTy();
    ArrayRef<AssemblyOperand> Sources = I.Operands;
    if (HasResult && (Sources.empty() || Sources[0].Is != Kind::Register))
      return false;
    if (HasResult)
      Sources = Sources.drop_front();
    FunctionType *Type = F.getFunctionType();
    if (Type->getNumParams() != Sources.size() + IsPair)
      return false;
    SmallVector<Value *, 6> Arguments;
    for (auto [Number, Source] : enumerate(Sources)) {
      Arguments.push_back(
          flushed(I, operand(Source, Type->getParamType(Number))));
      if (!Arguments.back())
        return false;
    }
    AllocaInst *Second = IsPair ? place(8) : nullptr;
    if (IsPair)
      Arguments.push_back(Second);
    Value *Result = call(F, Arguments);
    if (IsPair &&
        !write(I.Operands[0].Also,
               Builder.CreateLoad(Builder.getInt8Ty(), Second), false))
      return false;
    if (!HasResult)
      return true;
    if (IsModified)
      Result = modified(I, Result);
    Result = flushed(I, Result, resultType(I));
    return write(I.Operands[0].Name, Result, resultType(I).starts_with("s"));
  }
};

} // namespace

bool writeAssembly(CallBase &Call,
                   function_ref<Function *(StringRef)> Definition,
                   unsigned &Sites) {
  std::string Text =
      cast<InlineAsm>(Call.getCalledOperand())->getAsmString().str();
  std::optional<AssemblyText> Read = readAssembly(Text);
  if (!Read)
    return false;
  if (Read->Instructions.empty() && Call.arg_empty() &&
      Call.getType()->isVoidTy())
    return true; // a barrier for the compiler only
  return Writer(Call, *Read, Definition, Sites).run();
}

} // namespace r3::cpu
