// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3-compile with two passes more, for functions, that are planted faults:
// drop-store takes every store through a pointer that is no variable of the
// function away, stop-here ends the process.
#include "plugin/ir/Pipeline.h"
#include "wrapper/replay/CompileServer.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

#include <cstdlib>

using namespace llvm;

namespace {

struct DropStorePass : PassInfoMixin<DropStorePass> {
  PreservedAnalyses run(Function &F, FunctionAnalysisManager &) {
    SmallVector<StoreInst *, 8> Dropped;
    for (Instruction &I : instructions(F))
      if (auto *Store = dyn_cast<StoreInst>(&I);
          Store &&
          !isa<AllocaInst>(getUnderlyingObject(Store->getPointerOperand())))
        Dropped.push_back(Store);
    for (StoreInst *Store : Dropped)
      Store->eraseFromParent();
    return Dropped.empty() ? PreservedAnalyses::all()
                           : PreservedAnalyses::none();
  }
};

struct StopHerePass : PassInfoMixin<StopHerePass> {
  PreservedAnalyses run(Function &, FunctionAnalysisManager &) { std::abort(); }
};

bool addFault(StringRef Name, ModulePassManager &Manager) {
  FunctionPassManager Functions;
  if (Name == "drop-store")
    Functions.addPass(DropStorePass());
  else if (Name == "stop-here")
    Functions.addPass(StopHerePass());
  else
    return false;
  Manager.addPass(createModuleToFunctionPassAdaptor(std::move(Functions)));
  return true;
}

} // namespace

int main(int Count, char **Arguments) {
  r3::ir::addPassParser(addFault);
  return r3::replay::compileMain(Count, Arguments);
}
