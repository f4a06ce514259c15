// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs Kernels.cu on the host: definitions of the device built-ins that it
// uses, with each lane a thread of its own and warps one after the other.
// Shuffles and warp barriers meet at a std::barrier, so a lane that does not
// come along hangs the test, as it would be undefined on a device.
#pragma once

#include <array>
#include <barrier>
#include <cstdint>
#include <thread>
#include <vector>

#define R3_KERNEL [[maybe_unused]] static void
#define R3_DEVICE static inline
#define R3_SHARED static
#define R3_DYNAMIC_SHARED(Type, Name) Type *Name = r3::test::DynamicShared
#define R3_BOUNDS(Threads)
#define R3_CONSTANT const
#define R3_KERNEL_MEMBER

/// Not every compiler for the host has halves.
struct HalfPair {
  float Each = 0;
  HalfPair() = default;
  template <typename T> HalfPair(T Value) : Each(float(Value)) {}
  HalfPair &operator+=(HalfPair Other) {
    Each += Other.Each;
    return *this;
  }
};
inline HalfPair fused(HalfPair A, HalfPair B, HalfPair C) {
  return HalfPair(A.Each * B.Each + C.Each);
}

namespace r3::test {

struct Lane {
  unsigned Thread = 0, Threads = 0, Block = 0, Blocks = 0;
};
inline thread_local Lane Current;
inline std::barrier<> Meeting{32};
inline std::array<int, 32> Exchange;
inline uint32_t DynamicShared[1024];

/// Runs Work as every thread of a grid.
template <typename F>
void runGrid(unsigned Blocks, unsigned Threads, const F &Work) {
  auto RunLane = [&](unsigned LaneNumber) {
    for (unsigned Block = 0; Block < Blocks; ++Block)
      for (unsigned Warp = 0; Warp < Threads / 32; ++Warp) {
        Current = {Warp * 32 + LaneNumber, Threads, Block, Blocks};
        Work();
        // The next warp may use what this one shared.
        Meeting.arrive_and_wait();
      }
  };
  std::vector<std::thread> Lanes;
  for (unsigned I = 0; I < 32; ++I)
    Lanes.emplace_back(RunLane, I);
  for (std::thread &L : Lanes)
    L.join();
}

} // namespace r3::test

inline unsigned __nvvm_read_ptx_sreg_tid_x() {
  return r3::test::Current.Thread;
}
inline unsigned __nvvm_read_ptx_sreg_ntid_x() {
  return r3::test::Current.Threads;
}
inline unsigned __nvvm_read_ptx_sreg_ctaid_x() {
  return r3::test::Current.Block;
}
inline unsigned __nvvm_read_ptx_sreg_nctaid_x() {
  return r3::test::Current.Blocks;
}
inline void __nvvm_bar_warp_sync(unsigned) {
  r3::test::Meeting.arrive_and_wait();
}
inline int __nvvm_shfl_sync_idx_i32(unsigned, int Value, unsigned Source, int) {
  using namespace r3::test;
  Exchange[Current.Thread % 32] = Value;
  Meeting.arrive_and_wait();
  int Result = Exchange[Source % 32];
  Meeting.arrive_and_wait();
  return Result;
}
