// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3-compile with passes more that are faults, each with a number that makes
// another binary of it:
//   abort<N> hoard<N> spin<N>     of the compiler: LLVM's fatal error, memory
//                                 without end, time without end
//   bad-asm<N>                    of the assembler
//   endless<N> wild<N> deep<N>    of the kernel: a loop without end, a store
//                                 where no memory is, more stack than there is
//   no-harm<N>                    none
#include "plugin/ir/Pipeline.h"
#include "wrapper/replay/CompileServer.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/ErrorHandling.h"

#include <cstdlib>
#include <functional>

using namespace llvm;

namespace {

using Fault = std::function<void(Function &, uint64_t)>;

bool isGpu(const Function &F) {
  return F.getParent()->getTargetTriple().isNVPTX();
}

/// In front of all that the function does.
IRBuilder<> atEntry(Function &F) {
  return IRBuilder<>(&F.getEntryBlock(), F.getEntryBlock().begin());
}

void abortHere(Function &, uint64_t) {
  report_fatal_error("planted", /*gen_crash_diag=*/false);
}

void hoard(Function &, uint64_t) {
  constexpr size_t Piece = 64 << 20; // never touched
  while (std::malloc(Piece))
    ;
  report_bad_alloc_error("planted");
}

void spin(Function &, uint64_t) {
  for (volatile bool Go = true; Go;)
    ;
}

void addBadAssembly(Function &F, uint64_t Number) {
  IRBuilder<> B = atEntry(F);
  B.CreateCall(
      InlineAsm::get(FunctionType::get(B.getVoidTy(), false),
                     "no such instruction " + std::to_string(Number) + ";", "",
                     /*hasSideEffects=*/true));
}

void storeNumber(IRBuilder<> &B, Value *To, uint64_t Number) {
  B.CreateStore(B.getInt64(Number), To, /*isVolatile=*/true);
}

void doNoHarm(Function &F, uint64_t Number) {
  IRBuilder<> B = atEntry(F);
  storeNumber(B, B.CreateAlloca(B.getInt64Ty()), Number);
}

void addEndlessLoop(Function &F, uint64_t Number) {
  BasicBlock &Old = F.getEntryBlock();
  BasicBlock *Entry = BasicBlock::Create(F.getContext(), "entry", &F, &Old);
  BasicBlock *Loop = BasicBlock::Create(F.getContext(), "loop", &F, &Old);
  IRBuilder<> B(Entry);
  Value *Place = B.CreateAlloca(B.getInt64Ty());
  storeNumber(B, Place, Number);
  B.CreateBr(Loop);
  B.SetInsertPoint(Loop);
  // Or else ptxas sees that the loop does nothing.
  if (isGpu(F))
    B.CreateIntrinsic(Intrinsic::nvvm_bar_warp_sync, {B.getInt32(-1)});
  Value *Again = B.CreateLoad(B.getInt64Ty(), Place, /*isVolatile=*/true);
  B.CreateCondBr(B.CreateICmpEQ(Again, B.getInt64(Number)), Loop, &Old);
}

void addWildStore(Function &F, uint64_t Number) {
  IRBuilder<> B = atEntry(F);
  storeNumber(B,
              B.CreateIntToPtr(B.getInt64(8 + Number % 500 * 8), B.getPtrTy()),
              Number);
}

void addDeepStack(Function &F, uint64_t Number) {
  const uint64_t Bytes = isGpu(F) ? 500 << 10 : 900 << 20;
  IRBuilder<> B = atEntry(F);
  Value *Place =
      B.CreateAlloca(ArrayType::get(B.getInt64Ty(), Bytes / 8 + Number));
  storeNumber(B, Place, Number);
}

const std::pair<StringRef, Fault> Faults[] = {
    {"abort", abortHere},
    {"hoard", hoard},
    {"spin", spin},
    {"bad-asm", addBadAssembly},
    {"endless", addEndlessLoop},
    {"wild", addWildStore},
    {"deep", addDeepStack},
    {"no-harm", doNoHarm},
};

struct FaultPass : PassInfoMixin<FaultPass> {
  Fault Make;
  uint64_t Number;

  FaultPass(Fault Make, uint64_t Number)
      : Make(std::move(Make)), Number(Number) {}
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    for (Function &F : M)
      if (!F.isDeclaration())
        Make(F, Number);
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};

bool addFault(StringRef Text, ModulePassManager &Manager) {
  const auto [Name, Rest] = Text.split('<');
  StringRef Digits = Rest;
  uint64_t Number = 0;
  if (!Digits.consume_back(">") || Digits.getAsInteger(10, Number))
    return false;
  for (const auto &[Known, Make] : Faults)
    if (Known == Name) {
      Manager.addPass(FaultPass(Make, Number));
      return true;
    }
  return false;
}

} // namespace

int main(int Count, char **Arguments) {
  r3::ir::addPassParser(addFault);
  return r3::replay::compileMain(Count, Arguments);
}
