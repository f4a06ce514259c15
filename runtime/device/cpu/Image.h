// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an object file for the CPU device says about its kernel, in a section
// of its own. Grammar (Bytes.h encodings):
//   section    := "R3CPUKN\0" u32 version(1)  string kernel
//                 u32 argumentBytes, staticShared, stackBytes, localBytes,
//                     maxThreads, flags
//                 list<parameter>  list<global>
//   parameter  := u32 offset, size
//   global     := string name  u64 size, align
// The kernel's entry is the symbol of the kernel's name, a
// void(ThreadContext *, const uint8_t *arguments). Globals are undefined
// symbols; the image of their first value is the symbol InitPrefix + name.
// A kernel name that is empty: only globals, and functions that they point to.
#pragma once

#include "runtime/device/cpu/CpuEngine.h"
#include "runtime/support/Error.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace r3::cpu {

inline constexpr const char *ImageSection = ".r3.kernel";
inline constexpr const char *InitPrefix = "__r3_init.";

struct ImageGlobal {
  std::string Name;
  uint64_t Size = 0;
  uint64_t Align = 1;
};

struct KernelImage {
  enum : uint32_t {
    NeedsFibers = 1, // threads of a block must be able to wait
    ChecksBounds = 2,
  };
  std::string Kernel;
  uint32_t ArgumentBytes = 0;
  uint32_t StaticShared = 0;
  uint32_t StackBytes = 0; // that a thread may need
  uint32_t LocalBytes = 0; // of its own variables
  uint32_t MaxThreads = MaxThreadsPerBlock;
  uint32_t Flags = 0;
  std::vector<Parameter> Parameters;
  std::vector<ImageGlobal> Globals;

  std::vector<uint8_t> serialize() const;
  static Expected<KernelImage> parse(std::span<const uint8_t> Bytes);
};

} // namespace r3::cpu
