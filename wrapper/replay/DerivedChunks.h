// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contents of memory that no program had: what a derived launch starts from, in
// an anonymous file of which a device child loads chunks, and what the original
// makes of it, in this process alone.
#pragma once

#include "wrapper/replay/Descriptors.h"

#include "runtime/support/Digest.h"
#include "runtime/support/Error.h"

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace r3::replay {

class DerivedChunks {
public:
  static Expected<DerivedChunks> create();

  Expected<Digest> addInput(std::span<const uint8_t> Bytes);
  Digest addResult(std::vector<uint8_t> Bytes);

  std::optional<std::vector<uint8_t>> read(const Digest &Name) const;
  /// Of an input of this size in file().
  std::optional<uint64_t> offsetOf(const Digest &Name, uint32_t Size) const;
  int file() const { return File.get(); }

private:
  struct Place {
    uint64_t Offset = 0;
    uint32_t Size = 0;
  };
  OwnedFd File;
  uint64_t Bytes = 0;
  std::unordered_map<Digest, Place> Inputs;
  std::unordered_map<Digest, std::vector<uint8_t>> Results;
};

} // namespace r3::replay
