// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A device that kernels run on: memory at wanted addresses, modules, launches,
// streams, queried events, digests and pointer scans. Two implementations:
// cuda/ (driver API, opened at run time) and cpu/ (the embedded device code on
// this machine's processor). The recorder and the device child use nothing
// else, so both work on both.
//
// Addresses are those that kernels see. Sizes are bytes. Work on a stream runs
// in order and asynchronously; a pointer to host memory handed to a stream
// must stay valid until the work is done, and be pinned (allocateHost) where
// speed matters. Objects are owned by the Device that made them and must be
// released before it. All functions may be called from any thread; one object
// is used by one thread at a time.
#pragma once

#include "runtime/support/Digest.h"
#include "runtime/support/Error.h"
#include "runtime/support/LaunchMap.h"
#include "runtime/support/Measurement.h"
#include "runtime/support/Outcome.h"
#include "runtime/support/Recording.h"
#include "runtime/support/Sketch.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace r3 {

using Address = uint64_t;

struct AddressRange {
  Address Begin = 0;
  uint64_t Size = 0;
};

enum class MemoryAccess { None, Read, ReadWrite };

/// CUstream of the CUDA device (0, 1 and 2 are its default streams); on the
/// CPU device an opaque handle with the same three default streams.
using StreamHandle = void *;
using EventHandle = void *;
/// A kernel of a loaded module.
using KernelHandle = void *;
/// Physical memory that can be exported to another process.
using MemoryHandle = uint64_t;

/// What the compiler and the driver say about a kernel.
struct KernelInfo {
  uint32_t Registers = 0;
  uint32_t StaticShared = 0;
  uint32_t LocalBytes = 0;
  uint32_t MaxThreads = 0;
  uint32_t MaxDynamicShared = 0;
};

/// A loaded module; unloaded by the destructor.
class DeviceModule {
public:
  virtual ~DeviceModule() = default;
  virtual Expected<KernelHandle> kernel(const std::string &Name) = 0;
  virtual Expected<AddressRange> global(const std::string &Name) = 0;
};

/// Why the device stopped working, as an outcome of an evaluation.
struct DeviceFault {
  Outcome Kind = Outcome::Ok;
  std::string Message;
  bool Sticky = false; // the process must be replaced
};

class Device {
public:
  virtual ~Device() = default;

  virtual DeviceIdentity identity() const = 0;
  /// What it can launch of any kernel; what a kernel limits is in its info.
  virtual LaunchLimits limits() const { return {}; }
  /// Granularity of reserve and createMemory (CUDA: 2 MiB; addresses that are
  /// wanted must be multiples of reserveAlignment: 32 MiB).
  virtual uint64_t granularity() const = 0;
  virtual uint64_t reserveAlignment() const = 0;

  // --- Memory at wanted addresses.

  /// Reserves [Wanted, Wanted+Size); an error where exactly that is not to be
  /// had. Wanted 0: anywhere.
  virtual Expected<Address> reserve(Address Wanted, uint64_t Size) = 0;
  virtual Error unreserve(Address Where, uint64_t Size) = 0;
  /// New physical memory. OutOfMemory is ErrorCode::NoSpace.
  virtual Expected<MemoryHandle> createMemory(uint64_t Size) = 0;
  virtual Error releaseMemory(MemoryHandle Memory) = 0;
  /// A descriptor that keeps the memory alive in whoever holds it; the caller
  /// owns it.
  virtual Expected<int> exportMemory(MemoryHandle Memory) = 0;
  virtual Expected<MemoryHandle> importMemory(int Fd, uint64_t Size) = 0;
  /// Maps all of Memory (Size bytes) readable and writable.
  virtual Error map(Address Where, uint64_t Size, MemoryHandle Memory) = 0;
  /// The range must consist of whole mappings, or of multiples of
  /// protectionUnit where that is not 0 (CUDA).
  virtual Error protect(Address Where, uint64_t Size, MemoryAccess Access) = 0;
  virtual uint64_t protectionUnit() const = 0;
  virtual Error unmap(Address Where, uint64_t Size) = 0;

  // --- Ordinary memory.

  virtual Expected<Address> allocate(uint64_t Size) = 0;
  virtual Error free(Address Where) = 0;
  /// Pinned host memory.
  virtual Expected<void *> allocateHost(uint64_t Size) = 0;
  virtual Error freeHost(void *Where) = 0;
  /// The allocation that contains Where, as the driver knows it; NotFound
  /// where it is no device memory.
  virtual Expected<AddressRange> allocationOf(Address Where) = 0;

  // --- Streams and events.

  virtual Expected<StreamHandle> createStream() = 0; // non-blocking
  virtual Error destroyStream(StreamHandle Stream) = 0;
  virtual Expected<EventHandle> createEvent(bool Timing) = 0;
  virtual Error destroyEvent(EventHandle Event) = 0;
  virtual Error record(EventHandle Event, StreamHandle Stream) = 0;
  virtual Error wait(StreamHandle Stream, EventHandle Event) = 0;
  /// Whether all work before the event has completed; never blocks.
  virtual Expected<bool> query(EventHandle Event) = 0;
  virtual Expected<double> elapsedMs(EventHandle Begin, EventHandle End) = 0;

  virtual Error copyToHost(void *To, Address From, uint64_t Size,
                           StreamHandle Stream) = 0;
  virtual Error copyToDevice(Address To, const void *From, uint64_t Size,
                             StreamHandle Stream) = 0;
  virtual Error copy(Address To, Address From, uint64_t Size,
                     StreamHandle Stream) = 0;
  virtual Error fill(Address Where, uint8_t Byte, uint64_t Size,
                     StreamHandle Stream) = 0;
  /// Fills Rows stretches of Width bytes that begin Pitch bytes apart.
  virtual Error fillRows(Address Where, uint64_t Pitch, uint8_t Byte,
                         uint64_t Width, uint64_t Rows, StreamHandle Stream) {
    for (uint64_t Row = 0; Row < Rows; ++Row)
      if (Error E = fill(Where + Row * Pitch, Byte, Width, Stream))
        return E;
    return {};
  }

  // --- What recording and verification need.

  /// Leaf hashes (Digest.h) of [Where, Where+Size), ceil(Size/LeafBytes) of
  /// them into Out (host memory; leaves start at Where).
  virtual Error hashLeaves(Address Where, uint64_t Size, LeafHash *Out,
                           StreamHandle Stream) = 0;
  /// Those of several pieces of memory, one behind the other in Out.
  virtual Error hashPieces(std::span<const AddressRange> Pieces, LeafHash *Out,
                           StreamHandle Stream) {
    for (const AddressRange &P : Pieces) {
      if (Error E = hashLeaves(P.Begin, P.Size, Out, Stream))
        return E;
      Out += (P.Size + LeafBytes - 1) / LeafBytes;
    }
    return {};
  }
  /// Sketches of the chunks of [Where, Where+Size), one each into Out (host
  /// memory). Where: a multiple of 16; Form: of the first chunk.
  virtual Error sketchChunks(Address Where, uint64_t Size,
                             const SketchForm &Form, Sketch *Out,
                             StreamHandle) {
    (void)Where, (void)Size, (void)Form, (void)Out;
    return fail(ErrorCode::CannotRunHere, "this device makes no sketches");
  }
  /// For each of Targets (sorted, disjoint): sets Out[i] to 1 where a word of
  /// [Where, Where+Size), at any 4-byte step, holds an address inside it or
  /// one past its end. Out is not cleared.
  virtual Error scanPointers(Address Where, uint64_t Size,
                             std::span<const AddressRange> Targets,
                             uint8_t *Out, StreamHandle Stream) = 0;
  /// Writes, then reads, twice the L2 cache of other memory.
  virtual Error flushCache(StreamHandle Stream) = 0;

  // --- What timing needs. The default forms are for devices that are not
  // timed.

  /// Holds what is put into Stream from here on until release() has set *Word
  /// to Value or beyond. Word: in memory of allocateHost. Nothing that waits
  /// for the stream, allocates, frees or loads may be called before.
  virtual Error hold(StreamHandle, uint32_t *Word, uint32_t Value) {
    (void)Word, (void)Value;
    return fail(ErrorCode::CannotRunHere, "this device cannot hold a stream");
  }
  static void release(uint32_t *Word, uint32_t Value);
  /// A kernel without arguments that does nothing, to be launched in any shape:
  /// what a launch itself costs. Owned by the device.
  virtual Expected<KernelHandle> emptyKernel() {
    return fail(ErrorCode::CannotRunHere, "this device has no empty kernel");
  }
  /// The clocks of now, and what holds them back.
  virtual Expected<ClockSample> clocks() {
    return fail(ErrorCode::CannotRunHere, "this device has no clocks to read");
  }
  /// Reads all of [Where, Where+Size) Times times with all processors, past
  /// caches that only one of them has.
  virtual Error readRepeatedly(Address Where, uint64_t Size, uint32_t Times,
                               StreamHandle) {
    (void)Where, (void)Size, (void)Times;
    return fail(ErrorCode::CannotRunHere, "this device's rates are not known");
  }
  enum class Arithmetic { Float, Double, Half };
  /// Multiply-adds on all processors that wait for nothing; the number of
  /// operations (two each) grows with Rounds. Half: in pairs.
  virtual Expected<double> multiplyAdd(Arithmetic, uint32_t Rounds,
                                       StreamHandle) {
    (void)Rounds;
    return fail(ErrorCode::CannotRunHere, "this device's rates are not known");
  }

  // --- Code.

  /// CUDA: cubin, fatbinary or PTX text. CPU: object file made by
  /// compileForCpu. An image that does not load is an error with the log.
  virtual Expected<std::unique_ptr<DeviceModule>>
  load(std::span<const uint8_t> Image) = 0;
  virtual Expected<KernelInfo> info(KernelHandle Kernel) = 0;
  /// Launches with the raw parameter bytes. Attributes in Config
  /// (MaxDynamicShared, Carveout, CacheConfig) are set first where they are
  /// not the default. A configuration that the kernel cannot run with is an
  /// error, and the device stays usable.
  virtual Error launch(KernelHandle Kernel, const LaunchConfig &Config,
                       std::span<const uint8_t> Arguments,
                       StreamHandle Stream) = 0;
  /// Makes the shared memory of the next launch on Stream, and LocalBytes of
  /// the local memory of each of its threads, hold Byte where the kernel has
  /// not written it, as far as the device lets that be done from outside
  /// (docs/LIMITATIONS.md). Nothing else may be put into Stream in between. The
  /// default form is for devices that have no such memory.
  virtual Error fillScratch(uint8_t Byte, uint32_t LocalBytes, StreamHandle) {
    (void)Byte, (void)LocalBytes;
    return {};
  }
  /// The fault behind the last failed call or query.
  virtual DeviceFault fault() = 0;
  /// What kernels that are built with bounds checks (Compile.h) may access in
  /// mapped memory: exactly Ranges, where mappings are larger than what was
  /// recorded. Empty: all that is mapped. Allocations and module globals may
  /// always be accessed. Devices without such checks ignore it.
  virtual void limitAccess(std::span<const AddressRange> Ranges) {
    (void)Ranges;
  }

  // --- Inside a program that uses the same device (the recorder). The default
  // forms are for devices to which the question does not apply.

  /// Whether the calling thread's current context is this device's.
  virtual bool isCurrent() { return true; }
  /// Whether a graph is being captured on Stream, by whomever.
  virtual bool isCapturing(StreamHandle) { return false; }
  /// Records Event behind everything that was issued to the legacy default
  /// stream, without adding an order between the program's own streams (an
  /// event in the legacy stream itself would make later work of all blocking
  /// streams wait for all of them). CUDA: in a blocking stream of its own.
  virtual Error recordLegacy(EventHandle Event) {
    return record(Event, nullptr);
  }
  /// The global Name of the module that a kernel of the program is in.
  /// Function: on CUDA the CUfunction that cudaGetFuncBySymbol gives; on the
  /// CPU device the host handle (R3KernelEntry::Handle).
  virtual Expected<AddressRange> globalOf(void *Function,
                                          const std::string &Name) {
    (void)Function;
    return fail(ErrorCode::NotFound, "this device cannot look up global %s",
                Name.c_str());
  }

  // --- Helpers on top of the above.

  /// Polls the event until it has completed; Timeout after TimeoutMs.
  Error waitFor(EventHandle Event, uint64_t TimeoutMs);
  /// Records an event on Stream and polls it.
  Error synchronize(StreamHandle Stream, uint64_t TimeoutMs);
  /// Digests of all chunks of [Where, Where+Size), complete on return.
  Expected<std::vector<Digest>> chunkDigests(Address Where, uint64_t Size,
                                             StreamHandle Stream,
                                             uint64_t TimeoutMs);
};

/// Opens CUDA device Ordinal of this process (creates a context of its own:
/// the primary one, retained). CannotRunHere where there is no driver.
Expected<std::unique_ptr<Device>> openCudaDevice(int Ordinal);
/// A Device over the context that is current in the calling thread; leaves
/// the context stack as it is. For the recorder.
Expected<std::unique_ptr<Device>> attachCudaDevice();
/// Loads libr3-cpu.so from the installation and opens its device.
Expected<std::unique_ptr<Device>> openCpuDevice();

} // namespace r3
