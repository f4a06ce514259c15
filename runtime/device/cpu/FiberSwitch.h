// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tells AddressSanitizer which stack a jump leads to; nothing in other builds.
#pragma once

#include "runtime/device/Device.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace r3::cpu {

/// Called before a jump to code that runs on To.
inline void beforeJump([[maybe_unused]] const AddressRange &To) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(nullptr, reinterpret_cast<void *>(To.Begin),
                                 To.Size);
#endif
}

/// Called first where a jump arrives.
inline void afterJump() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
}

/// Forgets what the last user of a stack left behind.
inline void renewStack([[maybe_unused]] const AddressRange &Stack) {
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(reinterpret_cast<void *>(Stack.Begin),
                                Stack.Size);
#endif
}

/// The stack of the calling processor thread.
AddressRange threadStack();

} // namespace r3::cpu
