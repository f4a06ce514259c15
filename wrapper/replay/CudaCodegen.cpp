// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same steps as in a build with a profile: closure, pipeline, register
// limit, code generation at the level of the build.
#include "wrapper/replay/CudaCodegen.h"

#include "plugin/ir/Closure.h"
#include "plugin/ir/Codegen.h"
#include "plugin/ir/IrDigest.h"
#include "plugin/ir/Pipeline.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

namespace r3::replay {

namespace {
using Clock = std::chrono::steady_clock;

double msSince(Clock::time_point Start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - Start)
      .count();
}
} // namespace

struct CudaClosure::State {
  llvm::LLVMContext Context;
  std::unique_ptr<llvm::Module> Module;
  std::string Kernel;
};

CudaClosure::CudaClosure(std::unique_ptr<State> S) : S(std::move(S)) {}
CudaClosure::~CudaClosure() = default;

Expected<std::unique_ptr<CudaClosure>>
CudaClosure::parse(std::span<const uint8_t> Bitcode,
                   const std::string &Kernel) {
  auto S = std::make_unique<State>();
  S->Kernel = Kernel;
  const llvm::StringRef Text(reinterpret_cast<const char *>(Bitcode.data()),
                             Bitcode.size());
  auto Whole = llvm::parseBitcodeFile(
      llvm::MemoryBufferRef(Text, "device code"), S->Context);
  if (!Whole)
    return Error(ErrorCode::Damaged,
                 "device code: " + llvm::toString(Whole.takeError()));
  auto Closure = ir::extractClosure(**Whole, Kernel);
  if (!Closure)
    return Closure.error();
  // As in a build with a profile; and ptxas optimises nothing that has it.
  llvm::StripDebugInfo(**Closure);
  S->Module = std::move(*Closure);
  return std::unique_ptr<CudaClosure>(new CudaClosure(std::move(S)));
}

Expected<std::string>
CudaClosure::toPtx(const Variant &V, const std::string &Level,
                   std::map<std::string, double> &Ms, ir::PassCounter *Counter,
                   const std::function<bool(const std::string &)> &IsKnown) {
  llvm::Module &M = *S->Module;
  if (!V.Arch.empty())
    if (Error E = ir::setArchitecture(M, V.Arch))
      return E;
  // The pipeline's machine is that of the build; the variant's level is one of
  // code generation.
  auto Machine = ir::createTargetMachine(M, Level);
  if (!Machine)
    return Machine.error();
  auto Start = Clock::now();
  if (Error E =
          ir::runPipeline(M, **Machine, V.Pipeline, Level, V.Options, Counter))
    return E;
  Ms["pipeline"] = msSince(Start);

  llvm::Function *Kernel = M.getFunction(S->Kernel);
  if (!Kernel || Kernel->isDeclaration())
    return Error(ErrorCode::Failed, "the pipeline removed the kernel");
  if (Error E = ir::applyCodegen(*Kernel, V))
    return E;

  Start = Clock::now();
  const std::string &CodegenLevel = V.Level.empty() ? Level : V.Level;
  if (IsKnown && IsKnown(ir::irDigest(M)))
    return std::string();
  Ms["ir digest"] = msSince(Start);

  Start = Clock::now();
  auto Generator = ir::createTargetMachine(M, CodegenLevel);
  if (!Generator)
    return Generator.error();
  llvm::SmallString<0> Ptx;
  llvm::raw_svector_ostream Out(Ptx);
  llvm::legacy::PassManager Passes;
  if ((*Generator)
          ->addPassesToEmitFile(Passes, Out, nullptr,
                                llvm::CodeGenFileType::AssemblyFile))
    return Error(ErrorCode::Failed, "no code generator writes PTX");
  Passes.run(M);
  Ms["codegen"] = msSince(Start);
  return Ptx.str().str();
}

Expected<std::map<std::string, std::string>>
cudaPipelines(const std::string &Arch) {
  llvm::LLVMContext Context;
  llvm::Module M("pipelines", Context);
  M.setTargetTriple(llvm::Triple("nvptx64-nvidia-cuda"));
  auto *F = llvm::Function::Create(
      llvm::FunctionType::get(llvm::Type::getVoidTy(Context), false),
      llvm::GlobalValue::ExternalLinkage, "target", M);
  F->addFnAttr("target-cpu", Arch);
  std::map<std::string, std::string> Result;
  for (const char *Level : {"O1", "O2", "O3", "Os"}) {
    auto Machine = ir::createTargetMachine(M, Level);
    if (!Machine)
      return Machine.error();
    auto Text = ir::printDefaultPipeline(M, **Machine, Level);
    if (!Text)
      return Text.error();
    Result[Level] = std::move(*Text);
  }
  return Result;
}

} // namespace r3::replay
