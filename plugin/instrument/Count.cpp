// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The counters are variables of each function, which become registers; where
// the function returns, they are added to the launch's.
#include "plugin/instrument/Count.h"

#include "plugin/instrument/Accesses.h"
#include "plugin/instrument/Code.h"
#include "plugin/instrument/MathNames.h"
#include "plugin/ir/Closure.h"
#include "runtime/support/CountAbi.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

#include <array>

using namespace llvm;

namespace r3::instrument {

namespace {

enum Unit : unsigned { Float, Double, Half, Units }; // as in Operations
using Counts = std::array<uint64_t, Units>;

constexpr unsigned GlobalSpace = 1;

uint64_t worthOf(StringRef Operation) {
  return StringSwitch<uint64_t>(Operation)
      .Cases({"add", "sub", "mul", "div"}, 1)
      .Cases({"fma", "mad"}, 2)
      .Default(0);
}

/// Operations of a value of type T, each of which is worth so much.
void add(Counts &To, Type *T, uint64_t Worth) {
  Type *S = T->getScalarType();
  if (auto *Vector = dyn_cast<FixedVectorType>(T))
    Worth *= Vector->getNumElements();
  if (S->isFloatTy())
    To[Float] += Worth;
  else if (S->isDoubleTy())
    To[Double] += Worth;
  else if (S->isHalfTy() || S->isBFloatTy())
    To[Half] += Worth;
}

/// "fma.rn.f16x2 %0, %1, %2, %3", unless it is predicated.
void addStatement(Counts &To, StringRef Statement) {
  SmallVector<StringRef, 6> Parts;
  Statement.take_until([](char C) { return isSpace(C); }).split(Parts, '.');
  const uint64_t Worth = worthOf(Parts[0]);
  for (StringRef Part : Parts) {
    const uint64_t Many = Part.consume_back("x2") ? 2 : 1;
    const unsigned Of = StringSwitch<unsigned>(Part)
                            .Case("f32", Float)
                            .Case("f64", Double)
                            .Cases({"f16", "bf16"}, Half)
                            .Default(Units);
    if (Of == Units)
      continue;
    To[Of] += Many * Worth;
    return; // a type behind it is a source's
  }
}

/// Of inline PTX, the statements that run whenever it does.
void addAssembly(Counts &To, StringRef Text) {
  SmallVector<StringRef, 8> Statements;
  Text.split(Statements, ';');
  if (any_of(Statements, [](StringRef S) { return S.contains(':'); }))
    return; // a label: who knows which run
  for (StringRef Statement : Statements)
    addStatement(To, Statement.ltrim(" \t\n\r{"));
}

void addCall(Counts &To, const CallBase &Call) {
  if (auto *Asm = dyn_cast<InlineAsm>(Call.getCalledOperand()))
    return addAssembly(To, Asm->getAsmString());
  const Function *Callee = Call.getCalledFunction();
  if (!Callee)
    return;
  std::string Operation = roundedOperation(*Callee);
  // With explicit rounding to wherever.
  if (StringRef Name = Callee->getName(); Name.consume_front("llvm.nvvm."))
    Operation = Name.split('.').first.str();
  add(To, Call.getType(), worthOf(Operation));
}

Counts countsOf(const BasicBlock &Block) {
  Counts Found{};
  for (const Instruction &I : Block) {
    if (isa<BinaryOperator>(I))
      add(Found, I.getType(), 1); // of integers it is none
    else if (auto *Call = dyn_cast<CallBase>(&I))
      addCall(Found, *Call);
  }
  return Found;
}

bool usesTensorCores(const CallBase &Call) {
  if (auto *Asm = dyn_cast<InlineAsm>(Call.getCalledOperand()))
    return StringRef(Asm->getAsmString()).contains("mma");
  const Function *Callee = Call.getCalledFunction();
  return Callee && Callee->getName().starts_with("llvm.nvvm.") &&
         Callee->getName().contains("mma");
}

void addTensorUses(Function &F, std::vector<std::string> &Unseen) {
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallBase>(&I); Call && usesTensorCores(*Call))
      Unseen.push_back("an instruction of tensor cores (" + sourceOf(I) + ")");
}

/// From here on the function writes memory, whatever was found out before.
void forgetEffects(Function &F) {
  F.setMemoryEffects(MemoryEffects::unknown());
  F.removeFnAttr(Attribute::Speculatable);
  for (User *Each : F.users())
    if (auto *Call = dyn_cast<CallBase>(Each);
        Call && Call->getCalledOperand() == &F) {
      Call->setMemoryEffects(MemoryEffects::unknown());
      Call->removeFnAttr(Attribute::Speculatable);
    }
}

void countIn(Function &F, GlobalVariable &State) {
  std::array<AllocaInst *, Units> Variables{};
  IRBuilder<> Entry(&F.getEntryBlock(), F.getEntryBlock().begin());
  Type *Word = Entry.getInt64Ty();
  auto variable = [&](unsigned Of) {
    if (!Variables[Of]) {
      Variables[Of] = Entry.CreateAlloca(Word);
      Entry.CreateStore(Entry.getInt64(0), Variables[Of]);
    }
    return Variables[Of];
  };
  if (ir::isKernel(F)) // so that the launch's are there in any case
    variable(Float);
  for (BasicBlock &Block : F) {
    const Counts Found = countsOf(Block);
    IRBuilder<> End(Block.getTerminator());
    for (unsigned Of = 0; Of < Units; ++Of)
      if (Found[Of]) {
        Value *Before = End.CreateLoad(Word, variable(Of));
        End.CreateStore(End.CreateAdd(Before, End.getInt64(Found[Of])),
                        variable(Of));
      }
  }
  SmallVector<AllocaInst *, Units> Used;
  for (unsigned Of = 0; Of < Units; ++Of) {
    if (!Variables[Of])
      continue;
    Used.push_back(Variables[Of]);
    for (BasicBlock &Block : F)
      if (auto *Return = dyn_cast<ReturnInst>(Block.getTerminator())) {
        IRBuilder<> End(Return);
        End.CreateAtomicRMW(AtomicRMWInst::Add,
                            End.CreateConstInBoundsGEP1_64(Word, &State, Of),
                            End.CreateLoad(Word, Variables[Of]), Align(8),
                            AtomicOrdering::Monotonic);
      }
  }
  DominatorTree Tree(F);
  PromoteMemToReg(Used, Tree);
}

} // namespace

Expected<TraceInfo> addCounting(Module &M) {
  TraceInfo Info;
  Type *Words = ArrayType::get(Type::getInt64Ty(M.getContext()), Units);
  auto *State = new GlobalVariable(
      M, Words, /*isConstant=*/false, GlobalValue::ExternalLinkage,
      llvm::Constant::getNullValue(Words), count::CountState, nullptr,
      GlobalValue::NotThreadLocal, GlobalSpace,
      /*isExternallyInitialized=*/true);
  State->setAlignment(Align(8));
  const SmallVector<Function *, 32> Defined = definedFunctions(M);
  for (Function *F : Defined)
    addTensorUses(*F, Info.Unseen);
  // From here on the code is changed.
  for (Function *F : Defined) {
    forgetEffects(*F);
    if (roundedOperation(*F).empty()) // its calls count
      countIn(*F, *State);
  }
  return Info;
}

} // namespace r3::instrument
