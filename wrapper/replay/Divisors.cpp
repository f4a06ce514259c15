// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/replay/Divisors.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"

#include <algorithm>

using namespace llvm;
using namespace llvm::PatternMatch;

namespace r3::replay {

namespace {

constexpr unsigned MostDepth = 10;

unsigned exponentOf(const APInt &Value) {
  return Value.isZero() ? Divisors::Zero : Value.countr_zero();
}

} // namespace

/// The exponent of V by those of its operands.
template <typename Lookup>
unsigned Divisors::transfer(const Value &V, Lookup Of) const {
  if (auto *C = dyn_cast<ConstantInt>(&V))
    return exponentOf(C->getValue());
  if (isa<ConstantPointerNull, UndefValue>(V))
    return Zero;
  if (auto *A = dyn_cast<Argument>(&V))
    return std::max(Known.lookup(A), A->getType()->isPointerTy()
                                         ? Log2(A->getPointerAlignment(Layout))
                                         : 0);
  if (isa<GlobalVariable, AllocaInst>(V))
    return Log2(V.getPointerAlignment(Layout));
  auto *O = dyn_cast<Operator>(&V);
  if (!O)
    return 0;
  auto Operand = [&](unsigned I) { return Of(*O->getOperand(I)); };
  switch (O->getOpcode()) {
  case Instruction::Add:
  case Instruction::Sub:
  case Instruction::Or:
  case Instruction::Xor:
  case Instruction::URem:
  case Instruction::SRem:
    return std::min(Operand(0), Operand(1));
  case Instruction::And:
    return std::max(Operand(0), Operand(1));
  case Instruction::Mul:
    return std::min(Operand(0) + Operand(1), Zero);
  case Instruction::Shl:
    if (auto *By = dyn_cast<ConstantInt>(O->getOperand(1)))
      return std::min<uint64_t>(Operand(0) + By->getLimitedValue(Zero), Zero);
    return Operand(0);
  case Instruction::SExt:
  case Instruction::ZExt:
  case Instruction::Trunc:
  case Instruction::PtrToInt:
  case Instruction::IntToPtr:
  case Instruction::BitCast:
  case Instruction::AddrSpaceCast:
  case Instruction::Freeze:
    return Operand(0);
  case Instruction::Select:
    return std::min(Operand(1), Operand(2));
  case Instruction::PHI: {
    unsigned Least = Zero;
    for (const Value *Incoming : cast<PHINode>(O)->incoming_values())
      Least = std::min(Least, Of(*Incoming));
    return Least;
  }
  case Instruction::GetElementPtr: {
    auto *Address = cast<GEPOperator>(O);
    const unsigned Bits = Layout.getIndexTypeSizeInBits(V.getType());
    SmallMapVector<Value *, APInt, 4> Scaled;
    APInt Offset(Bits, 0);
    if (!V.getType()->isPointerTy() ||
        !Address->collectOffset(Layout, Bits, Scaled, Offset))
      return 0;
    unsigned Least =
        std::min(Of(*Address->getPointerOperand()), exponentOf(Offset));
    for (const auto &[Index, Scale] : Scaled)
      Least = std::min(Least, std::min(Of(*Index) + exponentOf(Scale), Zero));
    return Least;
  }
  default:
    return 0;
  }
}

/// From above: what a loop carries keeps what all its sources have.
Divisors::Divisors(Function &F, const Assumptions &Known)
    : Layout(F.getDataLayout()), Known(Known), Dominators(F) {
  auto Of = [&](const Value &V) {
    if (!isa<Instruction>(V))
      return transfer(V, [](const Value &) { return 0u; });
    auto It = Found.find(&V);
    return It == Found.end() ? Zero : It->second;
  };
  ReversePostOrderTraversal<Function *> Blocks(&F);
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (BasicBlock *Block : Blocks)
      for (Instruction &I : *Block) {
        const unsigned Now = transfer(I, Of);
        auto [It, Fresh] = Found.try_emplace(&I, Now);
        Changed |= Fresh || Now < It->second;
        It->second = std::min(It->second, Now);
      }
  }
}

/// V, and what it was made of by casts and alternatives of bits.
void Divisors::note(const Value &V, unsigned Exponent, Exponents &Into) {
  unsigned &Known = Into[&V];
  Known = std::max(Known, Exponent);
  if (auto *Cast = dyn_cast<CastInst>(&V); Cast)
    note(*Cast->getOperand(0), Exponent, Into);
  const Value *Left, *Right;
  if (match(&V, m_Or(m_Value(Left), m_Value(Right)))) {
    note(*Left, Exponent, Into);
    note(*Right, Exponent, Into);
  }
}

void Divisors::learn(const Value &Condition, bool IsTrue, Exponents &Into) {
  const Value *Left, *Right;
  if (match(&Condition, m_Not(m_Value(Left))))
    return learn(*Left, !IsTrue, Into);
  if (IsTrue ? match(&Condition, m_LogicalAnd(m_Value(Left), m_Value(Right)))
             : match(&Condition, m_LogicalOr(m_Value(Left), m_Value(Right)))) {
    learn(*Left, IsTrue, Into);
    return learn(*Right, IsTrue, Into);
  }
  CmpPredicate Predicate;
  if (!match(&Condition, m_ICmp(Predicate, m_Value(Left), m_Zero())) ||
      Predicate != (IsTrue ? CmpInst::ICMP_EQ : CmpInst::ICMP_NE))
    return;
  const Value *Tested;
  const APInt *Number;
  if (match(Left, m_And(m_Value(Tested), m_APInt(Number))))
    note(*Tested, Number->countr_one(), Into);
  else if (match(Left, m_URem(m_Value(Tested), m_APInt(Number))) ||
           match(Left, m_SRem(m_Value(Tested), m_APInt(Number))))
    note(*Tested, exponentOf(*Number), Into);
}

unsigned Divisors::inContext(const Value &V, const Exponents &Tested,
                             unsigned Depth) const {
  auto Plain = Found.find(&V);
  unsigned Best = Tested.lookup(&V);
  if (Plain != Found.end())
    Best = std::max(Best, Plain->second);
  if (Depth == MostDepth || isa<PHINode>(V))
    return Best;
  return std::max(Best, transfer(V, [&](const Value &Operand) {
                    return inContext(Operand, Tested, Depth + 1);
                  }));
}

unsigned Divisors::at(const Value &V, const Instruction &Place) const {
  Exponents Tested;
  const auto *Node = Dominators.getNode(Place.getParent());
  for (; Node && Node->getIDom(); Node = Node->getIDom()) {
    const BasicBlock *Block = Node->getIDom()->getBlock();
    auto *Branch = dyn_cast<BranchInst>(Block->getTerminator());
    if (!Branch || !Branch->isConditional())
      continue;
    for (unsigned I = 0; I < 2; ++I)
      if (Dominators.dominates(BasicBlockEdge(Block, Branch->getSuccessor(I)),
                               Place.getParent()))
        learn(*Branch->getCondition(), I == 0, Tested);
  }
  return inContext(V, Tested, 0);
}

} // namespace r3::replay
