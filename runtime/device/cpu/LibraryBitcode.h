// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device code library (code/) as bitcode, embedded when R3 is built.
#pragma once

#include <cstdint>
#include <span>

namespace r3::cpu {

std::span<const uint8_t> libraryBitcode();

} // namespace r3::cpu
