// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stacks of the threads of a block, with a page that faults below each. They
// lie at uneven distances, so that the tops of a thousand stacks do not share
// the same few lines of the caches.
#pragma once

#include "runtime/device/Device.h"

#include <cstdint>

namespace r3::cpu {

class StackSet {
public:
  StackSet() = default;
  StackSet(const StackSet &) = delete;
  StackSet &operator=(const StackSet &) = delete;
  ~StackSet();

  /// Makes room for Count stacks of at least Bytes each; false where there is
  /// no memory for them.
  bool provide(uint32_t Count, uint64_t Bytes);
  /// Usable part of stack Index.
  AddressRange stack(uint32_t Index) const;

private:
  Address Where = 0;
  uint64_t Stride = 0, Usable = 0;
  uint32_t Count = 0;
  void release();
};

} // namespace r3::cpu
