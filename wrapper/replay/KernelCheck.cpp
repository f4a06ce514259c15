// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/replay/KernelCheck.h"

#include "wrapper/replay/Operations.h"

#include "plugin/ir/Closure.h"
#include "plugin/ir/Fingerprint.h"
#include "plugin/ir/Pipeline.h"

#include "runtime/support/Digest.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"

#include <set>

using namespace llvm;

namespace r3::replay {

namespace {

Expected<std::unique_ptr<Module>> parse(std::span<const uint8_t> Bitcode,
                                        LLVMContext &Context,
                                        const char *What) {
  MemoryBufferRef Buffer(
      StringRef(reinterpret_cast<const char *>(Bitcode.data()), Bitcode.size()),
      What);
  auto M = parseBitcodeFile(Buffer, Context);
  if (!M)
    return fail(ErrorCode::Damaged, "%s: %s", What,
                toString(M.takeError()).c_str());
  return std::move(*M);
}

/// The module as the plugin would have seen it, with the names that it gives.
Expected<std::unique_ptr<Module>> parseFresh(const FreshUnit &Fresh,
                                             LLVMContext &Context) {
  auto M = parse(Fresh.Bitcode, Context, "patched device code");
  if (!M)
    return M;
  auto Machine = ir::createTargetMachine(**M, Fresh.Level);
  if (!Machine)
    return Machine.error();
  if (Error E = ir::startPipeline(**M, **Machine, Fresh.Level))
    return E;
  ir::exposeGlobals(**M, contentDigest(Fresh.Source).hex().substr(0, 8));
  return M;
}

/// Offsets and sizes of all scalars of a type, in order.
void flatten(Type *T, uint64_t Offset, const DataLayout &Layout,
             std::vector<std::pair<uint64_t, uint64_t>> &Into) {
  if (auto *S = dyn_cast<StructType>(T)) {
    const StructLayout *L = Layout.getStructLayout(S);
    for (unsigned I = 0; I < S->getNumElements(); ++I)
      flatten(S->getElementType(I), Offset + L->getElementOffset(I), Layout,
              Into);
  } else if (auto *A = dyn_cast<ArrayType>(T);
             A && A->getNumElements() <= 4096) {
    const uint64_t Step = Layout.getTypeAllocSize(A->getElementType());
    for (uint64_t I = 0; I < A->getNumElements(); ++I)
      flatten(A->getElementType(), Offset + I * Step, Layout, Into);
  } else {
    Into.emplace_back(Offset, Layout.getTypeStoreSize(T));
  }
}

using Layout = std::vector<std::vector<std::pair<uint64_t, uint64_t>>>;

Layout parametersOf(const Function &F) {
  Layout Result;
  for (const Argument &A : F.args()) {
    Type *T = A.hasByValAttr() ? A.getParamByValType() : A.getType();
    Result.emplace_back();
    flatten(T, 0, F.getDataLayout(), Result.back());
  }
  return Result;
}

/// Why After may not use a mutable device variable that Before does not: no
/// recording of this kernel holds it, so that it would keep what it gets from
/// one launch to the next.
std::string newVariable(const Function &Before, const Function &After) {
  std::set<StringRef> Recorded;
  for (const GlobalValue *G : ir::reachableFrom(Before))
    Recorded.insert(G->getName());
  for (const GlobalValue *G : ir::reachableFrom(After))
    if (auto *V = dyn_cast<GlobalVariable>(G);
        V && ir::isMutable(*V) && !Recorded.count(V->getName()))
      return (Before.getParent()->getNamedValue(V->getName())
                  ? "the change uses the device variable "
                  : "the change adds the device variable ") +
             V->getName().str() + ", which no recording of this kernel holds";
  return {};
}

/// What a fingerprint leaves out and an edit may be about: hints for loops and
/// for inlining, promises about pointers and loads.
class Hints {
public:
  static std::string of(const Function &Kernel) {
    Hints All;
    for (const GlobalValue *G : ir::reachableFrom(Kernel))
      if (auto *F = dyn_cast<Function>(G); F && !F->isDeclaration())
        All.add(*F);
    return All.Text;
  }

private:
  void add(const Function &F) {
    Out << F.hasFnAttribute(Attribute::AlwaysInline)
        << F.hasFnAttribute(Attribute::NoInline);
    for (const Argument &A : F.args())
      Out << A.hasNoAliasAttr();
    for (const BasicBlock &Block : F)
      for (const Instruction &I : Block) {
        if (const Value *Address = getLoadStorePointerOperand(&I); Address)
          Out << Log2(getLoadStoreAlignment(const_cast<Instruction *>(&I)))
              << I.hasMetadata(LLVMContext::MD_invariant_load)
              << I.hasMetadata(LLVMContext::MD_nontemporal);
        if (const MDNode *Loop = I.getMetadata(LLVMContext::MD_loop))
          addLoop(*Loop);
      }
  }

  void addLoop(const MDNode &Loop) {
    for (const MDOperand &Hint : drop_begin(Loop.operands()))
      if (auto *Node = dyn_cast<MDNode>(Hint); Node && !isa<DILocation>(Node))
        for (const MDOperand &Part : Node->operands()) {
          if (auto *Name = dyn_cast<MDString>(Part))
            Out << Name->getString();
          else if (auto *Number = mdconst::dyn_extract<ConstantInt>(Part))
            Out << ' ' << Number->getZExtValue();
          Out << ';';
        }
  }

  std::string Text;
  raw_string_ostream Out{Text};
};

CheckedKernel refused(std::string Why) {
  return {Outcome::Refused, std::move(Why), {}, {}};
}

} // namespace

CheckedKernel checkKernel(std::span<const uint8_t> Recorded,
                          const FreshUnit &Fresh, const std::string &Kernel) {
  LLVMContext Context;
  auto Old = parse(Recorded, Context, "recorded device code");
  if (!Old)
    return {Outcome::BuildFailed, Old.error().message(), {}, {}};
  auto New = parseFresh(Fresh, Context);
  if (!New)
    return {Outcome::BuildFailed, New.error().message(), {}, {}};
  const Function *Before = (*Old)->getFunction(Kernel);
  const Function *After = (*New)->getFunction(Kernel);
  if (!Before)
    return {Outcome::BuildFailed,
            "the recorded unit has no kernel " + Kernel,
            {},
            {}};
  if (!After || After->isDeclaration() || !ir::isKernel(*After))
    return refused("the changed unit has no kernel " + Kernel +
                   ": its name and parameter types must stay");
  if (parametersOf(*Before) != parametersOf(*After))
    return refused("the kernel's parameters have another layout than the "
                   "recorded ones");
  if (std::string Why = newVariable(*Before, *After); !Why.empty())
    return refused(Why);
  NewOperations Brought = newOperations(*Before, *After);
  if (!Brought.Forbidden.empty())
    return refused("the change brings in " + Brought.Forbidden +
                   ", which the kernel does not have");
  if (ir::fingerprint(**Old, *Before) == ir::fingerprint(**New, *After) &&
      Hints::of(*Before) == Hints::of(*After))
    return {
        Outcome::Duplicate, "the change does not reach this kernel", {}, {}};
  SmallVector<char, 0> Bytes;
  raw_svector_ostream Out(Bytes);
  WriteBitcodeToFile(**New, Out);
  return {Outcome::Ok,
          "",
          {Bytes.begin(), Bytes.end()},
          std::move(Brought.LessPrecise)};
}

std::string changedSince(std::span<const uint8_t> Recorded,
                         const FreshUnit &Fresh, const std::string &Kernel) {
  const CheckedKernel Same = checkKernel(Recorded, Fresh, Kernel);
  if (Same.Ending == Outcome::Duplicate)
    return {};
  return "the source on disk is not the recorded one (build and record it "
         "again)" +
         (Same.Message.empty() ? "" : ": " + Same.Message);
}

} // namespace r3::replay
