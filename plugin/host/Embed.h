// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the host module of a unit carries for R3: the stub that opens the
// runtime, the unit's table with its constructor, and the unit's section.
#pragma once

#include "plugin/host/Registrations.h"
#include "runtime/support/Error.h"

#include "llvm/IR/Module.h"

#include <cstdint>
#include <span>
#include <string>

namespace r3::plugin {

/// The image's table, for code that comes before the stub.
llvm::GlobalVariable &declareImage(llvm::Module &M);
/// Links the stub in, which defines the table. Each image runs its
/// registration once. After a failure the table is there, and empty: all calls
/// go to the CUDA runtime.
Error linkStub(llvm::Module &M);
/// The unit's table and what registers it.
void emitUnitTable(llvm::Module &M, const Registrations &Found,
                   const std::string &UnitId);
/// The section ".r3.unit." + 16 digits, not loaded at run time.
void emitSection(llvm::Module &M, const std::string &UnitId,
                 std::span<const uint8_t> Bytes);

} // namespace r3::plugin
