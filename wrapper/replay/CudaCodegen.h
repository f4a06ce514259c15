// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's part of a CUDA build: module to closure, closure to PTX. The only
// users of LLVM in the worker are this file's implementation and the CPU
// device's compiler.
#pragma once

#include "plugin/ir/PassCounter.h"

#include "runtime/support/Error.h"
#include "runtime/support/Variant.h"

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

namespace r3::replay {

/// The closure of one kernel, parsed once; builds are made in forked copies.
class CudaClosure {
public:
  static Expected<std::unique_ptr<CudaClosure>>
  parse(std::span<const uint8_t> Bitcode, const std::string &Kernel);
  ~CudaClosure();

  /// Runs the pipeline and generates code. Changes the module: call it in a
  /// forked copy. Level: at which the unit was compiled. Ms: by step. Counter:
  /// of the pipeline, may be null. IsKnown: asked with a digest of what code is
  /// generated from; where it says yes, there is none, and the result is empty.
  Expected<std::string>
  toPtx(const Variant &V, const std::string &Level,
        std::map<std::string, double> &Ms, ir::PassCounter *Counter = nullptr,
        const std::function<bool(const std::string &)> &IsKnown = {});

private:
  struct State;
  explicit CudaClosure(std::unique_ptr<State> S);
  std::unique_ptr<State> S;
};

/// Printed default pipelines by level, for an architecture ("sm_90").
Expected<std::map<std::string, std::string>>
cudaPipelines(const std::string &Arch);

} // namespace r3::replay
