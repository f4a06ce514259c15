// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Along an axis that is split by K, K neighbouring blocks are what was one;
// along one that is merged by K, a block is what was K neighbouring ones. Both
// cover the same indices.
#include "plugin/ir/RemapBlocks.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace r3::ir {

namespace {

constexpr StringRef Register = "llvm.nvvm.read.ptx.sreg.";

/// What only means something beside the threads that were there before.
std::string obstacle(const CallBase &Call) {
  if (auto *Assembly = dyn_cast<InlineAsm>(Call.getCalledOperand())) {
    const StringRef Text = Assembly->getAsmString();
    if (Call.isConvergent() || Text.contains('%') || Text.contains("shared"))
      return "has inline assembly that may";
    return {};
  }
  const Function *Callee = Call.getCalledFunction();
  if (!Callee)
    return "calls what is not known and may";
  StringRef Name = Callee->getName();
  if (Name.consume_front(Register)) {
    const StringRef What = Name.split('.').first;
    if (What == "tid" || What == "ntid" || What == "ctaid" || What == "nctaid")
      return {};
    // The multiprocessor and clocks are the same for every shape.
    return What.contains("lane") || What.contains("warp") ||
                   What.contains("cluster") || What.contains("smem")
               ? "reads " + Callee->getName().str() + ", which would"
               : std::string();
  }
  if (Callee->isDeclaration() && Call.isConvergent())
    return "calls " + Callee->getName().str() + ", which would";
  return {};
}

Error check(const Module &M) {
  for (const GlobalVariable &G : M.globals())
    if (G.getAddressSpace() == 3 && !G.use_empty())
      return fail(ErrorCode::CannotRunHere,
                  "the kernel has shared memory (%s): its blocks cannot have "
                  "another shape",
                  G.getName().str().c_str());
  for (const Function &F : M)
    for (const Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallBase>(&I))
        if (std::string Why = obstacle(*Call); !Why.empty())
          return fail(ErrorCode::CannotRunHere,
                      "the kernel %s depend on the shape of its blocks",
                      Why.c_str());
  return Error::success();
}

/// Makes what the kernel would read out of what it reads.
class Indices {
public:
  Indices(CallInst &At, char Axis, const BlockShape::Axis &Shape)
      : Builder(&At), M(*At.getModule()), Axis(Axis),
        Split(Builder.getInt32(Shape.Split)),
        Merge(Builder.getInt32(Shape.Merge)), IsSplit(Shape.Split > 1) {}

  /// One instruction a line, so that every compiler makes the same code.
  Value *of(StringRef What) {
    if (What == "tid")
      return IsSplit ? splitThread() : mergedThread();
    if (What == "ctaid")
      return IsSplit ? div(read("ctaid"), Split) : mergedBlock();
    if (What == "ntid")
      return IsSplit ? mul(read("ntid"), Split) : oneBlock();
    return IsSplit ? div(read("nctaid"), Split) : mul(read("nctaid"), Merge);
  }

private:
  Value *read(StringRef What) {
    const std::string Name = (Register + What + "." + Twine(Axis)).str();
    return Builder.CreateCall(M.getOrInsertFunction(
        Name, FunctionType::get(Builder.getInt32Ty(), false)));
  }
  Value *splitThread() {
    Value *Part = rem(read("ctaid"), Split);
    Value *Before = mul(Part, read("ntid"));
    return add(Before, read("tid"));
  }
  Value *mergedThread() {
    Value *Thread = read("tid");
    return rem(Thread, oneBlock());
  }
  Value *mergedBlock() {
    Value *Before = mul(read("ctaid"), Merge);
    Value *Thread = read("tid");
    return add(Before, div(Thread, oneBlock()));
  }
  /// The size of one of the blocks that were merged.
  Value *oneBlock() { return div(read("ntid"), Merge); }
  Value *add(Value *A, Value *B) { return Builder.CreateAdd(A, B); }
  Value *mul(Value *A, Value *B) { return Builder.CreateMul(A, B); }
  Value *div(Value *A, Value *B) { return Builder.CreateUDiv(A, B); }
  Value *rem(Value *A, Value *B) { return Builder.CreateURem(A, B); }

  IRBuilder<> Builder;
  Module &M;
  char Axis;
  ConstantInt *Split, *Merge;
  bool IsSplit;
};

} // namespace

Error remapBlocks(Module &M, const BlockShape &Shape) {
  if (Error Problem = check(M))
    return Problem;
  SmallVector<CallInst *, 32> Reads;
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallInst>(&I))
        if (const Function *Callee = Call->getCalledFunction();
            Callee && Callee->getName().starts_with(Register))
          Reads.push_back(Call);
  for (CallInst *Call : Reads) {
    auto [What, Axis] =
        Call->getCalledFunction()->getName().substr(Register.size()).split('.');
    if (!What.ends_with("tid") && !What.ends_with("ctaid"))
      continue;
    const BlockShape::Axis &Along = Shape.Axes[size_t(Axis[0] - 'x')];
    if (Along.Split == 1 && Along.Merge == 1)
      continue;
    Call->replaceAllUsesWith(Indices(*Call, Axis[0], Along).of(What));
    Call->eraseFromParent();
  }
  // Promises about the blocks that the program launches.
  for (Function &F : M)
    for (const char *Bound : {"nvvm.maxntid", "nvvm.reqntid", "nvvm.minctasm"})
      F.removeFnAttr(Bound);
  return Error::success();
}

} // namespace r3::ir
