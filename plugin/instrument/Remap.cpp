// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugin/instrument/Remap.h"

#include "plugin/instrument/Code.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace r3 {
extern const uint8_t RemapCode[]; // code/Remap.cu as bitcode
extern const uint64_t RemapCodeSize;
} // namespace r3

namespace r3::instrument {

/// "tid_x" of llvm.nvvm.read.ptx.sreg.tid.x; empty for all but indices.
static std::string indexRegister(StringRef Intrinsic) {
  if (!Intrinsic.consume_front("llvm.nvvm.read.ptx.sreg."))
    return {};
  auto [Register, Axis] = Intrinsic.split('.');
  return Register == "tid" || Register == "ctaid"
             ? (Register + "_" + Axis).str()
             : std::string();
}

/// What the permutation would not be true for; empty where it is.
static std::string obstacle(const CallBase &Call) {
  if (auto *Assembly = dyn_cast<InlineAsm>(Call.getCalledOperand())) {
    const StringRef Text = Assembly->getAsmString();
    for (const char *Register : {"%tid", "%ctaid", "%cluster"})
      if (Text.contains(Register))
        return "reads " + std::string(Register + 1) + " in inline assembly";
  } else if (const Function *F = Call.getCalledFunction();
             F && (F->getName().contains("sreg.cluster") ||
                   F->getName().contains(".mapa"))) {
    return "is made for clusters of blocks";
  }
  return {};
}

Error addRemap(Module &M) {
  SmallVector<std::pair<CallInst *, std::string>, 32> Reads;
  for (Function *F : definedFunctions(M))
    for (Instruction &I : instructions(*F)) {
      auto *Call = dyn_cast<CallInst>(&I);
      if (!Call)
        continue;
      if (std::string Why = obstacle(*Call); !Why.empty())
        return fail(ErrorCode::CannotRunHere, "the kernel %s", Why.c_str());
      const Function *Callee = Call->getCalledFunction();
      if (std::string Name =
              Callee ? indexRegister(Callee->getName()) : std::string();
          !Name.empty())
        Reads.emplace_back(Call, std::move(Name));
    }
  if (Reads.empty())
    return fail(ErrorCode::CannotRunHere, "the kernel reads no index");
  if (Error E = linkCode(M, {RemapCode, RemapCodeSize}, "remapped indices"))
    return E;
  for (auto &[Call, Name] : Reads)
    Call->setCalledFunction(M.getFunction("__r3_remap_" + Name));
  // From here on those that nothing calls are of no use.
  for (Function &F : make_early_inc_range(M))
    if (F.getName().starts_with("__r3_remap_") && F.use_empty())
      F.eraseFromParent();
  return Error::success();
}

} // namespace r3::instrument
