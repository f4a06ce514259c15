// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The digest is that of the module's bitcode. Uses have an order that bitcode
// does not keep by itself, and passes of the code generator walk along it.
#include "plugin/ir/IrDigest.h"

#include "runtime/support/Digest.h"

#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/InstIterator.h"

namespace r3::ir {

static void dropLocalNames(llvm::Function &F) {
  for (llvm::Argument &A : F.args())
    A.setName("");
  for (llvm::BasicBlock &B : F)
    B.setName("");
  for (llvm::Instruction &I : llvm::instructions(F))
    I.setName("");
}

std::string irDigest(llvm::Module &M) {
  for (llvm::Function &F : M)
    dropLocalNames(F);
  llvm::SmallVector<char, 0> Bytes;
  llvm::raw_svector_ostream Out(Bytes);
  llvm::WriteBitcodeToFile(M, Out, /*ShouldPreserveUseListOrder=*/true);
  return contentDigest(std::string_view(Bytes.data(), Bytes.size())).hex();
}

} // namespace r3::ir
