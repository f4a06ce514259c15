// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/replay/Specialise.h"

#include "plugin/ir/Closure.h"
#include "plugin/ir/RemapBlocks.h"
#include "runtime/support/LaunchMap.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <algorithm>

using namespace llvm;

namespace r3::replay {

namespace {

using Names = std::span<const std::string>;

bool isPartOfLaunch(const std::string &Name) {
  return launchPart(LaunchConfig(), Name).has_value();
}

/// The special register that holds a part of the launch.
std::string registerOf(const std::string &Name) {
  return std::string("llvm.nvvm.read.ptx.sreg.") +
         (Name.starts_with("grid") ? "nctaid." : "ntid.") + Name.back();
}

/// Null where there is no such parameter.
Argument *parameterOf(Function &F, Names Parameters, const std::string &Name) {
  const auto Found = std::find(Parameters.begin(), Parameters.end(), Name);
  const auto Index = static_cast<size_t>(Found - Parameters.begin());
  return Found == Parameters.end() || Index >= F.arg_size() ? nullptr
                                                            : F.getArg(Index);
}

Error replaceParameter(Function &F, Names Parameters, const std::string &Name,
                       int64_t Value) {
  Argument *Parameter = parameterOf(F, Parameters, Name);
  if (!Parameter || !Parameter->getType()->isIntegerTy())
    return fail(ErrorCode::Usage,
                "'%s' is no integer parameter of the kernel: fields of "
                "structures and other types cannot be specialised",
                Name.c_str());
  const unsigned Bits = Parameter->getType()->getIntegerBitWidth();
  if (!isIntN(Bits, Value) && !isUIntN(Bits, static_cast<uint64_t>(Value)))
    return fail(ErrorCode::Usage, "%lld does not fit into the %u bits of '%s'",
                static_cast<long long>(Value), Bits, Name.c_str());
  Parameter->replaceAllUsesWith(
      ConstantInt::get(Parameter->getType(),
                       APInt(64, static_cast<uint64_t>(Value)).trunc(Bits)));
  return {};
}

Error replaceLaunchPart(Module &M, const Variant &V, const std::string &Name,
                        int64_t Value) {
  if (!V.Launch.empty() && V.Remap.empty())
    return fail(ErrorCode::Usage,
                "'%s' cannot be a constant beside a launch map", Name.c_str());
  if (Name == "shared" || Value < 1 || !isUIntN(32, uint64_t(Value)))
    return fail(ErrorCode::Usage, "'%s' cannot be the constant %lld",
                Name.c_str(), static_cast<long long>(Value));
  if (Function *Register = M.getFunction(registerOf(Name)))
    for (User *Use : make_early_inc_range(Register->users()))
      if (auto *Call = dyn_cast<CallInst>(Use)) {
        Call->replaceAllUsesWith(
            ConstantInt::get(Call->getType(), uint64_t(Value)));
        Call->eraseFromParent();
      }
  return {};
}

/// What a guard that divides says, where the kernel begins. Parts of the
/// launch are those of the program: with a launch map the kernel sees others.
void assumeDivides(Function &F, Names Parameters, const Guard &G,
                   const Variant &V) {
  IRBuilder<> Builder(&*F.getEntryBlock().getFirstInsertionPt());
  Value *Number = parameterOf(F, Parameters, G.Name);
  if (isPartOfLaunch(G.Name)) {
    if (!V.Launch.empty() || G.Name == "shared")
      return;
    Number = Builder.CreateCall(F.getParent()->getOrInsertFunction(
        registerOf(G.Name), FunctionType::get(Builder.getInt32Ty(), false)));
  }
  if (!Number || !Number->getType()->isIntegerTy() || G.Number < 1 ||
      !isUIntN(Number->getType()->getIntegerBitWidth() - 1, uint64_t(G.Number)))
    return;
  const auto Divisor = uint64_t(G.Number);
  auto Constant = [&](uint64_t N) {
    return ConstantInt::get(Number->getType(), N);
  };
  Value *Rest = isPowerOf2_64(Divisor)
                    ? Builder.CreateAnd(Number, Constant(Divisor - 1))
                    : Builder.CreateSRem(Number, Constant(Divisor));
  Builder.CreateAssumption(Builder.CreateIsNull(Rest));
}

/// A pointer with the alignment of the recorded launches.
void assumeAligned(Function &F, Names Parameters, const Guard &G) {
  Argument *Pointer = parameterOf(F, Parameters, G.Name);
  if (!Pointer || !Pointer->getType()->isPointerTy() ||
      Pointer->hasByValAttr() || G.Number < 1 ||
      !isPowerOf2_64(uint64_t(G.Number)))
    return;
  const Align Wanted(uint64_t(G.Number));
  if (Pointer->getParamAlign().valueOrOne() >= Wanted)
    return;
  Pointer->removeAttr(Attribute::Alignment);
  Pointer->addAttr(Attribute::getWithAlignment(F.getContext(), Wanted));
}

Error assumeGuards(Function &F, Names Parameters, const Variant &V) {
  for (const std::string &Text : V.Guards) {
    auto G = Guard::parse(Text);
    if (!G)
      return G.error();
    if (G->What == Guard::Kind::Divides)
      assumeDivides(F, Parameters, *G, V);
    if (G->What == Guard::Kind::Align)
      assumeAligned(F, Parameters, *G);
  }
  return {};
}

Error change(Module &M, const std::string &Kernel, Names Parameters,
             const Variant &V) {
  Function *F = M.getFunction(Kernel);
  if (Error E = assumeGuards(*F, Parameters, V))
    return E;
  for (const auto &[Name, Value] : V.Specialise)
    if (Error E = isPartOfLaunch(Name)
                      ? replaceLaunchPart(M, V, Name, Value)
                      : replaceParameter(*F, Parameters, Name, Value))
      return E;
  if (V.Remap.empty())
    return {};
  auto Shape = BlockShape::parse(V.Remap);
  return Shape ? ir::remapBlocks(M, *Shape) : Shape.error();
}

} // namespace

bool isSpecial(const Variant &V) {
  return !V.Specialise.empty() || !V.Guards.empty() || !V.Remap.empty();
}

Expected<std::vector<uint8_t>> specialise(std::span<const uint8_t> Bitcode,
                                          const std::string &Kernel,
                                          Names Parameters, const Variant &V) {
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
  auto Closure = ir::extractClosure(**M, Kernel);
  if (!Closure)
    return Closure.error();
  if (Error E = change(**Closure, Kernel, Parameters, V))
    return E;
  SmallVector<char, 0> Bytes;
  raw_svector_ostream Out(Bytes);
  WriteBitcodeToFile(**Closure, Out);
  return std::vector<uint8_t>(Bytes.begin(), Bytes.end());
}

} // namespace r3::replay
