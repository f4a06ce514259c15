// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The digest of a kernel's code in a binary: what two variants with the same
// one have in common is everything that runs. CUDA: section .text.KERNEL of
// the cubin, and the kernel's literal pool .nv.constant2.KERNEL where ptxas
// made one. Other ELF files: all sections of code and read-only data, with
// the relocations that apply to them.
#pragma once

#include "runtime/support/Digest.h"
#include "runtime/support/Error.h"

#include <span>
#include <string>
#include <vector>

namespace r3::replay {

struct ElfSection {
  std::string Name;
  uint32_t Type = 0;
  uint64_t Flags = 0;
  uint32_t Info = 0;
  std::span<const uint8_t> Bytes; // empty for SHT_NOBITS
};

/// Sections of a 64-bit little-endian ELF file; views into it.
Expected<std::vector<ElfSection>> elfSections(std::span<const uint8_t> File);

/// The cubin of an architecture ("sm_90") in a fatbinary; a view into it. A
/// cubin is its own. NotFound where there is none, or a compressed one.
Expected<std::span<const uint8_t>> cubinIn(std::span<const uint8_t> Image,
                                           const std::string &Arch);

/// NotFound where a cubin has no code of that kernel.
Expected<Digest> codeDigest(std::span<const uint8_t> File,
                            const std::string &Kernel);

} // namespace r3::replay
