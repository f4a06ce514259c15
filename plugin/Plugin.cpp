// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers R3's passes with clang. A CUDA file is compiled once for each
// device architecture and once for the host: the module's triple says which.
#include "plugin/Compat.h"
#include "plugin/device/DevicePass.h"
#include "plugin/host/HostPass.h"
#include "plugin/instrument/Builds.h"
#include "plugin/ir/RemapBlocks.h"

#include "llvm/Passes/PassBuilder.h"

using namespace llvm;

namespace {

PreservedAnalyses changed(bool Changed) {
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

struct BeginPass : PassInfoMixin<BeginPass> {
  std::shared_ptr<r3::plugin::DeviceCompile> Device;
  OptimizationLevel Level;

  BeginPass(std::shared_ptr<r3::plugin::DeviceCompile> Device,
            OptimizationLevel Level)
      : Device(std::move(Device)), Level(Level) {}
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    if (M.getTargetTriple().isNVPTX())
      return changed(Device->begin(M, Level));
    return changed(r3::plugin::instrumentHost(M));
  }
  static bool isRequired() { return true; }
};

struct EndPass : PassInfoMixin<EndPass> {
  std::shared_ptr<r3::plugin::DeviceCompile> Device;

  explicit EndPass(std::shared_ptr<r3::plugin::DeviceCompile> Device)
      : Device(std::move(Device)) {}
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    return changed(Device->end(M));
  }
  static bool isRequired() { return true; }
};

/// For opt: what the compile worker does to a kernel's closure.
struct InstrumentPass : PassInfoMixin<InstrumentPass> {
  const r3::instrument::BuildKind *Kind;

  explicit InstrumentPass(const r3::instrument::BuildKind *Kind) : Kind(Kind) {}
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    auto Info = Kind->Add(M, /*Libdevice=*/{});
    if (!Info)
      M.getContext().emitError(Info.error().message());
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};

/// For opt: what the compile worker does to a kernel whose blocks have another
/// shape.
struct RemapPass : PassInfoMixin<RemapPass> {
  r3::BlockShape Shape;

  explicit RemapPass(const r3::BlockShape &Shape) : Shape(Shape) {}
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    if (r3::Error Problem = r3::ir::remapBlocks(M, Shape))
      M.getContext().emitError(Problem.message());
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};

/// "remap<split-x=4>".
bool parseRemap(StringRef Name, ModulePassManager &Manager) {
  if (!Name.consume_front("remap<") || !Name.consume_back(">"))
    return false;
  auto Shape = r3::BlockShape::parse(Name.str());
  if (!Shape)
    return false;
  Manager.addPass(RemapPass(*Shape));
  return true;
}

bool parsePass(StringRef Name, ModulePassManager &Manager,
               ArrayRef<PassBuilder::PipelineElement>) {
  if (!Name.consume_front("r3-"))
    return false;
  if (parseRemap(Name, Manager))
    return true;
  auto Kind = r3::instrument::findBuildKind(Name);
  if (!Kind)
    return false;
  Manager.addPass(InstrumentPass(*Kind));
  return true;
}

void registerPasses(PassBuilder &Builder) {
  auto Device = std::make_shared<r3::plugin::DeviceCompile>();
  Builder.registerPipelineStartEPCallback(
      [Device](ModulePassManager &Manager, OptimizationLevel Level) {
        Manager.addPass(BeginPass(Device, Level));
      });
  Builder.registerPipelineParsingCallback(parsePass);
  Builder.registerOptimizerLastEPCallback(
      [Device](ModulePassManager &Manager, OptimizationLevel,
               ThinOrFullLTOPhase) { Manager.addPass(EndPass(Device)); });
}

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "R3", "0.1", registerPasses};
}
