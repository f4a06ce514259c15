// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instrumented builds by name: "trace" is the request of the compile
// worker, "r3-trace" the pass of opt.
#pragma once

#include "plugin/instrument/Trace.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace r3::instrument {

struct BuildKind {
  const char *Name;
  /// Whether variables are to be put into registers before Add (SROA).
  bool InRegisters;
  /// Whether the pipeline of the plain build is to be run before Add.
  bool Optimised;
  /// Libdevice: CUDA's library as bitcode; may be empty. TraceInfo: empty for
  /// builds other than the traced and the counting one.
  Expected<TraceInfo> (*Add)(llvm::Module &M,
                             llvm::ArrayRef<uint8_t> Libdevice);
};

llvm::ArrayRef<BuildKind> buildKinds();

/// Usage, with all names, where there is none of this name.
Expected<const BuildKind *> findBuildKind(llvm::StringRef Name);

} // namespace r3::instrument
