// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CPU device from the inside: what the served CUDA runtime calls (cudart/)
// build on. One engine a process; it is also the Device that openCpuDevice
// gives. It adds to Device what a program needs and a recorder does not:
// blocking streams, waiting, memory kinds, kernels by stub and globals by
// shadow variable.
//
// Everything runs in this process, in one address space: a device pointer is
// an ordinary pointer, and kernels can also read ordinary host memory.
//
// Streams: each has a thread of its own, which runs its work in order. Work is
// a kernel, a copy or any function (enqueue). Work on the legacy default
// stream waits for all earlier work of blocking streams, and they for it, as
// in CUDA. Handles 0 and 1 are the legacy stream, 2 the calling thread's own
// default stream.
//
// Faults: a kernel that traps, fails an assertion or deadlocks ends, and the
// fault is kept; later kernels of the same process are refused with its
// message where faults are sticky (in programs: after the first addUnit), and
// run where they are not (in a replay, where fault() clears it).
//
// All functions may be called from any thread.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/device/cpu/CpuAbi.h"

#include <functional>
#include <optional>

namespace r3::cpu {

inline constexpr uint32_t WarpSize = 32;
inline constexpr uint32_t MaxThreadsPerBlock = 1024;
inline constexpr Dim3 MaxBlock{1024, 1024, 64};
inline constexpr Dim3 MaxGrid{0x7fffffffu, 65535, 65535};
inline constexpr uint32_t MaxThreadsPerMultiprocessor = 2048;
inline constexpr uint32_t DefaultSharedBytes = 48 * 1024;
inline constexpr uint32_t MaxSharedBytes = 227 * 1024;
inline constexpr uint32_t ConstantBytes = 64 * 1024;
/// Largest argument block of a launch.
inline constexpr uint32_t MaxArgumentBytes = 32764;

/// Where an allocation comes from. Each use has an address range of its own,
/// so that what R3 allocates never moves what the program allocates.
/// Addresses of Program and Pinned are the same in every run that allocates
/// in the same order.
enum class MemoryUse : uint8_t {
  Program,  // cudaMalloc, cudaMallocManaged, pools
  Pinned,   // cudaMallocHost, cudaHostAlloc
  Internal, // Device::allocate
  Global,   // module globals
  Mapped,   // Device::map
  Register, // host memory registered by registerHost
};

struct MemoryBlock {
  Address Begin = 0;
  uint64_t Size = 0; // as asked for
  MemoryUse Use = MemoryUse::Program;
  uint32_t Tag = 0; // the caller's (cudart: managed, pool, host flags, ...)
};

/// Place of a parameter in the raw argument bytes.
struct Parameter {
  uint32_t Offset = 0;
  uint32_t Size = 0;
};

/// A kernel; a KernelHandle of the CPU device points to one. Valid until its
/// unit or module goes. Kernels of units are compiled at their first launch.
class Kernel {
public:
  virtual ~Kernel() = default;
  virtual const std::string &name() const = 0;
  /// One entry a parameter of the kernel, in order.
  virtual const std::vector<Parameter> &parameters() const = 0;
  /// Bytes of the argument block.
  virtual uint32_t argumentBytes() const = 0;
};

/// How a launch failed before anything ran, for cudart's error codes.
enum class LaunchProblem : uint8_t {
  None,
  Configuration, // grid, block or cooperative size:
                 // cudaErrorInvalidConfiguration
  Shared,        // too much shared memory: cudaErrorInvalidValue
  Resources,     // more threads than the kernel's bounds
  Unsupported,   // the CPU device cannot run the kernel: message says why
  Fault,         // an earlier kernel left a sticky fault
};

class Engine : public Device {
public:
  /// The process's engine, made at the first call (R3_CPU_THREADS is read).
  static Engine &get();

  // --- Memory. Sizes of 0 are refused.

  virtual Expected<Address> allocateBlock(uint64_t Size, MemoryUse Use,
                                          uint32_t Tag) = 0;
  /// NotFound where Where is not the beginning of an allocation.
  virtual Error freeBlock(Address Where) = 0;
  /// The allocation or registration that contains Where.
  virtual std::optional<MemoryBlock> findBlock(Address Where) const = 0;
  virtual Error registerHost(void *Where, uint64_t Size, uint32_t Tag) = 0;
  virtual Error unregisterHost(void *Where) = 0;
  /// Bytes that can still be allocated.
  virtual uint64_t freeBytes() const = 0;

  // --- Streams and events (beyond Device's).

  virtual Expected<StreamHandle> createStreamWith(bool NonBlocking,
                                                  int Priority) = 0;
  /// Whether Stream is a default stream or a live one.
  virtual bool isStream(StreamHandle Stream) const = 0;
  virtual bool isNonBlocking(StreamHandle Stream) const = 0;
  virtual int priority(StreamHandle Stream) const = 0;
  /// Runs Work after all earlier work of the stream, on the stream's thread.
  /// Work must not wait for the device.
  virtual Error enqueue(StreamHandle Stream, std::function<void()> Work) = 0;
  /// Waits until the stream's work so far (all streams' work) is done. Gives
  /// the fault's error where there is one.
  virtual Error synchronizeStream(StreamHandle Stream) = 0;
  virtual Error synchronizeDevice() = 0;
  /// Whether all work so far is done; never blocks.
  virtual Expected<bool> queryStream(StreamHandle Stream) = 0;
  virtual bool isEvent(EventHandle Event) const = 0;
  /// Whether record was ever called on it.
  virtual bool isRecorded(EventHandle Event) const = 0;
  virtual Error synchronizeEvent(EventHandle Event) = 0;

  // --- Units of the program.

  virtual void addUnit(const CpuUnit &Unit) = 0;
  virtual void removeUnit(const void *Id) = 0;
  /// The kernel that the program launches by Stub; null where no unit has it.
  /// Error: its unit's device code does not parse or lacks the kernel.
  virtual Expected<Kernel *> kernelOf(const void *Stub) = 0;
  /// Compiles the kernel now where it is not yet compiled.
  virtual Error prepare(Kernel &K) = 0;
  /// Storage of the device variable behind a shadow variable; nothing
  /// (NotFound) where no unit has it.
  virtual Expected<AddressRange> globalByShadow(const void *HostVariable) = 0;

  // --- Launches.

  /// As Device::launch; Problem says how the launch was refused.
  virtual Error launchKernel(Kernel &K, const LaunchConfig &Config,
                             std::span<const uint8_t> Arguments,
                             StreamHandle Stream, LaunchProblem &Problem) = 0;
  /// Blocks of a kernel that a cooperative launch can have at most.
  virtual uint32_t maxCooperativeBlocks(uint32_t ThreadsPerBlock) const = 0;

  // --- Faults.

  /// The fault, without clearing it; Kind Ok where there is none.
  virtual DeviceFault peekFault() const = 0;
  /// cudaDeviceReset: forgets the fault, sticky or not.
  virtual void clearFault() = 0;
};

} // namespace r3::cpu
