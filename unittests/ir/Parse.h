// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device modules for tests, from text.
#pragma once

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

inline std::unique_ptr<llvm::Module> parseDevice(llvm::LLVMContext &Context,
                                                 const std::string &Text) {
  llvm::SMDiagnostic Problem;
  std::unique_ptr<llvm::Module> M = llvm::parseAssemblyString(
      "target triple = \"nvptx64-nvidia-cuda\"\n" + Text, Problem, Context);
  EXPECT_TRUE(M) << Problem.getMessage().str() << " in line "
                 << Problem.getLineNo();
  return M;
}
