// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Without -fgpu-rdc clang writes a function that registers everything, call by
// call; with it, one constant a symbol that the linker wrapper reads later:
//   { i64, i16 version, i16 kind, i32 flags, ptr address, ptr name, i64 size,
//     i64, ptr }
#include "plugin/host/Registrations.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace r3::plugin {

static std::string textOf(const Value *V) {
  StringRef Text;
  return getConstantStringInfo(V, Text) ? Text.str() : std::string();
}

static uint64_t numberOf(const Value *V) {
  const auto *Number = dyn_cast<ConstantInt>(V);
  return Number ? Number->getZExtValue() : 0;
}

/// __cudaRegisterFunction(handle, host, device, name, ...)
/// __cudaRegisterVar(handle, host, device, name, ext, size, constant, global)
static void readCall(const CallInst &Call, Registrations &Out) {
  const Function *Callee = Call.getCalledFunction();
  if (!Callee || Call.arg_size() < 6)
    return;
  auto *Host = dyn_cast<Constant>(Call.getArgOperand(1));
  std::string Name = textOf(Call.getArgOperand(2));
  if (!Host || Name.empty())
    return;
  if (Callee->getName() == "__cudaRegisterFunction")
    Out.Kernels.push_back({Host, Name, 0});
  else if (Callee->getName() == "__cudaRegisterVar")
    Out.Variables.push_back({Host, Name, numberOf(Call.getArgOperand(5))});
}

static void readEntry(const GlobalVariable &Entry, Registrations &Out) {
  const auto *Fields = dyn_cast<ConstantStruct>(Entry.getInitializer());
  if (!Fields || Fields->getNumOperands() < 7)
    return;
  Constant *Host = Fields->getOperand(4);
  std::string Name = textOf(Fields->getOperand(5));
  if (Name.empty() || Host->isNullValue())
    return;
  uint64_t Size = numberOf(Fields->getOperand(6));
  if (Size == 0 && isa<Function>(Host->stripPointerCasts()))
    Out.Kernels.push_back({Host, Name, 0});
  else if (Size != 0)
    Out.Variables.push_back({Host, Name, Size});
}

Registrations readRegistrations(Module &M) {
  Registrations Out;
  if (const Function *Register = M.getFunction("__cuda_register_globals"))
    for (const Instruction &I : instructions(*Register))
      if (const auto *Call = dyn_cast<CallInst>(&I))
        readCall(*Call, Out);
  for (const GlobalVariable &G : M.globals())
    if (G.hasInitializer() && G.getSection() == "llvm_offload_entries")
      readEntry(G, Out);
  Out.Fatbin = M.getNamedGlobal("__cuda_fatbin_wrapper");
  return Out;
}

} // namespace r3::plugin
