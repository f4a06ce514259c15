// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The files that the device child may still open when its device is open.
#pragma once

#include "runtime/support/Confine.h"

namespace r3::replay {

/// To read: what belongs to the system and to installed software, where the
/// driver finds more of its libraries. To write: devices, shared memory, and
/// the driver's cache of translated code. Of both nothing that lies in the
/// store, or leads to it.
FileAccess deviceFiles(const std::string &StorePath);

} // namespace r3::replay
