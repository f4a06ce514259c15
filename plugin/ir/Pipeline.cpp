// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tuning options are those that clang sets for a level (loop unrolling and
// interleaving from O2 on, both vectorisers from O2 on), the target registers
// its own passes through the target machine, and device code gets the option
// that clang's driver passes for it. Errors that LLVM reports to the context
// are caught: clang's own handler would fail the user's build, LLVM's default
// one ends the process.
#include "plugin/ir/Pipeline.h"

#include "plugin/ir/Diagnostics.h"
#include "plugin/ir/ScopedOptions.h"

#include "llvm/Analysis/LazyCallGraph.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Host.h"

#include <map>
#include <mutex>
#include <vector>

using namespace llvm;

namespace r3::ir {

static const std::map<std::string, OptimizationLevel> &levels() {
  static const std::map<std::string, OptimizationLevel> Table = {
      {"O0", OptimizationLevel::O0}, {"O1", OptimizationLevel::O1},
      {"O2", OptimizationLevel::O2}, {"O3", OptimizationLevel::O3},
      {"Os", OptimizationLevel::Os}, {"Oz", OptimizationLevel::Oz}};
  return Table;
}

static Expected<OptimizationLevel> parseLevel(const std::string &Level) {
  auto It = levels().find(Level);
  if (It == levels().end())
    return fail(ErrorCode::Usage,
                "optimisation level '%s': O0, O1, O2, O3, Os or Oz expected",
                Level.c_str());
  return It->second;
}

static CodeGenOptLevel codeGenLevel(OptimizationLevel Level) {
  static constexpr CodeGenOptLevel Table[] = {
      CodeGenOptLevel::None, CodeGenOptLevel::Less, CodeGenOptLevel::Default,
      CodeGenOptLevel::Aggressive};
  return Table[Level.getSpeedupLevel()];
}

/// Clang fuses multiplications and additions in device code unless
/// -ffp-contract says otherwise, and marks operations where it does. Those of
/// libdevice are never marked.
static bool isContracting(const Module &M) {
  bool AnyOperation = false;
  for (const Function &F : M) {
    if (F.getName().starts_with("__nv_"))
      continue;
    for (const BasicBlock &Block : F)
      for (const Instruction &I : Block)
        if (isa<FPMathOperator>(I)) {
          AnyOperation = true;
          if (I.hasAllowContract())
            return true;
        }
  }
  return !AnyOperation;
}

static std::string functionAttribute(const Module &M, const char *Name) {
  for (const Function &F : M)
    if (F.hasFnAttribute(Name))
      return F.getFnAttribute(Name).getValueAsString().str();
  return {};
}

static std::string hostFeatures() {
  std::string Features;
  for (const auto &[Name, On] : sys::getHostCPUFeatures()) {
    if (!Features.empty())
      Features += ',';
    Features += On ? '+' : '-';
    Features += Name.str();
  }
  return Features;
}

static void initialiseTargets() {
  static std::once_flag Once;
  std::call_once(Once, [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

Expected<std::unique_ptr<TargetMachine>>
createTargetMachine(const Module &M, const std::string &Level) {
  Expected<OptimizationLevel> Parsed = parseLevel(Level);
  if (!Parsed)
    return Parsed.error();
  initialiseTargets();
  const Triple &Wanted = M.getTargetTriple();
  std::string Message;
  const Target *Found = TargetRegistry::lookupTarget(Wanted, Message);
  if (!Found)
    return fail(ErrorCode::CannotRunHere, "%s", Message.c_str());
  bool IsDevice = Wanted.isNVPTX();
  std::string Cpu = IsDevice ? functionAttribute(M, "target-cpu")
                             : sys::getHostCPUName().str();
  std::string Features =
      IsDevice ? functionAttribute(M, "target-features") : hostFeatures();
  TargetOptions Options;
  if (IsDevice && isContracting(M))
    Options.AllowFPOpFusion = FPOpFusion::Fast;
  std::unique_ptr<TargetMachine> Machine(
      Found->createTargetMachine(Wanted, Cpu, Features, Options, Reloc::PIC_,
                                 std::nullopt, codeGenLevel(*Parsed)));
  if (!Machine)
    return fail(ErrorCode::CannotRunHere, "%s: no code generator",
                Wanted.str().c_str());
  return Machine;
}

static PipelineTuningOptions tuningOptions(OptimizationLevel Level) {
  PipelineTuningOptions Options;
  bool Loops = Level.getSpeedupLevel() > 1;
  Options.LoopUnrolling = Loops;
  Options.LoopInterleaving = Loops;
  Options.LoopVectorization = Loops && Level != OptimizationLevel::Oz;
  Options.SLPVectorization = Loops;
  return Options;
}

namespace {

/// clang's driver passes this option for device code. It is a global of LLVM,
/// so device pipelines of one process run one after the other.
class DeviceOption {
public:
  DeviceOption() : Lock(mutex()) {
    auto &Registered = cl::getRegisteredOptions();
    auto It = Registered.find("enable-memcpyopt-without-libcalls");
    if (It == Registered.end())
      return;
    Option = static_cast<cl::opt<bool> *>(It->second);
    Old = Option->getValue();
    Option->setValue(true);
  }
  ~DeviceOption() {
    if (Option)
      Option->setValue(Old);
  }

private:
  static std::mutex &mutex() {
    static std::mutex Mutex;
    return Mutex;
  }
  std::lock_guard<std::mutex> Lock;
  cl::opt<bool> *Option = nullptr;
  bool Old = false;
};

std::vector<PassParser> &passParsers() {
  static std::vector<PassParser> All;
  return All;
}

/// Everything that a pass manager needs, in the order in which it must die.
struct Passes {
  PassInstrumentationCallbacks Callbacks;
  LoopAnalysisManager Loops;
  FunctionAnalysisManager Functions;
  CGSCCAnalysisManager Graphs;
  ModuleAnalysisManager Modules;
  PassBuilder Builder;

  Passes(const Module &M, TargetMachine &Machine, OptimizationLevel Level)
      : Builder(&Machine, tuningOptions(Level), std::nullopt, &Callbacks) {
    Functions.registerPass([&M] {
      return TargetLibraryAnalysis(TargetLibraryInfoImpl(M.getTargetTriple()));
    });
    Builder.registerModuleAnalyses(Modules);
    Builder.registerCGSCCAnalyses(Graphs);
    Builder.registerFunctionAnalyses(Functions);
    Builder.registerLoopAnalyses(Loops);
    Builder.crossRegisterProxies(Loops, Functions, Graphs, Modules);
    for (const PassParser &Parser : passParsers())
      Builder.registerPipelineParsingCallback(
          [&Parser](StringRef Name, ModulePassManager &Manager,
                    ArrayRef<PassBuilder::PipelineElement>) {
            return Parser(Name, Manager);
          });
  }
};

} // namespace

void addPassParser(PassParser Parser) {
  passParsers().push_back(std::move(Parser));
}

/// The level of "default<O2>" and the like; empty for any other text.
static std::string defaultLevel(const std::string &Pipeline) {
  StringRef Text = StringRef(Pipeline).trim();
  if (!Text.consume_front("default<") || !Text.consume_back(">"))
    return {};
  return levels().count(Text.str()) ? Text.str() : std::string();
}

void allowOptimisation(Module &M) {
  for (Function &F : M)
    if (F.hasFnAttribute(Attribute::OptimizeNone)) {
      F.removeFnAttr(Attribute::OptimizeNone);
      F.removeFnAttr(Attribute::NoInline);
    }
}

static constexpr const char *DevicePrefix =
    "nvvm-reflect,function(nvvm-intr-range),always-inline,";

static Error addPasses(ModulePassManager &Manager, Passes &P, const Module &M,
                       const std::string &Text, OptimizationLevel Default) {
  if (!defaultLevel(Text).empty()) {
    Manager = P.Builder.buildPerModuleDefaultPipeline(Default);
    return Error::success();
  }
  std::string Whole;
  if (M.getTargetTriple().isNVPTX())
    Whole = DevicePrefix;
  Whole += Text;
  if (llvm::Error Problem = P.Builder.parsePassPipeline(Manager, Whole))
    return fail(ErrorCode::Usage, "pipeline: %s",
                toString(std::move(Problem)).c_str());
  return Error::success();
}

static Error verify(const Module &M, const std::string &Reported) {
  if (!Reported.empty())
    return fail(ErrorCode::Failed, "pipeline: %s", Reported.c_str());
  std::string Broken;
  raw_string_ostream Text(Broken);
  if (verifyModule(M, &Text))
    return fail(ErrorCode::Failed, "pipeline: broken code: %s",
                StringRef(Broken).split('\n').first.str().c_str());
  return Error::success();
}

/// "loop %for.body in function k".
static std::string placeName(const Any &Place) {
  if (const auto *F = any_cast<const Function *>(&Place))
    return "function " + (*F)->getName().str();
  if (const auto *L = any_cast<const Loop *>(&Place)) {
    const BasicBlock *Header = (*L)->getHeader();
    std::string Name;
    raw_string_ostream Out(Name);
    Header->printAsOperand(Out, /*PrintType=*/false);
    return "loop " + Name + " in function " +
           Header->getParent()->getName().str();
  }
  if (const auto *C = any_cast<const LazyCallGraph::SCC *>(&Place))
    return "functions " + (*C)->getName();
  return "the module";
}

/// Has every optional pass asked first.
static void count(Passes &P, PassCounter &Counter) {
  P.Callbacks.registerShouldRunOptionalPassCallback(
      [&P, &Counter](StringRef Class, const Any &Place) {
        if (Counter.Runs++ < Counter.Limit)
          return true;
        if (Counter.NextPass.empty()) {
          const StringRef Name = P.Callbacks.getPassNameForClassName(Class);
          Counter.NextPass = (Name.empty() ? Class : Name).str();
          Counter.NextPlace = placeName(Place);
        }
        return false;
      });
}

Error runPipeline(Module &M, TargetMachine &Machine,
                  const std::string &Pipeline, const std::string &Level,
                  const std::map<std::string, int64_t> &Options,
                  PassCounter *Counter) {
  std::string Text = Pipeline;
  if (Text.empty())
    Text.append("default<").append(Level).append(">");
  std::string Named = defaultLevel(Text);
  Expected<OptimizationLevel> Parsed =
      parseLevel(Named.empty() ? Level : Named);
  if (!Parsed)
    return Parsed.error();
  std::optional<DeviceOption> Option;
  if (M.getTargetTriple().isNVPTX())
    Option.emplace();
  ScopedOptions Scoped;
  if (Error Problem = Scoped.set(Options))
    return Problem.in("options");
  std::string Reported;
  {
    ScopedHandler Handler(M.getContext(), Reported);
    Passes P(M, Machine, *Parsed);
    if (Counter)
      count(P, *Counter);
    ModulePassManager Manager;
    if (Error Problem = addPasses(Manager, P, M, Text, *Parsed))
      return Problem;
    if (*Parsed != OptimizationLevel::O0 || Named.empty())
      allowOptimisation(M);
    Manager.run(M, P.Modules);
  }
  return verify(M, Reported);
}

void runPasses(Module &M, ModulePassManager Manager) {
  LoopAnalysisManager Loops;
  FunctionAnalysisManager Functions;
  CGSCCAnalysisManager Graphs;
  ModuleAnalysisManager Modules;
  PassBuilder Builder;
  Builder.registerModuleAnalyses(Modules);
  Builder.registerCGSCCAnalyses(Graphs);
  Builder.registerFunctionAnalyses(Functions);
  Builder.registerLoopAnalyses(Loops);
  Builder.crossRegisterProxies(Loops, Functions, Graphs, Modules);
  Manager.run(M, Modules);
}

Error startPipeline(Module &M, TargetMachine &Machine,
                    const std::string &Level) {
  Expected<OptimizationLevel> Parsed = parseLevel(Level);
  if (!Parsed)
    return Parsed.error();
  std::string Reported;
  {
    ScopedHandler Handler(M.getContext(), Reported);
    Passes P(M, Machine, *Parsed);
    ModulePassManager Manager;
    P.Builder.invokePipelineStartEPCallbacks(Manager, *Parsed);
    Manager.run(M, P.Modules);
  }
  return verify(M, Reported);
}

Expected<std::string> printDefaultPipeline(const Module &M,
                                           TargetMachine &Machine,
                                           const std::string &Level) {
  Expected<OptimizationLevel> Parsed = parseLevel(Level);
  if (!Parsed)
    return Parsed.error();
  Passes P(M, Machine, *Parsed);
  ModulePassManager Manager = P.Builder.buildPerModuleDefaultPipeline(*Parsed);
  std::string Text;
  raw_string_ostream Out(Text);
  Manager.printPipeline(Out, [&](StringRef Class) {
    StringRef Name = P.Callbacks.getPassNameForClassName(Class);
    return Name.empty() ? Class : Name;
  });
  // InstCombine's own check gives up with an abort.
  for (size_t At = 0;
       (At = Text.find("verify-fixpoint", At)) != std::string::npos; ++At)
    if (At < 3 || Text.compare(At - 3, 3, "no-") != 0)
      Text.replace(At, 0, "no-"), At += 3;
  return Text;
}

} // namespace r3::ir
