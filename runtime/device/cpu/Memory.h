// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device memory of the CPU device. Ordinary allocations lie in arenas, one a
// use, each in a range of addresses of its own far from where the system puts
// things; what is allocated in the same order has the same addresses in every
// run (Internal and Global: drawn anew for each process, so that they never
// stand where a recording wants to be). Memory at wanted addresses is mapped
// from descriptors that other processes can hold.
#pragma once

#include "runtime/device/cpu/CpuEngine.h"

#include <map>
#include <mutex>

namespace r3::cpu {

class Memory {
public:
  Memory();

  Expected<Address> allocate(uint64_t Size, MemoryUse Use, uint32_t Tag);
  Error free(Address Where);
  std::optional<MemoryBlock> find(Address Where) const;
  Error registerHost(Address Where, uint64_t Size, uint32_t Tag);
  Error unregisterHost(Address Where);
  uint64_t totalBytes() const { return Total; }
  uint64_t freeBytes() const;

  Expected<Address> reserve(Address Wanted, uint64_t Size);
  Error unreserve(Address Where, uint64_t Size);
  Expected<MemoryHandle> createMemory(uint64_t Size);
  Error releaseMemory(MemoryHandle Handle);
  Expected<int> exportMemory(MemoryHandle Handle);
  Expected<MemoryHandle> importMemory(int Fd, uint64_t Size);
  Error map(Address Where, uint64_t Size, MemoryHandle Handle);
  Error protect(Address Where, uint64_t Size, MemoryAccess Access);
  Error unmap(Address Where, uint64_t Size);

  /// Limits what bounds-checked kernels may touch in mapped memory.
  void limitAccess(std::span<const AddressRange> Ranges);
  /// All that a kernel may touch, sorted and joined.
  std::vector<AddressRange> accessible() const;

private:
  struct Arena {
    Address Next = 0; // of the next chunk
    std::map<Address, uint64_t> Free;
  };
  struct Physical {
    int Fd = -1;
    uint64_t Size = 0;
  };

  mutable std::mutex Mutex;
  Arena Arenas[4]; // Program, Pinned, Internal, Global
  std::map<Address, MemoryBlock> Blocks;
  std::map<Address, MemoryBlock> Registered;
  std::map<Address, uint64_t> Reservations;
  std::map<MemoryHandle, Physical> Physicals;
  std::vector<AddressRange> Limits;
  MemoryHandle NextHandle = 1;
  uint64_t Total = 0;
  uint64_t Used = 0;

  Error grow(Arena &A, uint64_t Size);
  Expected<Address> take(Arena &A, uint64_t Size);
  bool isReserved(Address Where, uint64_t Size) const;
};

} // namespace r3::cpu
