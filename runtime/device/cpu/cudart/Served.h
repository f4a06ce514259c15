// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the served functions have in common: their declarations, the engine
// that they build on, and the state that CUDA keeps for a process and for a
// thread. A served function returns its result and nothing else; its entry
// (Served.cpp) reports an earlier fault first and keeps the last error.
#pragma once

#include "runtime/device/cpu/CpuEngine.h"

#include <cuda_runtime_api.h>

#include <map>
#include <mutex>
#include <set>
#include <string>

// Attributes of CUDA's own declarations (deprecated ones are served too).
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace r3::cudart {

// One declaration a row, with the type of CUDA's function.
#define R3_SERVED(Name) decltype(::cuda##Name) served##Name;
#define R3_SERVED_OWN(Name, Suffix)                                            \
  decltype(::cuda##Name) served##Name##_##Suffix;
#include "runtime/device/cpu/cudart/Served.def"

//===-- Errors ------------------------------------------------------------===//

/// The code of the device's fault; success where there is none.
cudaError_t faultCode();
/// The code for an error of the engine: the fault's, or by kind, or Otherwise.
cudaError_t codeOf(const Error &Failure, cudaError_t Otherwise);
/// Keeps the calling thread's last error.
cudaError_t note(cudaError_t Code);
/// One line on stderr, once for each text; nothing with R3_QUIET.
void sayOnce(const std::string &Text);

//===-- State of the process ----------------------------------------------===//

/// What the program set for a kernel.
struct FunctionState {
  uint32_t MaxDynamicShared = 0;
  uint32_t Carveout = 0xffffffffu;
  uint8_t CacheConfig = 0;
};

struct MemoryPool {
  uint64_t ReleaseThreshold = 0;
  int Reuse[3] = {1, 1, 1};
  uint64_t Used = 0, UsedHigh = 0;
};

/// cudaMemAdvise's word on a range, which begins where the key says.
struct Advice {
  bool ReadMostly = false;
  bool AccessedByDevice = false;
  cudaMemLocation Preferred{};
  cudaMemLocation Prefetched{};
};

struct State {
  std::mutex Mutex;
  std::map<const void *, FunctionState> Functions; // by stub
  std::set<Address> Allocations;                   // for cudaDeviceReset
  std::map<Address, std::pair<MemoryPool *, uint64_t>> PoolAllocations;
  std::set<MemoryPool *> Pools;
  MemoryPool DefaultPool;
  MemoryPool *CurrentPool = &DefaultPool;
  std::map<Address, Advice> Advised;
  std::set<cudaStream_t> Streams;
  std::map<std::pair<cudaStream_t, int>, cudaStreamAttrValue> StreamAttributes;
  std::map<cudaEvent_t, unsigned> Events; // flags
  std::map<int, size_t> Limits;
  unsigned DeviceFlags = 0;
  cudaFuncCache CacheConfig = cudaFuncCachePreferNone;
  cudaSharedMemConfig SharedConfig = cudaSharedMemBankSizeDefault;

  static State &get();
};

inline cpu::Engine &engine() { return cpu::Engine::get(); }

//===-- Memory and streams ------------------------------------------------===//

/// MemoryBlock::Tag of the program's device memory. Of pinned and registered
/// memory it holds the flags.
enum MemoryTag : uint32_t { TagDevice, TagManaged, TagPool };

inline Address addressOf(const void *Where) {
  return reinterpret_cast<Address>(Where);
}
inline void *pointerTo(Address Where) {
  return reinterpret_cast<void *>(Where);
}

/// Whether the device may touch [Where, Where+Size) (one known allocation).
bool isKnown(const void *Where, size_t Size);
/// Whether it is host memory that the device does not know.
bool isPageable(const void *Where);

/// success, or what an unknown stream is.
cudaError_t checkStream(cudaStream_t Stream);

} // namespace r3::cudart
