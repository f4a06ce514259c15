// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From functions that ask, upwards to those that call them.
#include "runtime/device/cpu/ActiveMasks.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace r3::cpu {

static bool isQuestion(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  if (!Call)
    return false;
  if (auto *Assembly = dyn_cast<InlineAsm>(Call->getCalledOperand()))
    return StringRef(Assembly->getAsmString()).contains("activemask");
  const Function *Callee = Call->getCalledFunction();
  return Callee && Callee->getName() == "llvm.nvvm.activemask";
}

static SmallVector<CallBase *, 8> callsOf(Function &F) {
  SmallVector<CallBase *, 8> Calls;
  for (User *U : F.users())
    if (auto *Call = dyn_cast<CallBase>(U);
        Call && Call->getCalledFunction() == &F && Call->getFunction() != &F)
      Calls.push_back(Call);
  return Calls;
}

void separateActiveMasks(Module &M) {
  SmallSetVector<Function *, 8> Asking;
  for (Function &F : M)
    if (any_of(instructions(F), isQuestion))
      Asking.insert(&F);
  // Each function once, so that recursion comes to an end.
  for (size_t Next = 0; Next < Asking.size(); ++Next)
    for (CallBase *Call : callsOf(*Asking[Next])) {
      Function *Caller = Call->getFunction();
      InlineFunctionInfo Info;
      if (InlineFunction(*Call, Info).isSuccess())
        Asking.insert(Caller);
    }
}

} // namespace r3::cpu
