// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers R3's passes with clang. A CUDA file is compiled once for each
// device architecture and once for the host: the module's triple says which.
#include "plugin/Compat.h"
#include "plugin/OptPasses.h"
#include "plugin/device/DevicePass.h"
#include "plugin/host/HostPass.h"

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

void registerPasses(PassBuilder &Builder) {
  auto Device = std::make_shared<r3::plugin::DeviceCompile>();
  Builder.registerPipelineStartEPCallback(
      [Device](ModulePassManager &Manager, OptimizationLevel Level) {
        Manager.addPass(BeginPass(Device, Level));
      });
  r3::plugin::registerOptPasses(Builder);
  Builder.registerOptimizerLastEPCallback(
      [Device](ModulePassManager &Manager, OptimizationLevel,
               ThinOrFullLTOPhase) { Manager.addPass(EndPass(Device)); });
}

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "R3", "0.1", registerPasses};
}
