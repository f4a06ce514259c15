// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the files behind Unit.h share with each other.
#pragma once

#include "runtime/support/Unit.h"

namespace r3 {

/// Reads the unit at the start of Bytes; Used gets its length. A linker puts
/// equal sections one behind the other where a unit is linked in twice.
Expected<Unit> readUnit(std::span<const uint8_t> Bytes, const std::string &Name,
                        size_t &Used);

} // namespace r3
