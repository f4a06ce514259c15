// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the plugin does in a device compile: before the first pass it takes the
// copy that is embedded, after the last one it describes the kernels, hands
// both over to the host compile and puts in the profile's code.
#pragma once

#include "plugin/Compilation.h"
#include "plugin/device/Profile.h"
#include "runtime/support/Unit.h"

#include "llvm/IR/Module.h"
#include "llvm/Passes/OptimizationLevel.h"

#include <cstdint>
#include <vector>

namespace r3::plugin {

/// One device compile; lives from the first pass to the last.
class DeviceCompile {
public:
  /// Before the first pass. Returns whether the module was changed.
  bool begin(llvm::Module &M, llvm::OptimizationLevel Level);
  /// After the last pass.
  bool end(llvm::Module &M);

private:
  void describe(const llvm::Module &M);
  void describeOptimised(const llvm::Module &M);
  void sayReasons(llvm::Module &M) const;
  void handOver(llvm::Module &M);

  bool Active = false;
  Compilation C;
  std::string Arch;
  Unit U;
  UnitProfile Profile;
  std::vector<uint8_t> Bitcode;
};

} // namespace r3::plugin
