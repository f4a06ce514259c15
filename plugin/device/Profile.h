// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of the committed profile that concerns one device compile.
#pragma once

#include "plugin/Compilation.h"
#include "runtime/support/Profile.h"
#include "runtime/support/Unit.h"

#include "llvm/IR/Module.h"

#include <map>
#include <string>
#include <vector>

namespace r3::plugin {

/// Variants by kernel name, as the unit's header names them.
struct UnitProfile {
  std::map<std::string, Variant> Gpu; // change the code that is compiled
  std::map<std::string, Variant> Cpu; // annotate the embedded code
};

/// Reads the folders that the unit's header names and matches them with the
/// kernels of U by key and fingerprint. Entries that do not fit (stale, other
/// device) are left out and said.
UnitProfile readProfile(const Compilation &C, const Unit &U,
                        const std::string &Arch, llvm::Module &M);

/// Puts the variants for the CPU device into the embedded copy: attribute
/// "r3-variant" of the kernel.
void annotate(llvm::Module &Snapshot, const UnitProfile &Profile);

/// Derives the tuned code of each kernel from the unoptimised module Bitcode
/// and puts it in place of the kernel's body in M, which is past its last
/// pass. What fails leaves that kernel as it was, and is said.
void applyProfile(const Compilation &C, const UnitProfile &Profile,
                  std::span<const uint8_t> Bitcode, const std::string &Level,
                  llvm::Module &M);

} // namespace r3::plugin
