// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory accesses of a function, and a branch in front of each: what the
// traced build and the CPU device's bounds checks have in common.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

#include <string>
#include <vector>

namespace r3::instrument {

enum class AccessKind : uint32_t { Read = 1, Write = 2, ReadWrite = 3 };

/// A load, store, atomic, or one side of a copy or fill (which then has two).
/// Address and Size may be what another access loads, which guardAccess
/// replaces.
struct Access {
  llvm::Instruction *Where = nullptr;
  llvm::WeakTrackingVH Address;
  llvm::WeakTrackingVH Size; // bytes, an integer of any width
  AccessKind Kind = AccessKind::Read;
  llvm::Align Alignment; // that the code relies on
};

/// Every access of F but those to its own variables: allocas, by-value and
/// return-slot arguments.
std::vector<Access> accessesOf(llvm::Function &F);

/// Instructions of F that may access memory in ways that accessesOf does not
/// see (inline assembly, intrinsics with pointers), each as text with its line.
std::vector<std::string> unseenAccesses(const llvm::Function &F);

/// Runs the access only where Allowed (which gets a builder in front of it)
/// gives true; a load that is skipped gives zero.
void guardAccess(
    const Access &A,
    llvm::function_ref<llvm::Value *(llvm::IRBuilder<> &)> Allowed);

/// "file.cu:12 in function", as far as debug information tells.
std::string sourceOf(const llvm::Instruction &I);

} // namespace r3::instrument
