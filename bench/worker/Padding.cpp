// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3-compile with a pass more, pad<N>: N bytes before each function, so that
// the code is another one and does the same. LLVM's code generators for CPUs
// have a place for that; the one for GPUs has not.
#include "plugin/ir/Pipeline.h"
#include "wrapper/replay/CompileServer.h"

#include "llvm/IR/Constants.h"

using namespace llvm;

namespace {

constexpr uint8_t Nop = 0x90;

struct PadPass : PassInfoMixin<PadPass> {
  size_t Bytes;

  explicit PadPass(size_t Bytes) : Bytes(Bytes) {}
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    const std::vector<uint8_t> Nops(Bytes, Nop);
    for (Function &F : M)
      if (!F.isDeclaration())
        F.setPrefixData(ConstantDataArray::get(M.getContext(), Nops));
    return PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }
};

bool addPad(StringRef Name, ModulePassManager &Manager) {
  size_t Bytes = 0;
  if (!Name.consume_front("pad<") || !Name.consume_back(">") ||
      Name.getAsInteger(10, Bytes))
    return false;
  if (Bytes)
    Manager.addPass(PadPass(Bytes));
  return true;
}

} // namespace

int main(int Count, char **Arguments) {
  r3::ir::addPassParser(addPad);
  return r3::replay::compileMain(Count, Arguments);
}
