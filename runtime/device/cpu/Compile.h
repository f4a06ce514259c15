// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes code for the CPU device from unoptimised NVPTX device code: the kernel
// is retargeted to this machine, special registers, barriers, warp operations,
// atomics and libdevice calls are replaced, the pipeline runs, and an object
// file comes out. Used by the CPU device itself and by the compile worker.
#pragma once

#include "runtime/support/Error.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace r3 {

namespace ir {
struct PassCounter;
}

struct CpuCompileOptions {
  std::string Kernel;   // mangled name
  std::string Pipeline; // empty: the default one of Level
  std::string Level = "O2";
  std::map<std::string, int64_t> Options; // of LLVM, while the pipeline runs
  /// Check every access to global memory against the device's allocations.
  bool CheckBounds = false;
  ir::PassCounter *Counter = nullptr; // of the pipeline; may be null
  /// Asked with a digest of the optimised IR (plugin/ir/IrDigest.h): where it
  /// says yes, no code is generated, and the result is empty. May be empty.
  std::function<bool(const std::string &)> IsKnown = {};
  std::map<std::string, double> *Ms = nullptr; // by step; may be null
};

/// A kernel's code with everything done that a variant has no say in, to be
/// compiled again and again, in forked copies.
class CpuClosure {
public:
  /// As of compileForCpu.
  static Expected<std::unique_ptr<CpuClosure>>
  make(std::span<const uint8_t> Bitcode, const std::string &Kernel,
       bool CheckBounds);
  ~CpuClosure();

  /// Changes the code: once. Of Options the kernel and the bounds checks are
  /// those of make().
  Expected<std::vector<uint8_t>> compile(const CpuCompileOptions &Options);

private:
  struct State;
  explicit CpuClosure(std::unique_ptr<State> S);
  std::unique_ptr<State> S;
};

/// Bitcode: a device module that contains the kernel. What the CPU device
/// cannot run is an error (CannotRunHere) that names the construct and its
/// source line.
Expected<std::vector<uint8_t>> compileForCpu(std::span<const uint8_t> Bitcode,
                                             const CpuCompileOptions &Options);

/// Printed default pipeline of a level for this machine.
Expected<std::string> cpuDefaultPipeline(const std::string &Level);

} // namespace r3
