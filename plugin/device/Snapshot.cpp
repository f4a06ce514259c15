// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The embedded copy is kept small and free of what differs from build to
// build: unreachable functions and constants go, and the module is named by
// its source as seen from the root.
#include "plugin/device/Snapshot.h"

#include "plugin/ir/Closure.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace r3::plugin {

static SmallPtrSet<const GlobalValue *, 32> reachedByKernels(const Module &M) {
  SmallPtrSet<const GlobalValue *, 32> Reached;
  for (const Function &F : M)
    if (ir::isKernel(F))
      for (const GlobalValue *G : ir::reachableFrom(F))
        Reached.insert(G);
  return Reached;
}

static void eraseUnused(Module &M) {
  SmallPtrSet<const GlobalValue *, 32> Reached = reachedByKernels(M);
  SmallVector<Function *, 16> Dead;
  for (Function &F : M)
    if (!Reached.contains(&F))
      Dead.push_back(&F);
  for (Function *F : Dead)
    F->deleteBody();
  for (Function *F : Dead) {
    F->removeDeadConstantUsers();
    if (F->use_empty())
      F->eraseFromParent();
  }
  for (GlobalVariable &G : make_early_inc_range(M.globals())) {
    G.removeDeadConstantUsers();
    bool MayBeSeen = G.hasInitializer() && ir::isMutable(G);
    if (!Reached.contains(&G) && !MayBeSeen && G.use_empty() &&
        !G.getName().starts_with("llvm."))
      G.eraseFromParent();
  }
}

/// With -fno-discard-value-names they are half of the bitcode.
static void dropLocalNames(Module &M) {
  for (Function &F : M) {
    for (Argument &A : F.args())
      A.setName("");
    for (BasicBlock &Block : F) {
      Block.setName("");
      for (Instruction &I : Block)
        I.setName("");
    }
  }
}

/// Mangled names of template instances are a third of the bitcode, and nobody
/// asks for those of a kernel's helpers. libdevice's are needed as they are.
static void shortenNames(Module &M) {
  unsigned Next = 0;
  for (Function &F : M)
    if (!F.isDeclaration() && !ir::isKernel(F) && F.getName().size() > 40 &&
        F.getName().starts_with("_Z")) {
      F.setComdat(nullptr);
      F.setLinkage(GlobalValue::InternalLinkage);
      F.setVisibility(GlobalValue::DefaultVisibility);
      F.setName("__r3_f" + Twine(Next++));
    }
}

std::unique_ptr<Module> makeSnapshot(const Module &M,
                                     const std::string &Source) {
  std::unique_ptr<Module> Copy = CloneModule(M);
  for (const char *List : {"llvm.used", "llvm.compiler.used"})
    if (GlobalVariable *G = Copy->getNamedGlobal(List))
      G->eraseFromParent();
  eraseUnused(*Copy);
  stripNonLineTableDebugInfo(*Copy);
  dropLocalNames(*Copy);
  shortenNames(*Copy);
  Copy->setModuleIdentifier(Source);
  Copy->setSourceFileName(Source);
  return Copy;
}

std::vector<uint8_t> writeBitcode(const Module &M) {
  SmallString<0> Text;
  raw_svector_ostream Out(Text);
  WriteBitcodeToFile(M, Out);
  return {Text.begin(), Text.end()};
}

Expected<std::unique_ptr<Module>> readBitcode(std::span<const uint8_t> Bytes,
                                              LLVMContext &Context) {
  MemoryBufferRef Buffer(
      StringRef(reinterpret_cast<const char *>(Bytes.data()), Bytes.size()),
      "device code");
  llvm::Expected<std::unique_ptr<Module>> M = parseBitcodeFile(Buffer, Context);
  if (!M)
    return fail(ErrorCode::Damaged, "device code: %s",
                toString(M.takeError()).c_str());
  return std::move(*M);
}

} // namespace r3::plugin
