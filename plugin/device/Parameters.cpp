// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CUDA lays parameters out one after the other, each at its own alignment;
// structs passed by value are byval pointers in the IR. Member names exist in
// debug information alone: they are looked up there by their offset.
#include "plugin/device/Parameters.h"

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace r3::plugin {

/// Longer arrays inside a struct are one field of bytes.
static constexpr uint64_t MaxArrayFields = 16;

ValueType valueType(const Type &T) {
  const Type *Scalar = T.getScalarType();
  if (Scalar->isPointerTy())
    return ValueType::Pointer;
  if (Scalar->isHalfTy())
    return ValueType::F16;
  if (Scalar->isBFloatTy())
    return ValueType::BF16;
  if (Scalar->isFloatTy())
    return ValueType::F32;
  if (Scalar->isDoubleTy())
    return ValueType::F64;
  if (!Scalar->isIntegerTy())
    return ValueType::Bytes;
  switch (Scalar->getIntegerBitWidth()) {
  case 1:
  case 8:
    return ValueType::I8;
  case 16:
    return ValueType::I16;
  case 32:
    return ValueType::I32;
  case 64:
    return ValueType::I64;
  default:
    return ValueType::Bytes;
  }
}

static const DIType *stripTypedefs(const DIType *T) {
  while (const auto *Derived = dyn_cast_or_null<DIDerivedType>(T)) {
    unsigned Tag = Derived->getTag();
    if (Tag != dwarf::DW_TAG_typedef && Tag != dwarf::DW_TAG_const_type &&
        Tag != dwarf::DW_TAG_volatile_type && Tag != dwarf::DW_TAG_member)
      break;
    T = Derived->getBaseType();
  }
  return T;
}

/// The member of a struct at an offset in bytes, where debug information has
/// it.
static const DIDerivedType *memberAt(const DIType *T, uint64_t Offset) {
  const auto *Struct = dyn_cast_or_null<DICompositeType>(stripTypedefs(T));
  if (!Struct || Struct->getTag() == dwarf::DW_TAG_array_type)
    return nullptr;
  for (const DINode *Node : Struct->getElements()) {
    const auto *Member = dyn_cast<DIDerivedType>(Node);
    if (Member && !Member->isStaticMember() &&
        (Member->getTag() == dwarf::DW_TAG_member ||
         Member->getTag() == dwarf::DW_TAG_inheritance) &&
        Member->getOffsetInBits() == Offset * 8)
      return Member;
  }
  return nullptr;
}

namespace {

class Flattener {
public:
  Flattener(const DataLayout &Layout, std::vector<ArgumentField> &Fields)
      : Layout(Layout), Fields(Fields) {}

  void add(Type &T, uint64_t Offset, const std::string &Name,
           const DIType *Debug) {
    if (auto *Struct = dyn_cast<StructType>(&T))
      return addStruct(*Struct, Offset, Name, Debug);
    uint64_t Count = 1;
    Type *Element = &T;
    if (auto *Array = dyn_cast<ArrayType>(&T)) {
      Count = Array->getNumElements();
      Element = Array->getElementType();
    } else if (auto *Vector = dyn_cast<FixedVectorType>(&T)) {
      Count = Vector->getNumElements();
      Element = Vector->getElementType();
    } else {
      return addField(T, Offset, Name, valueType(T));
    }
    if (Count > MaxArrayFields)
      return addField(T, Offset, Name, ValueType::Bytes);
    uint64_t Step = Layout.getTypeAllocSize(Element);
    for (uint64_t I = 0; I < Count; ++I)
      add(*Element, Offset + I * Step, Name + "[" + std::to_string(I) + "]",
          nullptr);
  }

private:
  void addStruct(StructType &Struct, uint64_t Offset, const std::string &Name,
                 const DIType *Debug) {
    const StructLayout *Members = Layout.getStructLayout(&Struct);
    for (unsigned I = 0; I < Struct.getNumElements(); ++I) {
      uint64_t At = Members->getElementOffset(I);
      const DIDerivedType *Member = memberAt(Debug, At);
      bool IsBase = Member && Member->getTag() == dwarf::DW_TAG_inheritance;
      std::string Inner = IsBase ? Name
                                 : Name + "." +
                                       (Member && !Member->getName().empty()
                                            ? Member->getName().str()
                                            : std::to_string(I));
      add(*Struct.getElementType(I), Offset + At, Inner,
          Member ? Member->getBaseType() : nullptr);
    }
  }

  void addField(Type &T, uint64_t Offset, const std::string &Name,
                ValueType Kind) {
    uint64_t Size = Layout.getTypeStoreSize(&T);
    Fields.push_back({static_cast<uint32_t>(Offset),
                      static_cast<uint32_t>(Size), Kind, Name});
  }

  const DataLayout &Layout;
  std::vector<ArgumentField> &Fields;
};

} // namespace

/// The variable of parameter Number (from 0), where there is -g.
static const DILocalVariable *debugParameter(const Function &F,
                                             unsigned Number) {
  const DISubprogram *Program = F.getSubprogram();
  if (!Program)
    return nullptr;
  auto IsWanted = [&](const DILocalVariable *V) {
    return V && V->getArg() == Number + 1 && V->getScope() == Program;
  };
  for (const DINode *Node : Program->getRetainedNodes())
    if (IsWanted(dyn_cast<DILocalVariable>(Node)))
      return cast<DILocalVariable>(Node);
  for (const BasicBlock &Block : F)
    for (const Instruction &I : Block)
      for (const DbgVariableRecord &Record :
           filterDbgVars(const_cast<Instruction &>(I).getDbgRecordRange()))
        if (IsWanted(Record.getVariable()))
          return Record.getVariable();
  return nullptr;
}

void describeParameters(const Function &Kernel, UnitKernel &Out) {
  const DataLayout &Layout = Kernel.getParent()->getDataLayout();
  Flattener Fields(Layout, Out.Fields);
  uint64_t Offset = 0;
  for (const Argument &A : Kernel.args()) {
    bool ByValue = A.hasByValAttr();
    Type *T = ByValue ? A.getParamByValType() : A.getType();
    Align Alignment =
        ByValue ? A.getParamAlign().valueOrOne() : Layout.getABITypeAlign(T);
    Offset = alignTo(Offset, Alignment);
    uint64_t Size =
        ByValue ? Layout.getTypeAllocSize(T) : Layout.getTypeStoreSize(T);
    const DILocalVariable *Debug = debugParameter(Kernel, A.getArgNo());
    std::string Name = Debug         ? Debug->getName().str()
                       : A.hasName() ? A.getName().str()
                                     : "arg" + std::to_string(A.getArgNo());
    Out.Parameters.push_back(
        {static_cast<uint32_t>(Offset), static_cast<uint32_t>(Size)});
    Fields.add(*T, Offset, Name, Debug ? Debug->getType() : nullptr);
    Offset += Size;
  }
  Out.ArgumentBytes = Offset;
}

} // namespace r3::plugin
