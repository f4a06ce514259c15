// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The digest is taken over a canonical byte stream: functions and globals in
// the order in which a walk from the kernel first meets them, values by their
// position in the function, types by structure. What a definition is called
// does not enter the stream; what is only declared, and memory that others can
// write, does so by its normalised name.
#include "plugin/ir/Fingerprint.h"

#include "plugin/ir/Closure.h"
#include "runtime/support/Bytes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace r3::ir {

/// Cuts what follows Marker where it ends the name and is MARKER[_a-z]*HEX.
static void cutSuffix(std::string &Name, StringRef Marker) {
  size_t At = Name.rfind(Marker.str());
  if (At == std::string::npos || At == 0)
    return;
  StringRef Rest = StringRef(Name).drop_front(At + Marker.size());
  if (all_of(Rest, [](char C) { return isHexDigit(C); }))
    Name.resize(At);
}

/// "UlifE3_" (the fourth lambda of that type) becomes "UlifE_".
static std::string withoutLambdaOrdinals(StringRef Name) {
  std::string Out;
  for (size_t I = 0; I < Name.size(); ++I) {
    Out += Name[I];
    if (Name[I] != 'E' || I + 1 >= Name.size() || !isDigit(Name[I + 1]))
      continue;
    size_t End = I + 1;
    while (End < Name.size() && isDigit(Name[End]))
      ++End;
    if (End < Name.size() && Name[End] == '_' &&
        Name.take_front(I).contains("Ul"))
      I = End - 1;
  }
  return Out;
}

std::string normalisedName(StringRef Name) {
  std::string Text = Name.str();
  for (const char *Marker :
       {"__r3_", "__intern__", ".intern.", "__static__", ".static."})
    cutSuffix(Text, Marker);
  return withoutLambdaOrdinals(Text);
}

namespace {

class Stream {
public:
  explicit Stream(const Function &Kernel) { globalId(Kernel); }

  std::string digest() {
    for (size_t I = 0; I < Order.size(); ++I)
      definition(*Order[I]);
    return contentDigest(Out.data()).hex();
  }

private:
  void definition(const GlobalValue &G);
  void function(const Function &F);
  void kernelAttributes(const Function &F);
  void variable(const GlobalVariable &G);
  void instruction(const Instruction &I);
  void details(const Instruction &I);
  void call(const CallBase &Call);
  void abiAttributes(const AttributeList &Attributes, unsigned Arguments);
  void operand(const Value &V);
  void constant(const Constant &C);
  void type(const Type &T);
  void integer(const APInt &Value);
  uint32_t globalId(const GlobalValue &G);

  ByteWriter Out;
  std::vector<const GlobalValue *> Order;
  DenseMap<const GlobalValue *, uint32_t> Ids;
  DenseMap<const Value *, uint32_t> Locals;
};

} // namespace

/// Instructions that are there or not depending on the optimisation level or
/// on -g.
static bool isIgnored(const Instruction &I) {
  const auto *Call = dyn_cast<IntrinsicInst>(&I);
  return Call && (Call->isLifetimeStartOrEnd() || isa<DbgInfoIntrinsic>(Call));
}

uint32_t Stream::globalId(const GlobalValue &G) {
  auto [It, New] = Ids.try_emplace(&G, Order.size());
  if (New)
    Order.push_back(&G);
  return It->second;
}

void Stream::integer(const APInt &Value) {
  Out.u32(Value.getBitWidth());
  for (unsigned I = 0; I < Value.getNumWords(); ++I)
    Out.u64(Value.getRawData()[I]);
}

void Stream::type(const Type &T) {
  Out.u32(T.getTypeID());
  if (const auto *Int = dyn_cast<IntegerType>(&T))
    Out.u32(Int->getBitWidth());
  else if (const auto *Pointer = dyn_cast<PointerType>(&T))
    Out.u32(Pointer->getAddressSpace());
  else if (const auto *Array = dyn_cast<ArrayType>(&T))
    Out.u64(Array->getNumElements());
  else if (const auto *Vector = dyn_cast<FixedVectorType>(&T))
    Out.u32(Vector->getNumElements());
  else if (const auto *Struct = dyn_cast<StructType>(&T))
    Out.u32(Struct->getNumElements() * 2 + Struct->isPacked());
  for (const Type *Inner : T.subtypes())
    type(*Inner);
}

void Stream::constant(const Constant &C) {
  type(*C.getType());
  Out.u32(C.getValueID());
  if (const auto *Int = dyn_cast<ConstantInt>(&C))
    integer(Int->getValue());
  else if (const auto *Float = dyn_cast<ConstantFP>(&C))
    integer(Float->getValueAPF().bitcastToAPInt());
  else if (const auto *Data = dyn_cast<ConstantDataSequential>(&C))
    Out.string(Data->getRawDataValues());
  if (const auto *Expression = dyn_cast<ConstantExpr>(&C)) {
    Out.u32(Expression->getOpcode());
    Out.u32(Expression->getRawSubclassOptionalData());
    if (const auto *Gep = dyn_cast<GEPOperator>(Expression))
      type(*Gep->getSourceElementType());
  }
  for (const Use &Operand : C.operands())
    operand(*Operand);
}

void Stream::operand(const Value &V) {
  if (const auto *G = dyn_cast<GlobalValue>(&V)) {
    Out.u8(1);
    Out.u32(globalId(*G));
  } else if (const auto *C = dyn_cast<Constant>(&V)) {
    Out.u8(2);
    constant(*C);
  } else if (const auto *Asm = dyn_cast<InlineAsm>(&V)) {
    Out.u8(3);
    Out.string(Asm->getAsmString());
    Out.string(Asm->getConstraintString());
    Out.u8(Asm->hasSideEffects());
  } else if (isa<MetadataAsValue>(&V)) {
    Out.u8(4);
  } else {
    Out.u8(5);
    Out.u32(Locals.lookup(&V));
  }
}

/// Attributes that change how a value is passed.
void Stream::abiAttributes(const AttributeList &Attributes,
                           unsigned Arguments) {
  for (unsigned I = 0; I < Arguments; ++I) {
    if (Type *T = Attributes.getParamByValType(I))
      type(*T);
    else if (Type *T = Attributes.getParamStructRetType(I))
      type(*T);
    Out.u8(Attributes.hasParamAttr(I, Attribute::SExt));
    Out.u8(Attributes.hasParamAttr(I, Attribute::ZExt));
  }
}

void Stream::call(const CallBase &Call) {
  Out.u32(Call.getCallingConv());
  type(*Call.getFunctionType());
  abiAttributes(Call.getAttributes(), Call.arg_size());
}

void Stream::details(const Instruction &I) {
  if (const auto *Compare = dyn_cast<CmpInst>(&I))
    Out.u32(Compare->getPredicate());
  else if (const auto *Gep = dyn_cast<GetElementPtrInst>(&I))
    type(*Gep->getSourceElementType());
  else if (const auto *Alloca = dyn_cast<AllocaInst>(&I))
    type(*Alloca->getAllocatedType());
  else if (const auto *Call = dyn_cast<CallBase>(&I))
    call(*Call);
  else if (const auto *Phi = dyn_cast<PHINode>(&I))
    for (const BasicBlock *Block : Phi->blocks())
      operand(*Block);
  else if (const auto *Shuffle = dyn_cast<ShuffleVectorInst>(&I))
    for (int Lane : Shuffle->getShuffleMask())
      Out.u32(Lane);
  else if (const auto *Extract = dyn_cast<ExtractValueInst>(&I))
    for (unsigned Index : Extract->indices())
      Out.u32(Index);
  else if (const auto *Insert = dyn_cast<InsertValueInst>(&I))
    for (unsigned Index : Insert->indices())
      Out.u32(Index);
  else if (const auto *Rmw = dyn_cast<AtomicRMWInst>(&I))
    Out.u32(Rmw->getOperation());
  Out.u8(I.isVolatile());
  if (I.isAtomic() && !isa<CallBase>(I)) {
    Out.u32(getAtomicSyncScopeID(&I).value_or(0));
    if (const auto *Load = dyn_cast<LoadInst>(&I))
      Out.u32(static_cast<uint32_t>(Load->getOrdering()));
    if (const auto *Store = dyn_cast<StoreInst>(&I))
      Out.u32(static_cast<uint32_t>(Store->getOrdering()));
    if (const auto *Fence = dyn_cast<FenceInst>(&I))
      Out.u32(static_cast<uint32_t>(Fence->getOrdering()));
    if (const auto *Rmw = dyn_cast<AtomicRMWInst>(&I))
      Out.u32(static_cast<uint32_t>(Rmw->getOrdering()));
    if (const auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I))
      Out.u32(static_cast<uint32_t>(Exchange->getSuccessOrdering()));
  }
}

void Stream::instruction(const Instruction &I) {
  Out.u32(I.getOpcode());
  Out.u32(I.getRawSubclassOptionalData());
  type(*I.getType());
  details(I);
  for (const Use &Operand : I.operands())
    operand(*Operand);
}

/// Launch bounds and the floating-point mode are part of what a kernel does.
void Stream::kernelAttributes(const Function &F) {
  for (const Attribute &A : F.getAttributes().getFnAttrs())
    if (A.isStringAttribute() &&
        (A.getKindAsString().starts_with("nvvm.") ||
         A.getKindAsString().starts_with("denormal-fp-math"))) {
      Out.string(A.getKindAsString());
      Out.string(A.getValueAsString());
    }
}

void Stream::function(const Function &F) {
  type(*F.getFunctionType());
  abiAttributes(F.getAttributes(), F.arg_size());
  kernelAttributes(F);
  Locals.clear();
  uint32_t Next = 0;
  for (const Argument &A : F.args())
    Locals[&A] = Next++;
  for (const BasicBlock &Block : F) {
    Locals[&Block] = Next++;
    for (const Instruction &I : Block)
      if (!isIgnored(I))
        Locals[&I] = Next++;
  }
  for (const BasicBlock &Block : F) {
    Out.u32(Locals[&Block]);
    for (const Instruction &I : Block)
      if (!isIgnored(I))
        instruction(I);
  }
}

void Stream::variable(const GlobalVariable &G) {
  type(*G.getValueType());
  Out.u32(G.getAddressSpace());
  Out.u8(isMutable(G));
  if (isMutable(G))
    Out.string(normalisedName(G.getName()));
  if (G.hasInitializer())
    operand(*G.getInitializer());
}

void Stream::definition(const GlobalValue &G) {
  Out.u32(G.getValueID());
  if (G.isDeclaration())
    Out.string(normalisedName(G.getName()));
  else if (const auto *F = dyn_cast<Function>(&G))
    function(*F);
  else if (const auto *Variable = dyn_cast<GlobalVariable>(&G))
    variable(*Variable);
  else if (const auto *Alias = dyn_cast<GlobalAlias>(&G))
    operand(*Alias->getAliasee());
}

std::string fingerprint(const Module &, const Function &Kernel) {
  return Stream(Kernel).digest();
}

std::string kernelKey(const std::string &Fingerprint, const std::string &Home) {
  return contentDigest(Fingerprint + "\n" + Home).hex();
}

} // namespace r3::ir
