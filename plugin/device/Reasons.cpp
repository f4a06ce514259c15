// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each instruction of the closure is looked at once; the first reason in the
// order of the walk counts. Calls of what is only declared are judged by name:
// the functions that CUDA's device runtime and system library provide are
// known, everything else is in another unit.
#include "plugin/device/Reasons.h"

#include "plugin/ir/Closure.h"
#include "runtime/support/Reason.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace r3::plugin {

static Reason declarationReason(StringRef Name) {
  if (Name.starts_with("llvm."))
    return Reason::None;
  if (Name.starts_with("cudaLaunchDevice") ||
      Name.starts_with("cudaGetParameterBuffer") ||
      Name.starts_with("__cudaCDP2"))
    return Reason::DeviceLaunch;
  return StringSwitch<Reason>(Name)
      .Cases({"vprintf", "__assertfail", "__assert_fail", "__nvvm_reflect"},
             Reason::None)
      .Cases({"malloc", "free", "_Znwm", "_Znam", "_ZdlPv", "_ZdaPv", "_ZdlPvm",
              "_ZdaPvm", "__cuda_syscall_malloc", "__cuda_syscall_free"},
             Reason::DeviceMalloc)
      .Default(Reason::DeviceLink);
}

static Reason intrinsicReason(Intrinsic::ID Id, StringRef Name) {
  switch (Id) {
  case Intrinsic::nvvm_read_ptx_sreg_clock:
  case Intrinsic::nvvm_read_ptx_sreg_clock64:
  case Intrinsic::nvvm_read_ptx_sreg_globaltimer:
  case Intrinsic::readcyclecounter:
  case Intrinsic::readsteadycounter:
    return Reason::Clock;
  default:
    break;
  }
  for (const char *Prefix :
       {"llvm.nvvm.tex.", "llvm.nvvm.tld4.", "llvm.nvvm.suld.",
        "llvm.nvvm.sust.", "llvm.nvvm.txq.", "llvm.nvvm.suq."})
    if (Name.starts_with(Prefix))
      return Reason::Texture;
  return Reason::None;
}

static Reason asmReason(StringRef Text) {
  if (Text.contains("%clock") || Text.contains("%globaltimer"))
    return Reason::Clock;
  for (const char *Word :
       {"tex.", "tld4.", "suld.", "sust.", "sured.", "txq.", "suq."})
    if (size_t At = Text.find(Word);
        At != StringRef::npos && (At == 0 || !isalnum(Text[At - 1])))
      return Reason::Texture;
  return Reason::None;
}

/// The place in the kernel's own source: headers say little about it.
static std::string where(const Instruction &I) {
  const DILocation *At = I.getDebugLoc();
  while (At && At->getInlinedAt())
    At = At->getInlinedAt();
  if (!At)
    return {};
  return " (" + At->getFilename().str() + ":" + std::to_string(At->getLine()) +
         ")";
}

static bool set(KernelCode &Code, Reason Why, const std::string &Detail) {
  if (Why == Reason::None)
    return false;
  Code.Reason = reasonName(Why);
  Code.Detail = Detail;
  return true;
}

static bool callReason(const CallBase &Call, KernelCode &Code) {
  if (const auto *Asm = dyn_cast<InlineAsm>(Call.getCalledOperand()))
    return set(Code, asmReason(Asm->getAsmString()),
               "inline asm \"" + Asm->getAsmString().str() + "\"" +
                   where(Call));
  const auto *Callee = dyn_cast<Function>(
      Call.getCalledOperand()->stripPointerCastsAndAliases());
  if (!Callee)
    return set(Code, Reason::IndirectCall,
               "a call through a pointer in " +
                   demangle(Call.getFunction()->getName()) + where(Call));
  if (!Callee->isDeclaration())
    return false;
  Reason Why = Callee->isIntrinsic() ? intrinsicReason(Callee->getIntrinsicID(),
                                                       Callee->getName())
                                     : declarationReason(Callee->getName());
  return set(Code, Why, demangle(Callee->getName()) + where(Call));
}

/// Memory that another unit defines. Dynamic shared memory is declared too,
/// and so are clang's weak threadIdx and friends.
static bool globalReason(const GlobalValue &G, KernelCode &Code) {
  const auto *Variable = dyn_cast<GlobalVariable>(&G);
  if (!Variable || !Variable->isDeclaration() ||
      Variable->hasExternalWeakLinkage() || Variable->getAddressSpace() == 3)
    return false;
  return set(Code, Reason::DeviceLink, demangle(Variable->getName()));
}

void findReason(const Function &Kernel, KernelCode &Code) {
  Code.Reason.clear();
  Code.Detail.clear();
  for (const GlobalValue *G : ir::reachableFrom(Kernel)) {
    if (globalReason(*G, Code))
      return;
    const auto *F = dyn_cast<Function>(G);
    if (!F)
      continue;
    for (const Instruction &I : instructions(*F))
      if (const auto *Call = dyn_cast<CallBase>(&I);
          Call && callReason(*Call, Code))
        return;
  }
}

} // namespace r3::plugin
