// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/replay/Specialise.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <algorithm>

using namespace llvm;

namespace r3::replay {

static Error replaceParameter(Function &F,
                              std::span<const std::string> Parameters,
                              const std::string &Name, int64_t Value) {
  const auto Found = std::find(Parameters.begin(), Parameters.end(), Name);
  const auto Index = static_cast<size_t>(Found - Parameters.begin());
  if (Found == Parameters.end() || Index >= F.arg_size() ||
      !F.getArg(Index)->getType()->isIntegerTy())
    return fail(ErrorCode::Usage,
                "'%s' is no integer parameter of the kernel: fields of "
                "structures and other types cannot be specialised",
                Name.c_str());
  Argument *Parameter = F.getArg(Index);
  const unsigned Bits = Parameter->getType()->getIntegerBitWidth();
  if (!isIntN(Bits, Value) && !isUIntN(Bits, static_cast<uint64_t>(Value)))
    return fail(ErrorCode::Usage, "%lld does not fit into the %u bits of '%s'",
                static_cast<long long>(Value), Bits, Name.c_str());
  Parameter->replaceAllUsesWith(
      ConstantInt::get(Parameter->getType(),
                       APInt(64, static_cast<uint64_t>(Value)).trunc(Bits)));
  return {};
}

Expected<std::vector<uint8_t>>
specialise(std::span<const uint8_t> Bitcode, const std::string &Kernel,
           std::span<const std::string> Parameters,
           const std::map<std::string, int64_t> &Values) {
  LLVMContext Context;
  MemoryBufferRef Buffer(
      StringRef(reinterpret_cast<const char *>(Bitcode.data()), Bitcode.size()),
      "device code");
  auto M = parseBitcodeFile(Buffer, Context);
  if (!M)
    return fail(ErrorCode::Damaged, "device code: %s",
                toString(M.takeError()).c_str());
  Function *F = (*M)->getFunction(Kernel);
  if (!F || F->isDeclaration())
    return fail(ErrorCode::NotFound, "the device code has no kernel %s",
                Kernel.c_str());
  for (const auto &[Name, Value] : Values)
    if (Error E = replaceParameter(*F, Parameters, Name, Value))
      return E;
  SmallVector<char, 0> Bytes;
  raw_svector_ostream Out(Bytes);
  WriteBitcodeToFile(**M, Out);
  return std::vector<uint8_t>(Bytes.begin(), Bytes.end());
}

} // namespace r3::replay
