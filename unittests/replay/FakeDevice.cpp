// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything is synchronous: a launch has ended when launch() returns.
#include "FakeDevice.h"

#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <map>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

namespace r3::fake {

namespace {

using Clock = std::chrono::steady_clock;
constexpr uint64_t Page = 4096;

struct Arguments {
  float *X, *Y;
  float A;
  int N;
};

float *pointer(Address Where) { return reinterpret_cast<float *>(Where); }

class FakeModule : public DeviceModule {
public:
  explicit FakeModule(std::string Word) : Word(std::move(Word)) {}
  Expected<KernelHandle> kernel(const std::string &Name) override {
    if (Name != "saxpy" && Name != "slow") // two that do the same
      return fail(ErrorCode::NotFound, "no kernel %s", Name.c_str());
    return KernelHandle(this);
  }
  Expected<AddressRange> global(const std::string &Name) override {
    if (Name != "table")
      return fail(ErrorCode::NotFound, "no global %s", Name.c_str());
    return AddressRange{reinterpret_cast<Address>(Table), sizeof(Table)};
  }
  std::string Word;
  unsigned Launches = 0;
  alignas(64) float Table[16] = {};
};

class FakeDevice : public Device {
public:
  explicit FakeDevice(Setup S) : S(std::move(S)) {}

  DeviceIdentity identity() const override {
    DeviceIdentity D;
    D.Backend = "cuda";
    D.Name = "fake";
    D.Arch = "sm_90";
    D.Key = "sm_90 fake";
    D.MemoryBytes = S.MemoryBytes;
    return D;
  }
  uint64_t granularity() const override { return 2 << 20; }
  uint64_t reserveAlignment() const override { return 32 << 20; }

  Expected<Address> reserve(Address Wanted, uint64_t Size) override {
    if (Wanted && takeConflict())
      return fail(ErrorCode::NotFound, "somebody is there");
    void *Got = mmap(reinterpret_cast<void *>(Wanted), Size, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
                         (Wanted ? MAP_FIXED_NOREPLACE : 0),
                     -1, 0);
    if (Got == MAP_FAILED)
      return fail(ErrorCode::NotFound, "mmap fails");
    return reinterpret_cast<Address>(Got);
  }
  Error unreserve(Address, uint64_t) override { return {}; }
  Expected<MemoryHandle> createMemory(uint64_t Size) override {
    // Whoever asks for more has not looked at identity().
    if ((Created += Size) > S.MemoryBytes)
      return fail(ErrorCode::Failed, "over the device's memory");
    const int Fd = memfd_create("fake", MFD_CLOEXEC);
    if (Fd < 0 || ftruncate(Fd, static_cast<off_t>(Size)))
      return fail(ErrorCode::NoSpace, "memfd");
    return static_cast<MemoryHandle>(Fd);
  }
  Error releaseMemory(MemoryHandle) override { return {}; }
  Expected<int> exportMemory(MemoryHandle M) override {
    return dup(static_cast<int>(M));
  }
  Expected<MemoryHandle> importMemory(int Fd, uint64_t) override {
    return static_cast<MemoryHandle>(dup(Fd));
  }
  Error map(Address Where, uint64_t Size, MemoryHandle M) override {
    if (mmap(pointer(Where), Size, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_FIXED, static_cast<int>(M), 0) == MAP_FAILED)
      return fail(ErrorCode::Failed, "map");
    if (Spoils) // only the pool is mapped after a launch
      *reinterpret_cast<uint8_t *>(Where) = 0xEE;
    Spoils = false;
    return {};
  }
  Error protect(Address, uint64_t, MemoryAccess) override { return {}; }
  uint64_t protectionUnit() const override { return 0; }
  Error unmap(Address Where, uint64_t Size) override {
    mmap(pointer(Where), Size, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    return {};
  }

  Expected<Address> allocate(uint64_t Size) override {
    return reinterpret_cast<Address>(std::memset(malloc(Size), 0xCD, Size));
  }
  Error free(Address Where) override {
    ::free(pointer(Where));
    return {};
  }
  Expected<void *> allocateHost(uint64_t Size) override { return malloc(Size); }
  Error freeHost(void *Where) override {
    ::free(Where);
    return {};
  }
  Expected<AddressRange> allocationOf(Address) override {
    return fail(ErrorCode::NotFound, "not here");
  }

  Expected<StreamHandle> createStream() override { return StreamHandle(this); }
  Error destroyStream(StreamHandle) override { return {}; }
  Expected<EventHandle> createEvent(bool) override {
    return EventHandle(new Clock::time_point);
  }
  Error destroyEvent(EventHandle Event) override {
    delete static_cast<Clock::time_point *>(Event);
    return {};
  }
  Error record(EventHandle Event, StreamHandle) override {
    *static_cast<Clock::time_point *>(Event) = Clock::now();
    return {};
  }
  Error wait(StreamHandle, EventHandle) override { return {}; }
  Expected<bool> query(EventHandle) override {
    if (Last.Kind != Outcome::Ok)
      return fail(ErrorCode::Failed, "fault");
    return true;
  }
  Expected<double> elapsedMs(EventHandle Begin, EventHandle End) override {
    return std::chrono::duration<double, std::milli>(
               *static_cast<Clock::time_point *>(End) -
               *static_cast<Clock::time_point *>(Begin))
        .count();
  }
  Error copyToHost(void *To, Address From, uint64_t Size,
                   StreamHandle) override {
    std::memcpy(To, pointer(From), Size);
    return {};
  }
  Error copyToDevice(Address To, const void *From, uint64_t Size,
                     StreamHandle) override {
    std::memcpy(pointer(To), From, Size);
    return {};
  }
  Error copy(Address To, Address From, uint64_t Size, StreamHandle) override {
    std::memcpy(pointer(To), pointer(From), Size);
    return {};
  }
  Error fill(Address Where, uint8_t Byte, uint64_t Size,
             StreamHandle) override {
    std::memset(pointer(Where), Byte, Size);
    return {};
  }
  Error hashLeaves(Address Where, uint64_t Size, LeafHash *Out,
                   StreamHandle) override {
    const auto *Bytes = reinterpret_cast<const uint8_t *>(Where);
    if (Where % 16)
      return fail(ErrorCode::Failed, "a device that needs aligned words");
    for (uint64_t At = 0; At < Size; At += LeafBytes)
      *Out++ = leafHash({Bytes + At, std::min<uint64_t>(LeafBytes, Size - At)});
    return {};
  }
  Error sketchChunks(Address Where, uint64_t Size, const SketchForm &Form,
                     Sketch *Out, StreamHandle) override {
    const auto *Bytes = reinterpret_cast<const uint8_t *>(Where);
    for (uint64_t I = 0; I * ChunkBytes < Size; ++I)
      Out[I] = sketchOf({Bytes + I * ChunkBytes,
                         std::min<uint64_t>(ChunkBytes, Size - I * ChunkBytes)},
                        Form.ofChunk(I));
    return {};
  }
  Error scanPointers(Address, uint64_t, std::span<const AddressRange>,
                     uint8_t *, StreamHandle) override {
    return {};
  }
  Error flushCache(StreamHandle) override { return {}; }
  Error hold(StreamHandle, uint32_t *, uint32_t) override { return {}; }
  Expected<KernelHandle> emptyKernel() override { return KernelHandle(&Empty); }
  Expected<ClockSample> clocks() override { return ClockSample{1980, 3201, 4}; }
  /// Reads 4 MiB in a millisecond from memory, twice as much from the cache.
  Error readRepeatedly(Address, uint64_t Size, uint32_t Times,
                       StreamHandle) override {
    const double Ms = double(Size) * Times / (4 << 20);
    std::this_thread::sleep_for(
        std::chrono::duration<double, std::milli>(Times > 1 ? Ms / 2 : Ms));
    return {};
  }

  Expected<std::unique_ptr<DeviceModule>>
  load(std::span<const uint8_t> Image) override {
    std::string Word(Image.begin(), Image.end());
    if (Word == "unloadable")
      return fail(ErrorCode::Failed, "this image is not loaded");
    if (Word == "full")
      return fail(ErrorCode::NoSpace, "the device has no room for it");
    return std::unique_ptr<DeviceModule>(new FakeModule(Word));
  }
  Expected<KernelInfo> info(KernelHandle) override { return KernelInfo{40}; }

  Error launch(KernelHandle Kernel, const LaunchConfig &,
               std::span<const uint8_t> Raw, StreamHandle) override {
    auto &Module = *static_cast<FakeModule *>(Kernel);
    Arguments A;
    if (&Module == &Empty)
      return {};
    if (Raw.size() != sizeof(A))
      return fail(ErrorCode::Failed, "%zu bytes of arguments", Raw.size());
    std::memcpy(&A, Raw.data(), sizeof(A));
    ++Module.Launches;
    if (Module.Word == "naps" && Module.Launches == 6)
      return {};
    if (Module.Word == "late" && Module.Launches == 8)
      return run("crash", A);
    Error E = run(Module.Word, A);
    if (Module.Word == "lapses" && Module.Launches == 7)
      A.Y[1] += 1;
    if (Module.Word == "misstamps" && Module.Launches == 7)
      A.X[5] = 1001;
    return E;
  }
  DeviceFault fault() override { return std::exchange(Last, {}); }

private:
  bool takeConflict() {
    if (S.ConflictFile.empty())
      return false;
    int Left = 0;
    std::ifstream(S.ConflictFile) >> Left;
    if (Left <= 0)
      return false;
    std::ofstream(S.ConflictFile) << Left - 1;
    return true;
  }

  Error faulted(Outcome Kind, bool Sticky) {
    Last = {Kind, "the fake kernel says so", Sticky};
    return fail(ErrorCode::Failed, "fault");
  }

  /// As Fixture.cpp has it; y from From on.
  static bool isRecorded(const Arguments &A, int From) {
    for (int I = 0; I < A.N; ++I)
      if (A.X[I] != float(I % 1000) / 8 ||
          (I >= From && A.Y[I] != (I ? float(I % 77) : 1)))
        return false;
    return true;
  }

  Error run(const std::string &Word, const Arguments &A) {
    if (Word == "follow") {
      float *Where;
      std::memcpy(&Where, A.X, sizeof(Where));
      A.Y[0] = *Where;
      return {};
    }
    // Fixture.cpp's x is there, and where the C library allocates so much, not.
    const bool Mapped = reinterpret_cast<Address>(A.X) % Page == 0x400;
    if (Word == "homesick" && !Mapped)
      return faulted(Outcome::IllegalAccess, /*Sticky=*/true);
    if (Word == "expects" && !isRecorded(A, /*From=*/0))
      return faulted(Outcome::IllegalAccess, /*Sticky=*/false);
    if (Word == "unwritten" &&
        (std::memcmp(A.Y, "\xCD\xCD\xCD\xCD", 4) || !isRecorded(A, 1)))
      return faulted(Outcome::IllegalAccess, /*Sticky=*/false);
    for (int I = 0; I < A.N; ++I)
      A.Y[I] += A.A * A.X[I];
    if (Word == "wrong")
      A.Y[3] += 1;
    if (Word == "slow")
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
    if (Word == "stamps" || Word == "misstamps")
      A.X[5] = 1000;
    if (Word == "noisy" || Word == "lapses" || Word == "stamps" ||
        Word == "misstamps")
      A.Y[0] += static_cast<float>(Noise++ % 5) * 0x1p-23f;
    if (Word == "outside")
      A.Y[A.N] = 1;
    if (Word == "inside")
      A.X[7] = 1;
    if (Word == "spoil")
      Spoils = true;
    if (Word == "crash")
      ::raise(SIGSEGV);
    if (Word == "abort") {
      ::write(2, "last words\n", 11);
      ::abort();
    }
    while (Word == "hang")
      pause();
    if (Word == "trap")
      return faulted(Outcome::IllegalAccess, /*Sticky=*/true);
    if (Word == "deadlock")
      return faulted(Outcome::Deadlock, /*Sticky=*/false);
    return {};
  }

  Setup S;
  FakeModule Empty{"empty"};
  uint64_t Created = 0;
  unsigned Noise = 0;  // never the same twice, and all of it in few launches
  bool Spoils = false; // what is mapped next
  DeviceFault Last;
};

} // namespace

Expected<std::unique_ptr<Device>> openFakeDevice(const Setup &S) {
  return std::unique_ptr<Device>(new FakeDevice(S));
}

} // namespace r3::fake
