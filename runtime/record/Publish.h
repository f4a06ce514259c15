// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last step of a record, on a writer thread: unit descriptor, module and
// image into the store (once), then the manifest under its name; then the
// manifest that had this place before is deleted.
#pragma once

#include "runtime/record/Kernel.h"
#include "runtime/support/Recording.h"
#include "runtime/support/Store.h"

namespace r3::record {

/// WithImage: the program's own device code too (fills Out.Image). Replaced:
/// an older recording had the place and is gone.
Error writeRecording(const Store &Files, const LoadedUnit &Unit, Recording &Out,
                     bool WithImage, KeptRecording &Place, bool &Replaced);

} // namespace r3::record
