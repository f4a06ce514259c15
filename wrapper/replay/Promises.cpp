// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Alignment: everything is inlined and put into registers; an access whose
// address is not shown to be aligned (Divisors.h) needs something of the
// parameters. What the recorded kernel needs is granted to the changed one;
// what that needs beyond it is looked for by supposing it of all parameters,
// and then of ever fewer.
#include "wrapper/replay/Promises.h"

#include "wrapper/replay/Divisors.h"

#include "plugin/ir/Closure.h"
#include "plugin/ir/Pipeline.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"

#include <algorithm>
#include <set>

using namespace llvm;

namespace r3::replay {

namespace {

struct Access {
  const Value *Address;
  const Instruction *Place;
  unsigned Exponent; // of the alignment that it has
};

/// Whether memory that is no argument's: variables and shared memory.
bool isOwn(const Value &Address) {
  return isa<AllocaInst, GlobalVariable>(getUnderlyingObject(&Address, 0));
}

void addAccess(const Value *Address, MaybeAlign Alignment, const Instruction &I,
               std::vector<Access> &Into) {
  if (Address && Alignment.valueOrOne() > 1 && !isOwn(*Address))
    Into.push_back({Address, &I, Log2(*Alignment)});
}

void addAccesses(const Instruction &I, std::vector<Access> &Into) {
  if (auto *Load = dyn_cast<LoadInst>(&I))
    addAccess(Load->getPointerOperand(), Load->getAlign(), I, Into);
  else if (auto *Store = dyn_cast<StoreInst>(&I))
    addAccess(Store->getPointerOperand(), Store->getAlign(), I, Into);
  else if (auto *Update = dyn_cast<AtomicRMWInst>(&I))
    addAccess(Update->getPointerOperand(), Update->getAlign(), I, Into);
  else if (auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I))
    addAccess(Exchange->getPointerOperand(), Exchange->getAlign(), I, Into);
  else if (auto *Fill = dyn_cast<MemIntrinsic>(&I)) {
    addAccess(Fill->getRawDest(), Fill->getDestAlign(), I, Into);
    if (auto *Copy = dyn_cast<MemTransferInst>(&I))
      addAccess(Copy->getRawSource(), Copy->getSourceAlign(), I, Into);
  } else if (auto *Assume = dyn_cast<AssumeInst>(&I)) {
    for (const OperandBundleUse Bundle :
         map_range(seq(Assume->getNumOperandBundles()),
                   [&](unsigned N) { return Assume->getOperandBundleAt(N); }))
      if (Bundle.getTagName() == "align" && Bundle.Inputs.size() >= 2)
        if (auto *N = dyn_cast<ConstantInt>(Bundle.Inputs[1]);
            N && N->getValue().isPowerOf2())
          addAccess(Bundle.Inputs[0], Align(N->getZExtValue()), I, Into);
  }
}

/// A kernel with all that it calls inside, and variables in registers.
class Flat {
public:
  static Expected<Flat> of(std::span<const uint8_t> Bitcode,
                           const std::string &Kernel, LLVMContext &Context) {
    MemoryBufferRef Buffer(
        StringRef(reinterpret_cast<const char *>(Bitcode.data()),
                  Bitcode.size()),
        "device code");
    auto Whole = parseBitcodeFile(Buffer, Context);
    if (!Whole)
      return fail(ErrorCode::Damaged, "device code: %s",
                  toString(Whole.takeError()).c_str());
    auto Closure = ir::extractClosure(**Whole, Kernel);
    if (!Closure)
      return Closure.error();
    Flat Result;
    Result.Code = std::move(*Closure);
    Result.F = Result.Code->getFunction(Kernel);
    Result.noteNames();
    Result.flatten();
    return Result;
  }

  Function &kernel() const { return *F; }
  const std::vector<Access> &accesses() const { return All; }
  /// Functions and numbers of their no-alias parameters.
  std::set<std::string> NoAlias;
  bool Assumes = false, CannotBeReached = false;

  std::vector<Access> unshown(const Divisors::Assumptions &Known) const {
    const Divisors Shown(*F, Known);
    std::vector<Access> Left;
    for (const Access &A : All)
      if (Shown.at(*A.Address, *A.Place) < A.Exponent)
        Left.push_back(A);
    return Left;
  }

private:
  std::unique_ptr<Module> Code;
  Function *F = nullptr;
  std::vector<Access> All;

  void noteNames() {
    for (const Function &Each : *Code) {
      if (Each.isDeclaration())
        continue;
      for (const Argument &A : Each.args())
        if (A.hasNoAliasAttr() && !A.hasStructRetAttr())
          NoAlias.insert(Each.getName().str() + " " +
                         std::to_string(A.getArgNo()));
      for (const Instruction &I : instructions(Each))
        if (auto *Assume = dyn_cast<AssumeInst>(&I))
          Assumes |= !isa<Constant>(Assume->getArgOperand(0));
    }
  }

  /// Behind a call that does not come back, and where clang's own switch over
  /// the ways out of a scope ends, it is no promise of the source.
  static bool isPromise(const UnreachableInst &I) {
    if (auto *Call = dyn_cast_or_null<CallBase>(I.getPrevNode()))
      return !Call->doesNotReturn();
    return !all_of(predecessors(I.getParent()), [&](const BasicBlock *From) {
      auto *Switch = dyn_cast<SwitchInst>(From->getTerminator());
      auto *Way = Switch ? dyn_cast<PHINode>(Switch->getCondition()) : nullptr;
      return Switch && Switch->getDefaultDest() == I.getParent() &&
             (isa<ConstantInt>(Switch->getCondition()) ||
              (Way && all_of(Way->incoming_values(), [](const Value *V) {
                 return isa<ConstantInt>(V);
               })));
    });
  }

  void flatten() {
    for (Function &Each : *Code)
      if (&Each != F && !Each.isDeclaration()) {
        Each.removeFnAttr(Attribute::NoInline);
        Each.removeFnAttr(Attribute::OptimizeNone);
        Each.addFnAttr(Attribute::AlwaysInline);
      }
    F->removeFnAttr(Attribute::OptimizeNone);
    ModulePassManager Passes;
    Passes.addPass(AlwaysInlinerPass(/*InsertLifetimeIntrinsics=*/false));
    FunctionPassManager OfFunctions;
    OfFunctions.addPass(SROAPass(SROAOptions::PreserveCFG));
    OfFunctions.addPass(EarlyCSEPass());
    Passes.addPass(createModuleToFunctionPassAdaptor(std::move(OfFunctions)));
    ir::runPasses(*Code, std::move(Passes));
    for (const Instruction &I : instructions(*F)) {
      addAccesses(I, All);
      if (auto *End = dyn_cast<UnreachableInst>(&I))
        CannotBeReached |= isPromise(*End);
    }
  }
};

class Comparison {
public:
  Comparison(const Flat &Before, const Flat &After,
             std::span<const std::string> Parameters,
             std::span<const Guard> Guards)
      : Before(Before), After(After), Parameters(Parameters), Guards(Guards) {}

  std::string find() {
    if (std::string Why = noAlias(); !Why.empty())
      return Why;
    if (After.Assumes && !Before.Assumes)
      return "the change brings in an assumption (__builtin_assume), which no "
             "guard says";
    if (After.CannotBeReached && !Before.CannotBeReached)
      return "the change brings in code that is assumed never to be reached "
             "(__builtin_unreachable, a missing return), which no guard says";
    if (std::string Why = unused(); !Why.empty())
      return Why;
    return alignment();
  }

private:
  const Flat &Before, &After;
  std::span<const std::string> Parameters;
  std::span<const Guard> Guards;

  std::string nameOf(const Argument &A) const {
    return A.getArgNo() < Parameters.size() && !Parameters[A.getArgNo()].empty()
               ? Parameters[A.getArgNo()]
               : "arg" + std::to_string(A.getArgNo());
  }

  static std::string options(const std::set<std::string> &Texts) {
    std::string List;
    for (const std::string &Text : Texts)
      List += " --guard '" + Text + "'";
    return List;
  }

  bool areDistinct(const std::string &A, const std::string &B) const {
    return std::any_of(Guards.begin(), Guards.end(), [&](const Guard &G) {
      return G.What == Guard::Kind::Distinct &&
             ((G.Name == A && G.Second == B) || (G.Name == B && G.Second == A));
    });
  }

  std::string noAlias() const {
    std::set<std::string> Missing;
    std::string Which;
    for (const std::string &Place : After.NoAlias) {
      if (Before.NoAlias.count(Place))
        continue;
      const auto [Where, Number] = StringRef(Place).rsplit(' ');
      if (Where != After.kernel().getName())
        return "the change promises in " + Where.str() +
               " that pointers do not overlap (__restrict); a guard can say "
               "so of the kernel's own parameters only";
      const Argument &A = *After.kernel().getArg(std::stoul(Number.str()));
      for (const Argument &Other : After.kernel().args())
        if (&Other != &A && Other.getType()->isPointerTy() &&
            !Other.hasByValAttr() && !areDistinct(nameOf(A), nameOf(Other))) {
          Which = nameOf(A);
          Missing.insert("distinct(" + std::min(nameOf(A), nameOf(Other)) +
                         "," + std::max(nameOf(A), nameOf(Other)) + ")");
        }
    }
    return Missing.empty()
               ? ""
               : "the change promises that nothing else leads to the memory of "
                 "'" +
                     Which +
                     "' (__restrict), which recordings cannot show; "
                     "with" +
                     options(Missing) +
                     " it is for launches in which that is so";
  }

  std::string unused() const {
    for (const Argument &A : After.kernel().args()) {
      const Argument *Old = Before.kernel().arg_size() > A.getArgNo()
                                ? Before.kernel().getArg(A.getArgNo())
                                : nullptr;
      if (!Old || Old->use_empty() || !A.use_empty() ||
          A.getType()->isPointerTy())
        continue;
      const std::string Name = nameOf(A);
      if (std::any_of(Guards.begin(), Guards.end(), [&](const Guard &G) {
            return G.What == Guard::Kind::Equals && G.Name == Name;
          }))
        continue;
      return "the change looks no more at '" + Name +
             "', which may be another one in the next launch" +
             (A.getType()->isIntegerTy()
                  ? "; with --guard '" + Name +
                        "==C' it is for launches in which it is C"
                  : "");
    }
    return {};
  }

  // --- Alignment.

  /// What the guards say.
  Divisors::Assumptions guarded(const Function &F) const {
    Divisors::Assumptions Known;
    for (const Argument &A : F.args())
      for (const Guard &G : Guards)
        if (G.Name == nameOf(A) && G.What != Guard::Kind::Distinct) {
          unsigned &Exponent = Known[&A];
          Exponent = std::max<unsigned>(
              Exponent,
              G.Number ? countr_zero(uint64_t(G.Number)) : Divisors::Zero);
        }
    return Known;
  }

  /// The least of what may be supposed of the arguments, beside Given, so that
  /// no more accesses are left than with Most of all of them.
  static Divisors::Assumptions
  needed(const Flat &Code, const Divisors::Assumptions &Given, unsigned Most) {
    Divisors::Assumptions Known = Given;
    std::vector<const Argument *> Arguments;
    for (const Argument &A : Code.kernel().args())
      if (A.getType()->isPointerTy() || A.getType()->isIntegerTy()) {
        Arguments.push_back(&A);
        Known[&A] = std::max(Given.lookup(&A), Most);
      }
    const size_t Left = Code.unshown(Known).size();
    for (const Argument *A : Arguments)
      for (unsigned Less = Given.lookup(A); Less < Known[A]; ++Less) {
        const unsigned Before = std::exchange(Known[A], Less);
        if (Code.unshown(Known).size() == Left)
          break;
        Known[A] = Before;
      }
    return Known;
  }

  static unsigned most(const std::vector<Access> &List) {
    unsigned Most = 0;
    for (const Access &A : List)
      Most = std::max(Most, A.Exponent);
    return Most;
  }

  /// The same of After's arguments.
  Divisors::Assumptions moved(const Divisors::Assumptions &Known) const {
    Divisors::Assumptions Result;
    for (const auto &[A, Exponent] : Known)
      if (A->getArgNo() < After.kernel().arg_size())
        Result[After.kernel().getArg(A->getArgNo())] = Exponent;
    return Result;
  }

  static std::string placeOf(const Access &A) {
    std::string Text = format("%u bytes", 1u << A.Exponent);
    if (const DILocation *At = A.Place->getDebugLoc().get())
      Text += " at " + At->getFilename().rsplit('/').second.str() + ":" +
              std::to_string(At->getLine());
    return Text;
  }

  std::string alignment() const {
    // What the recorded kernel supposes, and what no argument shows there.
    Divisors::Assumptions Known =
        needed(Before, Divisors::Assumptions(), most(Before.accesses()));
    const unsigned Granted = most(Before.unshown(Known));
    Known = moved(Known);
    for (const auto &[A, Exponent] : guarded(After.kernel()))
      Known[A] = std::max(Known.lookup(A), Exponent);
    auto Open = [&](const Divisors::Assumptions &Supposed) {
      std::vector<Access> Left = After.unshown(Supposed);
      erase_if(Left, [&](const Access &A) { return A.Exponent <= Granted; });
      return Left;
    };
    const std::vector<Access> Left = Open(Known);
    if (Left.empty())
      return {};
    const auto Needed = needed(After, Known, most(Left));
    const std::string What = "the change takes an address for aligned, " +
                             placeOf(Left.front()) +
                             ", which recordings cannot show; ";
    if (!Open(Needed).empty())
      return What + "no guard of the parameters says it: test it in the kernel";
    std::set<std::string> Missing;
    for (const auto &[A, Exponent] : Needed)
      if (Exponent > Known.lookup(A))
        Missing.insert(
            A->getType()->isPointerTy()
                ? format("align(%s,%llu)", nameOf(*A).c_str(), 1ull << Exponent)
                : format("divides(%llu,%s)", 1ull << Exponent,
                         nameOf(*A).c_str()));
    return What + "with" + options(Missing) +
           " it is for launches in which it is so";
  }
};

} // namespace

Expected<std::string> uncoveredPromise(std::span<const uint8_t> Recorded,
                                       std::span<const uint8_t> Changed,
                                       const std::string &Kernel,
                                       std::span<const std::string> Parameters,
                                       std::span<const Guard> Guards) {
  LLVMContext Context;
  auto Before = Flat::of(Recorded, Kernel, Context);
  if (!Before)
    return Before.error();
  auto After = Flat::of(Changed, Kernel, Context);
  if (!After)
    return After.error();
  return Comparison(*Before, *After, Parameters, Guards).find();
}

} // namespace r3::replay
