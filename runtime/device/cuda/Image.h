// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device images before the driver sees them. The driver takes a bare pointer
// and finds the size itself, so a cut image would make it read past the end;
// here the headers are checked against the bytes that there are.
#pragma once

#include "runtime/support/Error.h"

#include <cstdint>
#include <span>
#include <vector>

namespace r3 {

/// A copy of a cubin, fatbinary or PTX text that cuModuleLoadDataEx can take
/// (aligned; a zero behind it). Damaged where the image is cut or is nothing
/// of the three.
Expected<std::vector<uint8_t>> prepareImage(std::span<const uint8_t> Image);

} // namespace r3
