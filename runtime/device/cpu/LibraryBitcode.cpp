// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Embeds the file named by R3_DEVICE_LIBRARY (set by CMake).
#include "runtime/device/cpu/LibraryBitcode.h"

asm(".pushsection .rodata\n"
    ".balign 16\n"
    ".hidden __r3_device_library\n"
    ".globl __r3_device_library\n"
    "__r3_device_library:\n"
    ".incbin \"" R3_DEVICE_LIBRARY "\"\n"
    ".hidden __r3_device_library_end\n"
    ".globl __r3_device_library_end\n"
    "__r3_device_library_end:\n"
    ".byte 0\n"
    ".popsection\n");

extern "C" {
extern const uint8_t __r3_device_library[];
extern const uint8_t __r3_device_library_end[];
}

namespace r3::cpu {

std::span<const uint8_t> libraryBitcode() {
  return {__r3_device_library, __r3_device_library_end};
}

} // namespace r3::cpu
