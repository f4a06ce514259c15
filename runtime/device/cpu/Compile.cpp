// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From device code to an object file, step by step. Nothing here keeps state:
// the same bitcode, options and machine give the same bytes.
#include "runtime/device/cpu/CompileModule.h"

#include "plugin/ir/Closure.h"
#include "plugin/ir/IrDigest.h"
#include "plugin/ir/Pipeline.h"
#include "runtime/device/cpu/BoundsChecks.h"
#include "runtime/device/cpu/Retarget.h"
#include "runtime/device/cpu/Substitute.h"
#include "runtime/device/cpu/WaitingLoops.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#include <chrono>

using namespace llvm;

namespace r3::cpu {

Expected<std::unique_ptr<Module>>
parseDeviceModule(std::span<const uint8_t> Bitcode, LLVMContext &Context,
                  const std::string &Name) {
  MemoryBufferRef Buffer(
      StringRef(reinterpret_cast<const char *>(Bitcode.data()), Bitcode.size()),
      Name);
  auto Parsed = parseBitcodeFile(Buffer, Context);
  if (!Parsed)
    return fail(ErrorCode::Damaged, "%s: device code: %s", Name.c_str(),
                llvm::toString(Parsed.takeError()).c_str());
  return std::move(*Parsed);
}

// --- What a thread needs.

/// Calls after which a thread may have to wait for others.
static bool isWait(StringRef Name) {
  return Name.consume_front("__r3_cpu_") &&
         (Name == "barrier" || Name == "barrierArrive" ||
          Name == "warpOperation" || Name == "activeMask" || Name == "yield" ||
          Name == "spin" || Name == "threadExit");
}

/// Fibers, and stack: the variables of all functions once, more where the
/// depth of calls is not known. Compiled code and the engine's own functions
/// (printf, libm) get a base.
static void measure(const Module &M, KernelImage &Image) {
  constexpr uint64_t Base = 64 * 1024, Unknown = 256 * 1024;
  uint64_t Own = 0;
  bool Deep = false;
  for (const Function &F : M)
    for (const Instruction &I : instructions(F)) {
      if (auto *Variable = dyn_cast<AllocaInst>(&I)) {
        auto Size = Variable->getAllocationSize(M.getDataLayout());
        Deep |= !Size || !Variable->isStaticAlloca();
        Own += Size ? Size->getKnownMinValue() : 0;
      }
      auto *Call = dyn_cast<CallBase>(&I);
      if (!Call || Call->isInlineAsm())
        continue;
      const Function *Callee = Call->getCalledFunction();
      if (!Callee || isWait(Callee->getName()))
        Image.Flags |= KernelImage::NeedsFibers;
      Deep |= !Callee || !Callee->isDeclaration();
    }
  Image.LocalBytes = static_cast<uint32_t>(std::min<uint64_t>(Own, 1u << 30));
  uint64_t Stack = Base + 2 * Own + (Deep ? Unknown : 0);
  Image.StackBytes =
      static_cast<uint32_t>(alignTo(std::min<uint64_t>(Stack, 1u << 30), 4096));
}

// --- Steps.

/// Puts what the loader has to know into a section of the object.
static void embed(Module &M, const KernelImage &Image) {
  std::vector<uint8_t> Bytes = Image.serialize();
  Constant *Data = ConstantDataArray::get(
      M.getContext(), ArrayRef<uint8_t>(Bytes.data(), Bytes.size()));
  auto *G = new GlobalVariable(M, Data->getType(), /*isConstant=*/true,
                               GlobalValue::PrivateLinkage, Data,
                               "__r3_kernel_image");
  G->setSection(ImageSection);
  G->setAlignment(Align(1));
  appendToCompilerUsed(M, {G});
}

static Expected<std::vector<uint8_t>> emit(Module &M, TargetMachine &Machine) {
  SmallVector<char, 0> Bytes;
  raw_svector_ostream Out(Bytes);
  legacy::PassManager Passes;
  if (Machine.addPassesToEmitFile(Passes, Out, nullptr,
                                  CodeGenFileType::ObjectFile))
    return fail(ErrorCode::Failed, "no object files for %s",
                M.getTargetTriple().str().c_str());
  Passes.run(M);
  return std::vector<uint8_t>(Bytes.begin(), Bytes.end());
}

static Error verify(const Module &M, const std::string &Kernel) {
  std::string Text;
  raw_string_ostream Out(Text);
  if (!verifyModule(M, &Out))
    return Error::success();
  return fail(ErrorCode::Failed, "%s: broken code for the CPU device: %s",
              Kernel.c_str(), StringRef(Text).split('\n').first.str().c_str());
}

/// Adds the time from here to the end of a block to a step's.
class StepTimer {
public:
  StepTimer(const CpuCompileOptions &Options, const char *Step)
      : Ms(Options.Ms), Step(Step) {}
  ~StepTimer() {
    if (Ms)
      (*Ms)[Step] +=
          std::chrono::duration<double, std::milli>(Clock::now() - Start)
              .count();
  }

private:
  using Clock = std::chrono::steady_clock;
  std::map<std::string, double> *Ms;
  const char *Step;
  const Clock::time_point Start = Clock::now();
};

/// Runs the pipeline, behind the inlining that library functions rely on.
static Error optimise(Module &M, TargetMachine &Machine,
                      const CpuCompileOptions &Options) {
  const StepTimer Timer(Options, "pipeline");
  if (!Options.Pipeline.empty() && Options.Pipeline.rfind("default<", 0) != 0)
    if (Error Failure =
            ir::runPipeline(M, Machine, "always-inline", Options.Level))
      return Failure;
  return ir::runPipeline(M, Machine, Options.Pipeline, Options.Level,
                         Options.Options, Options.Counter);
}

/// Makes code for this machine of a closure, as it is to be optimised. Image:
/// filled by describeKernel, or empty for an object of globals alone.
static Error retarget(Module &M, KernelImage &Image, bool CheckBounds) {
  M.setTargetTriple(Triple(sys::getProcessTriple()));
  auto Machine = ir::createTargetMachine(M, CpuCompileOptions().Level);
  if (!Machine)
    return Machine.error();
  M.setDataLayout((*Machine)->createDataLayout());
  if (Error Failure = substitute(M))
    return Failure;
  dropDeviceTraits(M);
  moveGlobals(M, Image);
  addContext(M);
  // From here on every function has the context.
  if (Error Failure = placeShared(M, Image))
    return Failure;
  if (CheckBounds) {
    addBoundsChecks(M);
    Image.Flags |= KernelImage::ChecksBounds;
  }
  if (!Image.Kernel.empty())
    addEntry(M, Image);
  StripDebugInfo(M);
  return verify(M, Image.Kernel);
}

static Expected<std::vector<uint8_t>>
optimiseAndEmit(Module &M, KernelImage Image,
                const CpuCompileOptions &Options) {
  auto Machine = ir::createTargetMachine(M, Options.Level);
  if (!Machine)
    return Machine.error();
  if (Error Failure = optimise(M, **Machine, Options))
    return Failure;
  addTurns(M);
  measure(M, Image);
  // From here on the code does not change.
  embed(M, Image);
  if (Options.IsKnown) {
    const StepTimer Timer(Options, "ir digest");
    if (Options.IsKnown(ir::irDigest(M)))
      return std::vector<uint8_t>();
  }
  const StepTimer Timer(Options, "codegen");
  // Launched once, to see where it reads and writes.
  if (Options.CheckBounds)
    (*Machine)->setOptLevel(CodeGenOptLevel::None);
  return emit(M, **Machine);
}

/// A kernel's closure, ready to be optimised.
struct Retargeted {
  std::unique_ptr<Module> Code;
  KernelImage Image;
};

static Expected<Retargeted>
retargetKernel(const Module &M, const std::string &Kernel, bool CheckBounds) {
  auto Closure = ir::extractClosure(M, Kernel);
  if (!Closure)
    return Closure.error();
  Retargeted Made{std::move(*Closure), {}};
  Made.Image = describeKernel(*Made.Code->getFunction(Kernel));
  if (Error Failure = retarget(*Made.Code, Made.Image, CheckBounds))
    return Failure.in(Kernel);
  return Made;
}

static Expected<std::vector<uint8_t>>
compileRetargeted(Retargeted &From, const CpuCompileOptions &Options) {
  auto Object = optimiseAndEmit(*From.Code, From.Image, Options);
  return Object ? std::move(Object)
                : Expected<std::vector<uint8_t>>(
                      Object.error().in(Options.Kernel));
}

Expected<std::vector<uint8_t>> compileKernel(const Module &M,
                                             const CpuCompileOptions &Options) {
  auto Made = retargetKernel(M, Options.Kernel, Options.CheckBounds);
  if (!Made)
    return Made.error();
  return compileRetargeted(*Made, Options);
}

// --- Globals alone.

static bool isMutable(const GlobalVariable &G) {
  return G.getAddressSpace() != 3 && G.hasInitializer() &&
         (!G.isConstant() || G.isExternallyInitialized());
}

/// All globals that the initialisers of mutable ones reach.
static SetVector<GlobalValue *> reachableGlobals(Module &M) {
  SetVector<GlobalValue *> Found;
  SmallVector<Constant *, 32> Work;
  SmallPtrSet<Constant *, 32> Seen;
  for (GlobalVariable &G : M.globals())
    if (isMutable(G) && !G.getName().starts_with("llvm."))
      Work.push_back(&G);
  auto Push = [&](Value *V) {
    if (auto *C = dyn_cast<Constant>(V); C && Seen.insert(C).second)
      Work.push_back(C);
  };
  while (!Work.empty()) {
    Constant *C = Work.pop_back_val();
    if (auto *G = dyn_cast<GlobalValue>(C))
      Found.insert(G);
    if (auto *F = dyn_cast<Function>(C))
      for (Instruction &I : instructions(*F))
        for (Use &Operand : I.operands())
          Push(Operand);
    for (Use &Operand : C->operands())
      Push(Operand);
  }
  return Found;
}

Expected<std::vector<uint8_t>> compileGlobals(const Module &M,
                                              const std::string &Level) {
  std::unique_ptr<Module> Copy = CloneModule(M);
  SetVector<GlobalValue *> Kept = reachableGlobals(*Copy);
  for (Function &F : *Copy)
    if (!F.isDeclaration()) {
      F.setComdat(nullptr);
      F.setLinkage(GlobalValue::InternalLinkage);
      if (!Kept.contains(&F))
        F.deleteBody();
    }
  for (GlobalVariable &G : make_early_inc_range(Copy->globals())) {
    G.setComdat(nullptr);
    if (Kept.contains(&G)) {
      if (!G.isDeclaration())
        G.setLinkage(isMutable(G) ? GlobalValue::ExternalLinkage
                                  : GlobalValue::InternalLinkage);
      continue;
    }
    G.replaceAllUsesWith(PoisonValue::get(G.getType()));
    G.eraseFromParent();
  }
  CpuCompileOptions Options;
  Options.Level = Level;
  KernelImage None;
  if (Error Failure = retarget(*Copy, None, /*CheckBounds=*/false))
    return Failure;
  return optimiseAndEmit(*Copy, None, Options);
}

} // namespace r3::cpu

namespace r3 {

struct CpuClosure::State {
  LLVMContext Context;
  cpu::Retargeted Kernel;
};

CpuClosure::CpuClosure(std::unique_ptr<State> S) : S(std::move(S)) {}
CpuClosure::~CpuClosure() = default;

Expected<std::unique_ptr<CpuClosure>>
CpuClosure::make(std::span<const uint8_t> Bitcode, const std::string &Kernel,
                 bool CheckBounds) {
  auto S = std::make_unique<State>();
  auto M = cpu::parseDeviceModule(Bitcode, S->Context, "kernel " + Kernel);
  if (!M)
    return M.error();
  auto Made = cpu::retargetKernel(**M, Kernel, CheckBounds);
  if (!Made)
    return Made.error();
  S->Kernel = std::move(*Made);
  return std::unique_ptr<CpuClosure>(new CpuClosure(std::move(S)));
}

Expected<std::vector<uint8_t>>
CpuClosure::compile(const CpuCompileOptions &Options) {
  return cpu::compileRetargeted(S->Kernel, Options);
}

Expected<std::vector<uint8_t>> compileForCpu(std::span<const uint8_t> Bitcode,
                                             const CpuCompileOptions &Options) {
  auto Closure = CpuClosure::make(Bitcode, Options.Kernel, Options.CheckBounds);
  if (!Closure)
    return Closure.error();
  return (*Closure)->compile(Options);
}

Expected<std::string> cpuDefaultPipeline(const std::string &Level) {
  LLVMContext Context;
  Module M("pipeline", Context);
  M.setTargetTriple(Triple(sys::getProcessTriple()));
  auto Machine = ir::createTargetMachine(M, Level);
  if (!Machine)
    return Machine.error();
  return ir::printDefaultPipeline(M, **Machine, Level);
}

} // namespace r3
