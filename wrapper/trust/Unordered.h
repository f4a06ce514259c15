// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffers whose records may come in any order, as threads leave them that take
// their places from a counter: compared as multisets, that is, sorted.
#pragma once

#include <cstdint>
#include <span>

namespace r3::trust {

/// Sorts the records of Size bytes by their bytes from the last one on, which is
/// by size for unsigned integers and positive floating-point numbers; a rest
/// that is no whole record stays at the end. Size: not 0.
void sortRecords(std::span<uint8_t> Bytes, uint64_t Size);

} // namespace r3::trust
