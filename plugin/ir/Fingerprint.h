// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fingerprint of a kernel: a digest of its IR closure that does not
// depend on optimisation attributes, debug info, metadata, value names,
// numbering, target CPU, clang's internal suffixes (.intern.HASH,
// __intern__HASH, __static__HASH) and lambda ordinals. Two kernels with the
// same fingerprint do the same.
#pragma once

#include "llvm/IR/Module.h"

#include <string>

namespace r3::ir {

/// 32 hex digits. Closure: the kernel's module; its closure and the whole
/// unoptimised module give the same, since only what the kernel reaches counts.
std::string fingerprint(const llvm::Module &Closure,
                        const llvm::Function &Kernel);
/// A name of the device module without what clang and R3 append to make it
/// unique, and without lambda ordinals.
std::string normalisedName(llvm::StringRef Name);
/// The kernel's identity: fingerprint and home ("src/a.cu:main").
std::string kernelKey(const std::string &Fingerprint, const std::string &Home);

} // namespace r3::ir
