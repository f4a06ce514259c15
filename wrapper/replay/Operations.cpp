// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kinds of operations as sentences: two kernels are compared as sets of them.
// How often one occurs is not looked at: unrolling by hand repeats it.
#include "wrapper/replay/Operations.h"

#include "plugin/ir/Closure.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

#include <algorithm>
#include <set>

using namespace llvm;

namespace r3::replay {

namespace {

struct Kinds {
  std::set<std::string> Forbidden, LessPrecise;
};

/// Instructions that take the place of more exact ones, and those that tell
/// one launch from another, by parts of their names.
struct NamedKind {
  const char *Part, *Kind;
  bool Rounds = true;
};
constexpr NamedKind NamedKinds[] = {
    {"approx", "approximate instructions"},
    {".ftz", "instructions that flush small numbers"},
    {"tf32", "tf32"},
    {"wmma", "tensor cores"},
    {".mma.", "tensor cores"},
    {"e4m3", "8-bit floats"},
    {"e5m2", "8-bit floats"},
    {"sreg.clock", "a clock", false},
    {"globaltimer", "a clock", false},
    {"readcyclecounter", "a clock", false},
    {"readsteadycounter", "a clock", false},
    {"sreg.pm", "a counter of the device", false},
    {"sreg.gridid", "a counter of launches", false},
    {"nanosleep", "sleep", false},
    {"__nv_fast_", "approximate instructions"},
};

void addNamed(StringRef Name, bool Exact, Kinds &Into) {
  for (const NamedKind &N : NamedKinds)
    if ((Exact || !N.Rounds) && Name.contains(N.Part))
      (N.Rounds ? Into.LessPrecise : Into.Forbidden).insert(N.Kind);
}

std::string oneLine(StringRef Text) {
  std::string Line = Text.str();
  std::replace_if(
      Line.begin(), Line.end(), [](char C) { return !isPrint(C); }, ' ');
  return Line;
}

/// Exact: of code whose rounding counts.
void addCall(const CallBase &Call, bool Exact, Kinds &Into) {
  const Value *Callee = Call.getCalledOperand()->stripPointerCastsAndAliases();
  if (auto *Assembly = dyn_cast<InlineAsm>(Callee)) {
    Into.Forbidden.insert("inline assembly (" +
                          oneLine(Assembly->getAsmString()) + ")");
    return;
  }
  auto *F = dyn_cast<Function>(Callee);
  if (!F) {
    Into.Forbidden.insert("a call through a pointer");
    return;
  }
  addNamed(F->getName(), Exact, Into);
  if (F->isDeclaration() && !F->isIntrinsic())
    Into.Forbidden.insert("a call of " + F->getName().str() +
                          ", of which the unit has no code");
}

void addType(const Type *T, Kinds &Into) {
  const Type *Scalar = T->getScalarType();
  if (Scalar->isHalfTy())
    Into.LessPrecise.insert("half precision");
  else if (Scalar->isBFloatTy())
    Into.LessPrecise.insert("bfloat precision");
  else if (Scalar->isFloatTy())
    Into.LessPrecise.insert("float precision");
}

/// Not contraction, which is the default of device code and makes a result
/// more exact, if another one.
void addFastMath(const FPMathOperator &Op, Kinds &Into) {
  const FastMathFlags Flags = Op.getFastMathFlags();
  const std::pair<bool, const char *> Rows[] = {
      {Flags.allowReassoc(), "reassociation"},
      {Flags.noNaNs(), "arithmetic without NaN"},
      {Flags.noInfs(), "arithmetic without infinity"},
      {Flags.noSignedZeros(), "arithmetic without signed zeros"},
      {Flags.allowReciprocal(), "division by a reciprocal"},
      {Flags.approxFunc(), "approximate functions"}};
  for (const auto &[Set, Kind] : Rows)
    if (Set)
      Into.LessPrecise.insert(Kind);
}

/// A function of CUDA's mathematics library as the front end links it. How
/// exact its results are is its author's affair.
bool isLibrary(const Function &F) {
  return F.getName().starts_with("__nv_") && F.hasInternalLinkage() &&
         !F.getSubprogram();
}

void addPrecision(const Instruction &I, Kinds &Into) {
  // Loads and stores move bits; arithmetic and conversions round them.
  if (isa<UnaryOperator, BinaryOperator, CastInst, FCmpInst, CallBase>(I)) {
    addType(I.getType(), Into);
    for (const Value *Operand : I.operands())
      addType(Operand->getType(), Into);
  }
  if (auto *Op = dyn_cast<FPMathOperator>(&I))
    addFastMath(*Op, Into);
}

Kinds kindsOf(const Function &Kernel) {
  Kinds Found;
  for (const GlobalValue *G : ir::reachableFrom(Kernel)) {
    auto *F = dyn_cast<Function>(G);
    if (!F || F->isDeclaration())
      continue;
    const bool Exact = !isLibrary(*F);
    for (const Instruction &I : instructions(*F)) {
      if (Exact)
        addPrecision(I, Found);
      if (auto *Call = dyn_cast<CallBase>(&I))
        addCall(*Call, Exact, Found);
    }
  }
  return Found;
}

} // namespace

NewOperations newOperations(const Function &Before, const Function &After) {
  const Kinds Old = kindsOf(Before), New = kindsOf(After);
  auto FirstNew = [](const std::set<std::string> &Known,
                     const std::set<std::string> &Now) {
    for (const std::string &Kind : Now)
      if (!Known.count(Kind))
        return Kind;
    return std::string();
  };
  return {FirstNew(Old.Forbidden, New.Forbidden),
          FirstNew(Old.LessPrecise, New.LessPrecise)};
}

} // namespace r3::replay
