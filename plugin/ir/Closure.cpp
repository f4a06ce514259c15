// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Closures are made by cloning the module with the definitions that the kernel
// reaches, and dropping the rest. A global counts as never written where it is
// internal and every use of it, through casts and GEPs, is a load: those are
// made constant here, while the whole module is in view, because a closure
// alone cannot know what the other kernels do.
#include "plugin/ir/Closure.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace r3::ir {

bool isKernel(const Function &F) {
  return F.getCallingConv() == CallingConv::PTX_Kernel && !F.isDeclaration();
}

std::vector<std::string> kernelNames(const Module &M) {
  std::vector<std::string> Names;
  for (const Function &F : M)
    if (isKernel(F))
      Names.push_back(F.getName().str());
  return Names;
}

static void addOperand(const Value *V, SetVector<const GlobalValue *> &Reached,
                       SmallPtrSetImpl<const Constant *> &Seen) {
  SmallVector<const Constant *, 8> Work;
  if (const auto *C = dyn_cast<Constant>(V))
    Work.push_back(C);
  while (!Work.empty()) {
    const Constant *C = Work.pop_back_val();
    if (const auto *G = dyn_cast<GlobalValue>(C)) {
      Reached.insert(G);
      continue;
    }
    if (!Seen.insert(C).second)
      continue;
    for (const Use &Operand : C->operands())
      if (const auto *Inner = dyn_cast<Constant>(Operand))
        Work.push_back(Inner);
  }
}

std::vector<const GlobalValue *> reachableFrom(const Function &Kernel) {
  SetVector<const GlobalValue *> Reached;
  SmallPtrSet<const Constant *, 32> Seen;
  Reached.insert(&Kernel);
  for (size_t I = 0; I < Reached.size(); ++I) {
    const GlobalValue *G = Reached[I];
    if (const auto *F = dyn_cast<Function>(G))
      for (const BasicBlock &Block : *F)
        for (const Instruction &Inst : Block)
          for (const Use &Operand : Inst.operands())
            addOperand(Operand, Reached, Seen);
    for (const Use &Operand : G->operands()) // initialisers, aliasees
      addOperand(Operand, Reached, Seen);
  }
  return {Reached.begin(), Reached.end()};
}

bool isMutable(const GlobalVariable &G) {
  return G.getAddressSpace() != 3 &&
         (!G.isConstant() || G.isExternallyInitialized());
}

/// Metadata lists functions that are gone as null.
static void dropDeadAnnotations(Module &M) {
  NamedMDNode *Annotations = M.getNamedMetadata("nvvm.annotations");
  if (!Annotations)
    return;
  SmallVector<MDNode *, 8> Kept;
  for (MDNode *Node : Annotations->operands())
    if (Node->getNumOperands() && Node->getOperand(0))
      Kept.push_back(Node);
  Annotations->clearOperands();
  for (MDNode *Node : Kept)
    Annotations->addOperand(Node);
  if (Kept.empty())
    M.eraseNamedMetadata(Annotations);
}

static void dropLists(Module &M) {
  for (const char *Name : {"llvm.used", "llvm.compiler.used",
                           "llvm.global_ctors", "llvm.global_dtors"})
    if (GlobalVariable *G = M.getNamedGlobal(Name))
      G->eraseFromParent();
}

static void eraseUnreached(Module &M,
                           const SmallPtrSetImpl<const Value *> &Kept) {
  SmallVector<GlobalValue *, 32> Dead;
  for (GlobalValue &G : M.global_values())
    if (!Kept.contains(&G))
      Dead.push_back(&G);
  for (GlobalValue *G : Dead)
    if (auto *F = dyn_cast<Function>(G))
      F->deleteBody();
    else if (auto *V = dyn_cast<GlobalVariable>(G))
      V->setInitializer(nullptr);
  for (GlobalValue *G : Dead) {
    G->removeDeadConstantUsers();
    if (!G->use_empty())
      G->replaceAllUsesWith(PoisonValue::get(G->getType()));
    G->eraseFromParent();
  }
}

static void setLinkage(Module &M, StringRef Kernel) {
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    F.setComdat(nullptr);
    if (F.getName() == Kernel)
      F.setLinkage(GlobalValue::ExternalLinkage);
    else {
      F.setLinkage(GlobalValue::InternalLinkage);
      F.setVisibility(GlobalValue::DefaultVisibility);
    }
  }
  for (GlobalVariable &G : M.globals()) {
    if (G.isDeclaration())
      continue;
    G.setComdat(nullptr);
    if (isMutable(G))
      G.setLinkage(GlobalValue::ExternalLinkage);
    else if (!G.hasLocalLinkage()) {
      G.setLinkage(GlobalValue::InternalLinkage);
      G.setVisibility(GlobalValue::DefaultVisibility);
    }
  }
}

static Expected<const Function *> findKernel(const Module &M,
                                             StringRef Kernel) {
  const Function *Root = M.getFunction(Kernel);
  if (!Root || !isKernel(*Root))
    return fail(ErrorCode::NotFound, "%s: no kernel %s",
                M.getModuleIdentifier().c_str(), Kernel.str().c_str());
  return Root;
}

static void reduce(Module &M, const SmallPtrSetImpl<const Value *> &Kept,
                   StringRef Kernel) {
  dropLists(M);
  eraseUnreached(M, Kept);
  dropDeadAnnotations(M);
  setLinkage(M, Kernel);
}

Expected<std::unique_ptr<Module>> extractClosure(const Module &M,
                                                 StringRef Kernel) {
  Expected<const Function *> Root = findKernel(M, Kernel);
  if (!Root)
    return Root.error();
  SmallPtrSet<const GlobalValue *, 32> Reached;
  for (const GlobalValue *G : reachableFrom(**Root))
    Reached.insert(G);
  ValueToValueMapTy Map;
  std::unique_ptr<Module> Closure =
      CloneModule(M, Map, [&](const GlobalValue *G) {
        return Reached.contains(G) && !G->isDeclaration();
      });
  SmallPtrSet<const Value *, 32> Kept;
  for (const GlobalValue *G : Reached)
    Kept.insert(Map.lookup(G));
  reduce(*Closure, Kept, Kernel);
  return Closure;
}

Error reduceToClosure(Module &M, StringRef Kernel) {
  Expected<const Function *> Root = findKernel(M, Kernel);
  if (!Root)
    return Root.error();
  SmallPtrSet<const Value *, 32> Kept;
  for (const GlobalValue *G : reachableFrom(**Root))
    Kept.insert(G);
  reduce(M, Kept, Kernel);
  return Error::success();
}

/// Whether all that is ever done with the global's address is loading.
static bool isOnlyRead(const Value &Address, unsigned Depth = 0) {
  if (Depth > 16)
    return false;
  return all_of(Address.users(), [&](const User *U) {
    if (isa<LoadInst>(U))
      return !cast<LoadInst>(U)->isVolatile();
    if (isa<GEPOperator, AddrSpaceCastOperator, BitCastOperator>(U))
      return isOnlyRead(*U, Depth + 1);
    return false;
  });
}

/// PTX allows no dots in names that are visible.
static std::string exposedName(StringRef Name, StringRef UnitTag) {
  std::string Text = (Name + "__r3_" + UnitTag).str();
  for (char &C : Text)
    if (C != '_' && C != '$' && !isAlnum(C))
      C = '_';
  return Text;
}

std::vector<std::string> exposeGlobals(Module &M, StringRef UnitTag) {
  std::vector<std::string> Names;
  for (GlobalVariable &G : M.globals()) {
    unsigned Space = G.getAddressSpace();
    if (!G.hasLocalLinkage() || !G.hasInitializer() || G.isConstant() ||
        (Space != 0 && Space != 1) || G.getSection() == "llvm.metadata")
      continue;
    if (!G.isExternallyInitialized() && isOnlyRead(G)) {
      G.setConstant(true);
      continue;
    }
    G.setName(exposedName(G.hasName() ? G.getName() : "global", UnitTag));
    G.setLinkage(GlobalValue::ExternalLinkage);
    G.setUnnamedAddr(GlobalValue::UnnamedAddr::None);
    Names.push_back(G.getName().str());
  }
  return Names;
}

} // namespace r3::ir
