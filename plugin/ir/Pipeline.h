// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a pass pipeline on a module as clang would. "default<O0..O3,Os,Oz>" as
// the whole text is clang's own pipeline for that level (not LLVM's printed
// form of it, which is not the same for O3). Any other text is parsed as for
// `opt -passes=`, behind the prefix that device code needs (nvvm-reflect,
// nvvm-intr-range, always-inline). Used by the plugin when it applies a
// profile, by the compile worker and by the CPU device, so that all three
// derive the same code. Some pipelines abort the process: callers that try
// unknown ones run in a child.
#pragma once

#include "plugin/ir/PassCounter.h"

#include "runtime/support/Error.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Target/TargetMachine.h"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace r3::ir {

/// A target machine for the module's triple, with the CPU and features that
/// its functions name (host code: this machine's). Level: "O0".."O3".
Expected<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(const llvm::Module &M, const std::string &Level);

/// Empty Pipeline: the default one of Level. Options: of LLVM, see
/// ScopedOptions.h. Counter: may be null.
Error runPipeline(llvm::Module &M, llvm::TargetMachine &Machine,
                  const std::string &Pipeline, const std::string &Level,
                  const std::map<std::string, int64_t> &Options = {},
                  PassCounter *Counter = nullptr);

/// Adds the module pass of this name to a pipeline; false: knows none.
using PassParser =
    std::function<bool(llvm::StringRef Name, llvm::ModulePassManager &)>;

/// What is compiled at -O0 asks for no optimisation at all, function by
/// function; a pipeline that is asked for wants it.
void allowOptimisation(llvm::Module &M);

/// From here on pipelines of this process may name passes that LLVM has not.
/// For benches; not while a pipeline runs.
void addPassParser(PassParser Parser);

/// Runs passes that know no target.
void runPasses(llvm::Module &M, llvm::ModulePassManager Manager);

/// What the target does to a fresh module at the start of a pipeline, before a
/// plugin sees it (device code: nvvm-reflect).
Error startPipeline(llvm::Module &M, llvm::TargetMachine &Machine,
                    const std::string &Level);

/// The printed default pipeline of a level, as a starting point for edits.
Expected<std::string> printDefaultPipeline(const llvm::Module &M,
                                           llvm::TargetMachine &Machine,
                                           const std::string &Level);

} // namespace r3::ir
