// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tuned code is made in a context of its own from the embedded copy, as
// the compile worker made it, and then moved into the kernel that is there:
// its name, linkage, comdat and launch bounds stay. Each kernel is tried on a
// copy of the module first, so that trouble leaves the real one untouched.
#include "plugin/device/Profile.h"
#include "plugin/device/Snapshot.h"
#include "plugin/ir/Closure.h"
#include "plugin/ir/Codegen.h"
#include "plugin/ir/Diagnostics.h"
#include "plugin/ir/Pipeline.h"

#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace r3::plugin {

static constexpr const char *TunedSuffix = "__r3_tuned";

/// The tuned closure as bitcode; its kernel is called NAME__r3_tuned.
static Expected<std::vector<uint8_t>>
deriveTuned(std::span<const uint8_t> Bitcode, const std::string &Kernel,
            const Variant &Change, const std::string &UnitLevel) {
  LLVMContext Context;
  Expected<std::unique_ptr<Module>> Whole = readBitcode(Bitcode, Context);
  if (!Whole)
    return Whole.error();
  Expected<std::unique_ptr<Module>> Closure =
      ir::extractClosure(**Whole, Kernel);
  if (!Closure)
    return Closure.error();
  const std::string &Level = Change.Level.empty() ? UnitLevel : Change.Level;
  auto Machine = ir::createTargetMachine(**Closure, Level);
  if (!Machine)
    return Machine.error();
  if (Error Problem =
          ir::runPipeline(**Closure, **Machine, Change.Pipeline, Level,
                          Change.Options))
    return Problem;
  Function *Tuned = (*Closure)->getFunction(Kernel);
  if (!Tuned || Tuned->isDeclaration())
    return fail(ErrorCode::Failed, "the pipeline lost the kernel");
  if (Error Problem = ir::applyCodegen(*Tuned, Change))
    return Problem;
  Tuned->setName(Kernel + TunedSuffix);
  StripDebugInfo(**Closure);
  for (const char *Name : {"llvm.ident", "llvm.module.flags",
                           "nvvm.annotations", "llvm.errno.tbaa"})
    if (NamedMDNode *Node = (*Closure)->getNamedMetadata(Name))
      (*Closure)->eraseNamedMetadata(Node);
  return writeBitcode(**Closure);
}

static uint64_t sizeOf(const Module &M, const GlobalVariable &G) {
  return M.getDataLayout().getTypeAllocSize(G.getValueType());
}

/// Memory that M defines is used, not defined again. Named structures are
/// compared by size: read from bitcode, they are types of their own.
static Error shareGlobals(Module &Tuned, const Module &M) {
  for (GlobalVariable &G : Tuned.globals()) {
    if (!G.hasInitializer() || G.hasLocalLinkage())
      continue;
    const GlobalVariable *There = M.getNamedGlobal(G.getName());
    if (!There)
      continue;
    if (There->hasLocalLinkage() || sizeOf(M, *There) != sizeOf(Tuned, G) ||
        There->getAddressSpace() != G.getAddressSpace())
      return fail(ErrorCode::Failed, "global %s has another form in this build",
                  G.getName().str().c_str());
    G.setInitializer(nullptr);
    G.setConstant(There->isConstant());
  }
  return Error::success();
}

/// What the old body used and nothing uses now.
static void eraseDeadLocals(Module &M) {
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (GlobalValue &G : make_early_inc_range(M.global_values())) {
      G.removeDeadConstantUsers();
      if (!G.hasLocalLinkage() || !G.use_empty())
        continue;
      G.eraseFromParent();
      Changed = true;
    }
  }
}

static void moveBody(Function &Tuned, Function &Kernel) {
  GlobalValue::LinkageTypes Linkage = Kernel.getLinkage();
  Comdat *Group = Kernel.getComdat();
  Kernel.deleteBody(); // also makes it external
  Kernel.setLinkage(Linkage);
  Kernel.setComdat(Group);
  Kernel.setSubprogram(nullptr);
  Kernel.setAttributes(Tuned.getAttributes());
  Kernel.splice(Kernel.begin(), &Tuned);
  for (auto [From, To] : zip(Tuned.args(), Kernel.args()))
    From.replaceAllUsesWith(&To);
  Tuned.replaceAllUsesWith(&Kernel);
  Tuned.eraseFromParent();
}

static Error replaceBody(Module &M, const std::string &Name,
                         std::span<const uint8_t> Tuned) {
  std::string Reported;
  ir::ScopedHandler Handler(M.getContext(), Reported);
  Expected<std::unique_ptr<Module>> Code = readBitcode(Tuned, M.getContext());
  if (!Code)
    return Code.error();
  if (Error Problem = shareGlobals(**Code, M))
    return Problem;
  if (Linker::linkModules(M, std::move(*Code)) || !Reported.empty())
    return fail(ErrorCode::Failed, "linking the tuned code: %s",
                Reported.c_str());
  Function *Kernel = M.getFunction(Name);
  Function *Body = M.getFunction(Name + TunedSuffix);
  if (!Kernel || !Body || Kernel->getFunctionType() != Body->getFunctionType())
    return fail(ErrorCode::Failed, "the tuned code is for another signature");
  moveBody(*Body, *Kernel);
  eraseDeadLocals(M);
  std::string Broken;
  raw_string_ostream Text(Broken);
  if (verifyModule(M, &Text))
    return fail(ErrorCode::Failed, "broken module: %s",
                StringRef(Broken).split('\n').first.str().c_str());
  return Error::success();
}

static Error applyOne(Module &M, const std::string &Name, const Variant &Change,
                      std::span<const uint8_t> Bitcode,
                      const std::string &Level) {
  Expected<std::vector<uint8_t>> Tuned =
      deriveTuned(Bitcode, Name, Change, Level);
  if (!Tuned)
    return Tuned.error();
  if (Error Problem = replaceBody(*CloneModule(M), Name, *Tuned))
    return Problem;
  return replaceBody(M, Name, *Tuned);
}

void applyProfile(const Compilation &C, const UnitProfile &Profile,
                  std::span<const uint8_t> Bitcode, const std::string &Level,
                  Module &M) {
  if (Profile.Gpu.empty())
    return;
  if (Level == "O0")
    return C.warn(M, "optimisation", "-O0: the profile is applied from -O1 on");
  if (C.IsRdc)
    return C.warn(M, "rdc", "-fgpu-rdc: the profile is not applied");
  if (C.IsLto)
    return C.warn(M, "lto", "-foffload-lto: the profile is not applied");
  for (const auto &[Name, Change] : Profile.Gpu) {
    if (!M.getFunction(Name) || M.getFunction(Name)->isDeclaration())
      continue;
    if (Error Problem = applyOne(M, Name, Change, Bitcode, Level))
      C.warn(M, "profile", Name + ": original kept: " + Problem.message());
    else
      C.note(M, "applied", Name + ": tuned code is in");
  }
}

} // namespace r3::plugin
