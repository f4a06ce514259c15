// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where variables are put into registers first, only real memory is looked at.
// libdevice is not inlined here for the CPU device, which replaces whole
// functions.
#include "wrapper/replay/Instrument.h"

#include "plugin/instrument/Builds.h"
#include "plugin/ir/Closure.h"
#include "plugin/ir/Pipeline.h"
#include "wrapper/replay/Ptxas.h"

#include "runtime/support/Files.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Transforms/Scalar/SROA.h"

#include <filesystem>

using namespace llvm;

namespace r3::replay {

static void promoteVariables(Module &M) {
  ModulePassManager Passes;
  Passes.addPass(
      createModuleToFunctionPassAdaptor(SROAPass(SROAOptions::PreserveCFG)));
  ir::runPasses(M, std::move(Passes));
}

/// Functions of libdevice stay whole where they are replaced later.
static void keepLibdevice(Module &M) {
  for (Function &F : M)
    if (!F.isDeclaration() && F.getName().starts_with("__nv_")) {
      F.setLinkage(GlobalValue::ExternalLinkage);
      F.removeFnAttr(Attribute::AlwaysInline);
      F.addFnAttr(Attribute::NoInline);
    }
}

static Error optimise(Module &M, const PlainPipeline &Plain) {
  if (Plain.ReplacesLibdevice)
    keepLibdevice(M);
  auto Machine = ir::createTargetMachine(M, Plain.Level);
  if (!Machine)
    return Machine.error();
  return ir::runPipeline(M, **Machine, Plain.Pipeline, Plain.Level,
                         Plain.Options);
}

/// The source's own limits stay.
static void limitRegisters(Function &F, uint64_t Threads) {
  for (const char *Known : {"nvvm.maxntid", "nvvm.reqntid", "nvvm.maxnreg"})
    if (F.hasFnAttribute(Known))
      return;
  if (Threads)
    F.addFnAttr("nvvm.maxntid", std::to_string(Threads));
}

/// libdevice of the toolkit; empty where there is none.
static std::vector<uint8_t> readLibdevice() {
  for (const std::string &Ptxas : allPtxas()) {
    std::error_code Ignored;
    const auto Real = std::filesystem::canonical(Ptxas, Ignored);
    const auto Library =
        Real.parent_path().parent_path() / "nvvm/libdevice/libdevice.10.bc";
    if (auto Bytes = readFile(Library.string()))
      return std::move(*Bytes);
  }
  return {};
}

Expected<Instrumented> instrument(std::span<const uint8_t> Bitcode,
                                  const std::string &Kernel,
                                  const std::string &Build, uint64_t Threads,
                                  const PlainPipeline &Plain) {
  auto Kind = instrument::findBuildKind(Build);
  if (!Kind)
    return Kind.error();
  LLVMContext Context;
  MemoryBufferRef Buffer(
      StringRef(reinterpret_cast<const char *>(Bitcode.data()), Bitcode.size()),
      "device code");
  auto Whole = parseBitcodeFile(Buffer, Context);
  if (!Whole)
    return fail(ErrorCode::Damaged, "device code: %s",
                toString(Whole.takeError()).c_str());
  auto Closure = ir::extractClosure(**Whole, Kernel);
  if (!Closure)
    return Closure.error();
  if ((*Kind)->InRegisters)
    promoteVariables(**Closure);
  if ((*Kind)->Optimised)
    if (Error E = optimise(**Closure, Plain))
      return E;
  auto Info = (*Kind)->Add(**Closure, readLibdevice());
  if (!Info)
    return Info.error();
  if (Function *F = (*Closure)->getFunction(Kernel))
    limitRegisters(*F, Threads);
  std::string Broken;
  raw_string_ostream Out(Broken);
  if (verifyModule(**Closure, &Out))
    return fail(ErrorCode::Failed, "instrumented build %s is broken: %s",
                Build.c_str(),
                StringRef(Broken).split('\n').first.str().c_str());
  SmallVector<char, 0> Bytes;
  raw_svector_ostream Stream(Bytes);
  WriteBitcodeToFile(**Closure, Stream);
  return Instrumented{{Bytes.begin(), Bytes.end()},
                      std::move(Info->Sites),
                      std::move(Info->Unseen),
                      {Info->Numbers.begin(), Info->Numbers.end()}};
}

} // namespace r3::replay
