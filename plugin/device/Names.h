// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of kernels for people, from their mangled names.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace r3::plugin {

/// "stencil3d<double>": no parameters, no anonymous namespace; a lambda is
/// "run::lambda". The name itself where it is not mangled.
std::string displayName(llvm::StringRef Name);
/// The same for a variable.
std::string variableName(llvm::StringRef Name);
/// The function that a kernel belongs to: that around the first lambda of its
/// name, else the kernel's own, without template arguments.
std::string enclosingFunction(llvm::StringRef Name);

} // namespace r3::plugin
