// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Target, parameters and globals; the context is in Context.cpp.
#include "runtime/device/cpu/Retarget.h"

#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"

using namespace llvm;

namespace r3::cpu {

static uint32_t threadLimit(const Function &Kernel) {
  StringRef Text = Kernel.getFnAttribute("nvvm.maxntid").getValueAsString();
  if (Text.empty())
    return MaxThreadsPerBlock;
  uint64_t Product = 1;
  SmallVector<StringRef, 3> Parts;
  Text.split(Parts, ',');
  for (StringRef Part : Parts) {
    unsigned Number = 0;
    if (Part.trim().getAsInteger(10, Number) || !Number)
      return MaxThreadsPerBlock;
    Product *= Number;
  }
  return Product > MaxThreadsPerBlock ? MaxThreadsPerBlock : Product;
}

/// Parameters lie one after the other, each at its alignment, as in PTX.
KernelImage describeKernel(const Function &Kernel) {
  const DataLayout &Layout = Kernel.getParent()->getDataLayout();
  KernelImage Image;
  Image.Kernel = Kernel.getName().str();
  Image.MaxThreads = threadLimit(Kernel);
  uint64_t Offset = 0;
  for (const Argument &A : Kernel.args()) {
    Type *Held = A.hasByValAttr() ? A.getParamByValType() : A.getType();
    Align Alignment = Layout.getABITypeAlign(Held);
    if (A.hasByValAttr())
      Alignment = std::max(Alignment, A.getParamAlign().valueOrOne());
    Offset = alignTo(Offset, Alignment);
    uint64_t Size = Layout.getTypeAllocSize(Held);
    Image.Parameters.push_back(
        {static_cast<uint32_t>(Offset), static_cast<uint32_t>(Size)});
    Offset += Size;
  }
  Image.ArgumentBytes = static_cast<uint32_t>(Offset);
  return Image;
}

static void dropDeviceAttributes(Function &F) {
  AttributeMask Drop;
  for (const Attribute &A : F.getAttributes().getFnAttrs())
    if (A.isStringAttribute() && A.getKindAsString() != "no-trapping-math")
      Drop.addAttribute(A.getKindAsString());
  F.removeFnAttrs(Drop);
  F.setCallingConv(CallingConv::C);
  F.setSection("");
  F.setDSOLocal(F.hasLocalLinkage());
}

void dropDeviceTraits(Module &M) {
  for (Function &F : M)
    dropDeviceAttributes(F);
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallBase>(&I))
        Call->setCallingConv(CallingConv::C);
  for (const char *Name :
       {"nvvm.annotations", "nvvmir.version", "nvvm.reflect", "llvm.ident"})
    if (NamedMDNode *Node = M.getNamedMetadata(Name))
      Node->eraseFromParent();
}

static bool isMutable(const GlobalVariable &G) {
  return !G.isConstant() || G.isExternallyInitialized();
}

/// A new global of address space 0 with G's name and uses.
static GlobalVariable *flatCopy(Module &M, GlobalVariable &G) {
  auto *Flat = new GlobalVariable(
      M, G.getValueType(), G.isConstant() && !G.isExternallyInitialized(),
      G.getLinkage(), nullptr, "", nullptr, GlobalValue::NotThreadLocal,
      /*AddressSpace=*/0);
  Flat->setAlignment(G.getAlign().value_or(
      M.getDataLayout().getABITypeAlign(G.getValueType())));
  Flat->setUnnamedAddr(G.getUnnamedAddr());
  Flat->takeName(&G);
  Constant *Replacement = Flat;
  if (G.getAddressSpace())
    Replacement = ConstantExpr::getAddrSpaceCast(Flat, G.getType());
  G.replaceAllUsesWith(Replacement);
  return Flat;
}

static void moveOut(Module &M, GlobalVariable &Flat, Constant *First,
                    KernelImage &Image) {
  const DataLayout &Layout = M.getDataLayout();
  Flat.setLinkage(GlobalValue::ExternalLinkage);
  Flat.setVisibility(GlobalValue::DefaultVisibility);
  Flat.setDSOLocal(false);
  Image.Globals.push_back({Flat.getName().str(),
                           Layout.getTypeAllocSize(Flat.getValueType()),
                           Flat.getAlign().valueOrOne().value()});
  auto *Init = new GlobalVariable(M, Flat.getValueType(), /*isConstant=*/true,
                                  GlobalValue::ExternalLinkage, First,
                                  InitPrefix + Flat.getName());
  Init->setAlignment(Flat.getAlign());
}

void moveGlobals(Module &M, KernelImage &Image) {
  SmallVector<GlobalVariable *, 16> Old;
  for (GlobalVariable &G : M.globals())
    if (G.getAddressSpace() != 3)
      Old.push_back(&G);
  // All copies first: initialisers name other globals.
  SmallVector<std::pair<GlobalVariable *, GlobalVariable *>, 16> Copies;
  for (GlobalVariable *G : Old)
    Copies.push_back({G, flatCopy(M, *G)});
  for (auto [G, Flat] : Copies) {
    Constant *First = G->hasInitializer() ? G->getInitializer() : nullptr;
    if (First && isa<UndefValue>(First))
      First = Constant::getNullValue(G->getValueType());
    if (First && isMutable(*G))
      moveOut(M, *Flat, First, Image);
    else
      Flat->setInitializer(First);
  }
  for (auto [G, Flat] : Copies)
    G->eraseFromParent();
}

} // namespace r3::cpu
