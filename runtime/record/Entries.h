// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of entry functions that instrumented images call: 2*i is row i of
// CudaApi.def, 2*i+1 its per-thread-default-stream form.
#pragma once

#include <cstddef>
#include <cstdint>

namespace r3::record {

/// A table of at least EntryCount entries; rows that this runtime does not
/// know are null (the image then calls its own function). Never freed.
const void *const *entryTable(uint32_t EntryCount);

} // namespace r3::record
