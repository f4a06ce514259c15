// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All live allocations of the process that the device can reach, in address
// order. Filled by the intercepted allocation functions. May be used from any
// thread.
#pragma once

#include "runtime/device/Device.h"

#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace r3::record {

struct Allocation {
  Address Begin = 0;
  uint64_t Size = 0;
  MemoryKind Kind = MemoryKind::Device;
  int Ordinal = 0;       // CUDA device that was current
  bool Imported = false; // from another process or an external library
  std::string Global;    // Kind == Global: its name

  Address end() const { return Begin + Size; }
  bool operator==(const Allocation &) const = default;
};

class Allocations {
public:
  /// Takes the place of whatever overlaps it (frees that were not seen).
  void add(const Allocation &New);
  /// The allocation that begins at Begin, where there is one.
  std::optional<Allocation> remove(Address Begin);
  /// All of one device (cudaDeviceReset); host memory goes with its device.
  void removeDevice(int Ordinal);
  /// The one that contains Where.
  std::optional<Allocation> find(Address Where) const;
  std::vector<Allocation> snapshot() const;
  uint64_t liveBytes() const;

private:
  mutable std::mutex Lock;
  std::map<Address, Allocation> ByAddress;
  uint64_t Live = 0;
};

} // namespace r3::record
