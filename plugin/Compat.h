// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The LLVM that R3 is written for. Differences between versions are bridged
// here and nowhere else.
#pragma once

#include "llvm/Config/llvm-config.h"

#if LLVM_VERSION_MAJOR != 22
#error "R3 is written for LLVM 22"
#endif

// Moved out of llvm/Passes/ in LLVM 22.
#include "llvm/Plugins/PassPlugin.h"
