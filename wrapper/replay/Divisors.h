// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which powers of two divide the integers and addresses of a function: a
// data-flow analysis over SSA values, and at one place also what the branches
// that lead there have tested ("if (address % 16 == 0)").
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"

namespace r3::replay {

class Divisors {
public:
  /// What is known of arguments: argument -> exponent of the power of two.
  using Assumptions = llvm::DenseMap<const llvm::Argument *, unsigned>;

  Divisors(llvm::Function &F, const Assumptions &Known);

  /// Exponent for V where Place is about to run; Zero for 0.
  unsigned at(const llvm::Value &V, const llvm::Instruction &Place) const;

  static constexpr unsigned Zero = 64;

private:
  using Exponents = llvm::DenseMap<const llvm::Value *, unsigned>;
  template <typename Lookup>
  unsigned transfer(const llvm::Value &V, Lookup Of) const;
  unsigned inContext(const llvm::Value &V, const Exponents &Tested,
                     unsigned Depth) const;
  static void note(const llvm::Value &V, unsigned Exponent, Exponents &Into);
  static void learn(const llvm::Value &Condition, bool IsTrue, Exponents &Into);

  const llvm::DataLayout &Layout;
  const Assumptions &Known;
  llvm::DominatorTree Dominators;
  Exponents Found; // of instructions
};

} // namespace r3::replay
