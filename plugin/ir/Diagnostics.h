// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Catches what LLVM reports to a context. Without a handler LLVM ends the
// process on an error; inside clang the user's build would fail.
#pragma once

#include "llvm/IR/LLVMContext.h"

#include <memory>
#include <string>

namespace llvm {
struct DiagnosticHandler;
}

namespace r3::ir {

/// While it lives, the first error goes into First and all else is dropped.
class ScopedHandler {
public:
  ScopedHandler(llvm::LLVMContext &Context, std::string &First);
  ~ScopedHandler();
  ScopedHandler(const ScopedHandler &) = delete;

private:
  llvm::LLVMContext &Context;
  std::unique_ptr<llvm::DiagnosticHandler> Old;
};

} // namespace r3::ir
