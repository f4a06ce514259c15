// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Many pieces of files into device memory: several threads, each with a stream
// and two pinned buffers of its own, read ahead while the device copies. The
// buffers stay for the next call (pinning is slow).
#pragma once

#include "runtime/device/Device.h"

#include <memory>
#include <span>
#include <vector>

namespace r3::replay {

/// Size bytes at FileOffset of Fd go to device address To.
struct CopyJob {
  int Fd = -1;
  uint64_t FileOffset = 0;
  uint64_t Size = 0;
  Address To = 0;
};

class Copier {
public:
  explicit Copier(Device &D);
  ~Copier();
  /// All bytes have arrived on return.
  Error copy(std::span<const CopyJob> Jobs);

private:
  struct Lane;
  Expected<Lane *> lane(size_t Index);
  Device &D;
  std::vector<std::unique_ptr<Lane>> Lanes;
};

/// Reads exactly Size bytes.
Error readAt(int Fd, void *To, uint64_t Size, uint64_t Offset);
/// Copies between files.
Error copyBetweenFiles(int From, uint64_t FromOffset, int To, uint64_t ToOffset,
                       uint64_t Size);

} // namespace r3::replay
