// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugin/instrument/Code.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/Linker/Linker.h"

using namespace llvm;

namespace r3::instrument {

SmallVector<Function *, 32> definedFunctions(Module &M) {
  SmallVector<Function *, 32> Found;
  for (Function &F : M)
    if (!F.isDeclaration())
      Found.push_back(&F);
  return Found;
}

SmallVector<Function *, 32> ownFunctions(Module &M) {
  SmallVector<Function *, 32> Found = definedFunctions(M);
  erase_if(Found, [](const Function *F) {
    return F->getName().starts_with("__nv_") ||
           F->getName().starts_with("__internal_");
  });
  return Found;
}

static void adopt(Function &F, const Function &Like) {
  for (const char *Name : {"target-cpu", "target-features", "denormal-fp-math",
                           "denormal-fp-math-f32"}) {
    F.removeFnAttr(Name);
    if (Like.hasFnAttribute(Name))
      F.addFnAttr(Like.getFnAttribute(Name));
  }
}

Error linkCode(Module &M, ArrayRef<uint8_t> Bitcode, const char *Build,
               bool OnlyNeeded) {
  SmallVector<Function *, 32> Defined = definedFunctions(M);
  if (Defined.empty())
    return fail(ErrorCode::Failed, "%s: no code", Build);
  MemoryBufferRef Buffer(
      StringRef(reinterpret_cast<const char *>(Bitcode.data()), Bitcode.size()),
      Build);
  auto Code = parseBitcodeFile(Buffer, M.getContext());
  if (!Code)
    return fail(ErrorCode::Failed, "%s: %s", Build,
                toString(Code.takeError()).c_str());
  (*Code)->setTargetTriple(M.getTargetTriple());
  (*Code)->setDataLayout(M.getDataLayout());
  if (NamedMDNode *Flags = (*Code)->getModuleFlagsMetadata())
    Flags->eraseFromParent();
  StripDebugInfo(**Code);
  std::vector<std::string> Names;
  for (Function &F : **Code) {
    adopt(F, *Defined.front());
    if (!F.isDeclaration())
      Names.push_back(F.getName().str());
  }
  if (Linker::linkModules(M, std::move(*Code),
                          OnlyNeeded ? Linker::LinkOnlyNeeded : Linker::None))
    return fail(ErrorCode::Failed, "%s: its code does not link", Build);
  for (const std::string &Name : Names)
    if (Function *F = M.getFunction(Name); F && !F->isDeclaration())
      F->setLinkage(GlobalValue::InternalLinkage);
  return Error::success();
}

} // namespace r3::instrument
