// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variables of float that are not in registers (arrays with a changing index),
// as double (Double.h).
#pragma once

#include "llvm/IR/Function.h"

namespace r3::instrument {

/// Those of which F sees every use, each a load or store of one float, or a
/// fill with zeros. Loads then truncate and stores extend.
void widenVariables(llvm::Function &F);

} // namespace r3::instrument
