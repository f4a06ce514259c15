// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory, streams, events, digests and scans of the CPU device.
#include "unittests/device/cpu/Harness.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace r3::cpu {

class DeviceTest : public CpuTest {};

// --- Memory.

TEST_F(DeviceTest, AllocatesAlignedAndApart) {
  std::vector<Address> All;
  for (uint64_t Size : {1, 256, 257, 4096, 1 << 20})
    All.push_back(*Device.allocate(Size));
  for (size_t I = 0; I < All.size(); ++I) {
    EXPECT_EQ(All[I] % 256, 0u);
    auto Range = Device.allocationOf(All[I]);
    ASSERT_TRUE(bool(Range));
    EXPECT_EQ(Range->Begin, All[I]);
    EXPECT_TRUE(bool(Device.allocationOf(All[I] + Range->Size - 1)));
    EXPECT_FALSE(bool(Device.allocationOf(All[I] + Range->Size)));
  }
  for (Address Where : All) {
    EXPECT_FALSE(Device.free(Where));
    EXPECT_TRUE(bool(Device.free(Where)));
  }
  EXPECT_EQ(Device.free(12345).code(), ErrorCode::NotFound);
  EXPECT_TRUE(bool(Device.allocateBlock(0, MemoryUse::Program, 0).error()));
  EXPECT_EQ(Device.allocate(1ull << 60).error().code(), ErrorCode::NoSpace);
}

TEST_F(DeviceTest, GivesProgramsTheSameAddressesWhateverElseIsAllocated) {
  auto First = Device.allocateBlock(1000, MemoryUse::Program, 7);
  ASSERT_TRUE(bool(First));
  EXPECT_GE(*First, 0x100000000000u);
  EXPECT_LT(*First, 0x180000000000u);
  EXPECT_FALSE(Device.freeBlock(*First));
  Buffer<int> Other(1000);
  auto Again = Device.allocateBlock(1000, MemoryUse::Program, 8);
  EXPECT_EQ(*Again, *First);
  auto Block = Device.findBlock(*Again + 999);
  ASSERT_TRUE(bool(Block));
  EXPECT_EQ(Block->Tag, 8u);
  EXPECT_EQ(Block->Use, MemoryUse::Program);
  EXPECT_FALSE(Device.freeBlock(*Again));
}

TEST_F(DeviceTest, RegistersHostMemory) {
  int Host[10];
  EXPECT_FALSE(Device.registerHost(Host, sizeof(Host), 3));
  auto Block = Device.findBlock(reinterpret_cast<Address>(Host + 5));
  ASSERT_TRUE(bool(Block));
  EXPECT_EQ(Block->Use, MemoryUse::Register);
  EXPECT_TRUE(bool(Device.registerHost(Host, 4, 0)));
  EXPECT_FALSE(bool(Device.allocationOf(Block->Begin)));
  EXPECT_FALSE(Device.unregisterHost(Host));
  EXPECT_TRUE(bool(Device.unregisterHost(Host)));
}

TEST_F(DeviceTest, MapsMemoryWhereItIsWanted) {
  const Address Where = 0x111200000000;
  const uint64_t Size = 1 << 20;
  ASSERT_TRUE(bool(Device.reserve(Where, 2 * Size)));
  EXPECT_TRUE(bool(Device.reserve(Where + Size, Size).error()));
  auto Memory = Device.createMemory(Size);
  ASSERT_TRUE(bool(Memory));
  EXPECT_TRUE(bool(Device.map(Where + 2 * Size, Size, *Memory)));
  EXPECT_FALSE(Device.map(Where, Size, *Memory));
  EXPECT_FALSE(Device.map(Where + Size, Size, *Memory)); // the same, twice
  auto *Bytes = reinterpret_cast<char *>(Where);
  Bytes[5] = 42;
  EXPECT_EQ(Bytes[Size + 5], 42);
  EXPECT_EQ(Device.allocationOf(Where + 7)->Size, Size);
  EXPECT_FALSE(Device.unmap(Where + Size, Size));
  EXPECT_TRUE(bool(Device.unmap(Where + Size, Size)));
  auto Fd = Device.exportMemory(*Memory);
  ASSERT_TRUE(bool(Fd));
  EXPECT_FALSE(Device.unmap(Where, Size));
  EXPECT_FALSE(Device.releaseMemory(*Memory));
  EXPECT_TRUE(bool(Device.releaseMemory(*Memory)));
  // The descriptor alone keeps the contents.
  auto Again = Device.importMemory(*Fd, Size);
  ASSERT_TRUE(bool(Again));
  close(*Fd);
  EXPECT_FALSE(Device.map(Where, Size, *Again));
  EXPECT_EQ(Bytes[5], 42);
  EXPECT_FALSE(Device.unmap(Where, Size));
  EXPECT_FALSE(Device.releaseMemory(*Again));
  EXPECT_FALSE(Device.unreserve(Where, 2 * Size));
  EXPECT_TRUE(bool(Device.unreserve(Where, 2 * Size)));
  EXPECT_TRUE(bool(Device.importMemory(0, 1ull << 40).error()));
}

TEST_F(DeviceTest, ProtectsMemory) {
  const Address Where = 0x111300000000;
  const uint64_t Size = 1 << 16;
  ASSERT_TRUE(bool(Device.reserve(Where, Size)));
  auto Memory = Device.createMemory(Size);
  ASSERT_FALSE(Device.map(Where, Size, *Memory));
  EXPECT_FALSE(Device.protect(Where, Size, MemoryAccess::Read));
  auto Dies = [&] {
    pid_t Child = fork();
    if (Child == 0) {
      signal(SIGSEGV, SIG_DFL);
      *reinterpret_cast<volatile char *>(Where) = 1;
      _exit(0);
    }
    int Status = 0;
    waitpid(Child, &Status, 0);
    return WIFSIGNALED(Status);
  };
  EXPECT_TRUE(Dies());
  EXPECT_FALSE(Device.protect(Where, Size, MemoryAccess::ReadWrite));
  EXPECT_FALSE(Dies());
  EXPECT_FALSE(Device.unmap(Where, Size));
  EXPECT_FALSE(Device.releaseMemory(*Memory));
  EXPECT_FALSE(Device.unreserve(Where, Size));
}

// --- Streams and events.

TEST_F(DeviceTest, RunsAStreamInOrderAndAsynchronously) {
  auto Stream = Device.createStream();
  std::vector<int> Order;
  std::atomic<bool> Go{false};
  EXPECT_FALSE(Device.enqueue(*Stream, [&] {
    while (!Go)
      std::this_thread::yield();
    Order.push_back(0);
  }));
  for (int I = 1; I < 50; ++I)
    EXPECT_FALSE(Device.enqueue(*Stream, [&Order, I] { Order.push_back(I); }));
  auto Event = Device.createEvent(true);
  EXPECT_TRUE(*Device.query(*Event)); // never recorded
  EXPECT_FALSE(Device.isRecorded(*Event));
  EXPECT_FALSE(Device.record(*Event, *Stream));
  EXPECT_FALSE(*Device.query(*Event));
  EXPECT_FALSE(*Device.queryStream(*Stream));
  EXPECT_EQ(Device.waitFor(*Event, 20).code(), ErrorCode::Timeout);
  Go = true;
  EXPECT_FALSE(Device.synchronizeEvent(*Event));
  EXPECT_EQ(Order.size(), 50u);
  for (int I = 0; I < 50; ++I)
    EXPECT_EQ(Order[I], I);
  EXPECT_FALSE(Device.destroyEvent(*Event));
  EXPECT_FALSE(Device.destroyStream(*Stream));
  EXPECT_TRUE(bool(Device.destroyStream(*Stream)));
  EXPECT_TRUE(bool(Device.destroyStream(nullptr)));
  EXPECT_FALSE(Device.isStream(*Stream));
  EXPECT_TRUE(bool(Device.enqueue(*Stream, [] {})));
}

TEST_F(DeviceTest, OrdersTheLegacyStreamWithBlockingOnesOnly) {
  auto Blocking = Device.createStreamWith(false, 3);
  auto Free = Device.createStreamWith(true, 0);
  EXPECT_EQ(Device.priority(*Blocking), 3);
  EXPECT_TRUE(Device.isNonBlocking(*Free));
  std::atomic<bool> Go{false};
  std::atomic<int> Steps{0};
  auto Hold = [&] {
    while (!Go)
      std::this_thread::yield();
    ++Steps;
  };
  int SeenByLegacy = -1, SeenByBlocking = -1, SeenByFree = -1;
  EXPECT_FALSE(Device.enqueue(*Blocking, Hold));
  EXPECT_FALSE(Device.enqueue(nullptr, [&] { SeenByLegacy = Steps++; }));
  auto Second = Device.createStreamWith(false, 0);
  EXPECT_FALSE(Device.enqueue(*Second, [&] { SeenByBlocking = Steps; }));
  EXPECT_FALSE(Device.enqueue(*Free, [&] { SeenByFree = Steps; }));
  EXPECT_FALSE(Device.synchronizeStream(*Free)); // not held by the others
  EXPECT_EQ(SeenByFree, 0);
  // An event behind all of it that holds nothing up.
  auto Event = Device.createEvent(false);
  EXPECT_FALSE(Device.recordLegacy(*Event));
  EXPECT_FALSE(*Device.query(*Event));
  Go = true;
  EXPECT_FALSE(Device.synchronizeEvent(*Event));
  EXPECT_FALSE(Device.synchronizeDevice());
  EXPECT_EQ(SeenByLegacy, 1);
  EXPECT_EQ(SeenByBlocking, 2);
  EXPECT_FALSE(Device.destroyEvent(*Event));
  for (StreamHandle S : {*Blocking, *Free, *Second})
    EXPECT_FALSE(Device.destroyStream(S));
}

TEST_F(DeviceTest, WaitsForEventsAcrossStreams) {
  auto First = Device.createStream(), Second = Device.createStream();
  auto Event = Device.createEvent(false);
  std::atomic<int> Value{0};
  EXPECT_FALSE(Device.enqueue(*First, [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    Value = 1;
  }));
  EXPECT_FALSE(Device.record(*Event, *First));
  EXPECT_FALSE(Device.wait(*Second, *Event));
  int Seen = -1;
  EXPECT_FALSE(Device.enqueue(*Second, [&] { Seen = Value; }));
  EXPECT_FALSE(Device.synchronizeStream(*Second));
  EXPECT_EQ(Seen, 1);
  EXPECT_FALSE(Device.destroyEvent(*Event));
  EXPECT_FALSE(Device.destroyStream(*First));
  EXPECT_FALSE(Device.destroyStream(*Second));
}

TEST_F(DeviceTest, GivesEachThreadItsOwnDefaultStream) {
  auto *PerThread = reinterpret_cast<StreamHandle>(2);
  std::atomic<bool> Go{false};
  EXPECT_FALSE(Device.enqueue(PerThread, [&] {
    while (!Go)
      std::this_thread::yield();
  }));
  bool Done = false;
  std::thread([&] {
    Error Failure = Device.enqueue(PerThread, [&] { Done = true; });
    EXPECT_FALSE(Failure);
    EXPECT_FALSE(Device.synchronizeStream(PerThread));
  }).join();
  EXPECT_TRUE(Done);
  Go = true;
  EXPECT_FALSE(Device.synchronizeStream(PerThread));
}

TEST_F(DeviceTest, MeasuresTime) {
  auto Begin = Device.createEvent(true), End = Device.createEvent(true);
  EXPECT_FALSE(Device.record(*Begin, nullptr));
  EXPECT_FALSE(Device.enqueue(nullptr, [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }));
  EXPECT_FALSE(Device.record(*End, nullptr));
  EXPECT_FALSE(Device.waitFor(*End, 10000));
  auto Ms = Device.elapsedMs(*Begin, *End);
  ASSERT_TRUE(bool(Ms));
  EXPECT_GE(*Ms, 30);
  EXPECT_LT(*Ms, 3000);
  auto Untimed = Device.createEvent(false);
  EXPECT_FALSE(Device.record(*Untimed, nullptr));
  EXPECT_TRUE(bool(Device.elapsedMs(*Begin, *Untimed).error()));
  for (EventHandle E : {*Begin, *End, *Untimed})
    EXPECT_FALSE(Device.destroyEvent(E));
}

// --- Copies, digests, scans.

TEST_F(DeviceTest, CopiesLargeAndOverlapping) {
  const size_t N = (20 << 20) / 8;
  Buffer<uint64_t> From(N), To(N);
  for (size_t I = 0; I < N; ++I)
    From[I] = I * 0x9e3779b97f4a7c15;
  Address A = reinterpret_cast<Address>(From.data());
  Address B = reinterpret_cast<Address>(To.data());
  EXPECT_FALSE(Device.copy(B, A, N * 8, nullptr));
  EXPECT_FALSE(Device.synchronize(nullptr, 10000));
  EXPECT_EQ(std::memcmp(From.data(), To.data(), N * 8), 0);
  EXPECT_FALSE(Device.copy(B + 8, B, N * 8 - 8, nullptr));
  EXPECT_FALSE(Device.synchronize(nullptr, 10000));
  EXPECT_EQ(std::memcmp(From.data(), To.data() + 1, N * 8 - 8), 0);
  EXPECT_FALSE(Device.fill(B, 0xab, N * 8, nullptr));
  EXPECT_FALSE(Device.flushCache(nullptr));
  EXPECT_FALSE(Device.synchronize(nullptr, 60000));
  EXPECT_EQ(To[0], 0xababababababababu);
  EXPECT_EQ(To[N - 1], 0xababababababababu);
}

// --- Timing.

TEST_F(DeviceTest, HoldsAStreamUntilItIsReleased) {
  auto Stream = Device.createStream();
  auto Done = Device.createEvent(/*Timing=*/false);
  auto Word = Device.allocateHost(sizeof(uint32_t));
  ASSERT_TRUE(Stream && Done && Word);
  auto *Gate = static_cast<uint32_t *>(*Word);
  // Values go on over the end of their range.
  for (uint32_t Value : {1u, 2u, 0x7fffffffu, 0xfffffff0u, 3u}) {
    EXPECT_FALSE(Device.hold(*Stream, Gate, Value));
    EXPECT_FALSE(Device.record(*Done, *Stream));
    EXPECT_EQ(Device.waitFor(*Done, 20).code(), ErrorCode::Timeout) << Value;
    Device::release(Gate, Value);
    EXPECT_FALSE(Device.waitFor(*Done, 10000)) << Value;
  }
  EXPECT_FALSE(Device.hold(*Stream, Gate, 2)); // long past
  EXPECT_FALSE(Device.synchronize(*Stream, 10000));
  EXPECT_FALSE(Device.freeHost(*Word));
}

TEST_F(DeviceTest, EmptyKernelTakesAnyShape) {
  auto Empty = Device.emptyKernel();
  ASSERT_TRUE(bool(Empty));
  LaunchConfig Config;
  Config.Grid = {7, 5, 3};
  Config.Block = {32, 16, 2};
  Config.DynamicShared = Config.MaxDynamicShared = 100 * 1024;
  EXPECT_FALSE(Device.launch(*Empty, Config, {}, nullptr));
  EXPECT_FALSE(Device.synchronize(nullptr, 10000));
  Config.Block = {2048, 1, 1};
  EXPECT_TRUE(Device.launch(*Empty, Config, {}, nullptr));
}

TEST_F(DeviceTest, ReadsMemoryAsOftenAsAsked) {
  const uint64_t Size = 10 << 20;
  auto Where = Device.allocate(Size);
  auto Begin = Device.createEvent(/*Timing=*/true);
  auto End = Device.createEvent(/*Timing=*/true);
  ASSERT_TRUE(Where && Begin && End);
  EXPECT_FALSE(Device.fill(*Where, 1, Size, nullptr));
  double Best[2] = {1e9, 1e9};
  for (int Try = 0; Try < 10; ++Try)
    for (int Often : {0, 1}) {
      EXPECT_FALSE(Device.record(*Begin, nullptr));
      EXPECT_FALSE(
          Device.readRepeatedly(*Where, Size, Often ? 64 : 1, nullptr));
      EXPECT_FALSE(Device.record(*End, nullptr));
      EXPECT_FALSE(Device.waitFor(*End, 10000));
      Best[Often] = std::min(Best[Often], *Device.elapsedMs(*Begin, *End));
    }
  EXPECT_GT(Best[1], 4 * Best[0]);
  EXPECT_FALSE(Device.free(*Where));
  EXPECT_EQ(Device.clocks().error().code(), ErrorCode::CannotRunHere);
}

TEST_F(DeviceTest, DigestsAsTheHostDoes) {
  const size_t Size = 9 * ChunkBytes + 5000;
  Buffer<uint8_t> Data(Size);
  for (size_t I = 0; I < Size; ++I)
    Data[I] = uint8_t(I * 31 >> 3);
  auto Digests = Device.chunkDigests(reinterpret_cast<Address>(Data.data()),
                                     Size, nullptr, 10000);
  ASSERT_TRUE(bool(Digests));
  ASSERT_EQ(Digests->size(), 10u);
  for (size_t I = 0; I < 10; ++I)
    EXPECT_EQ((*Digests)[I],
              chunkDigest({Data.data() + I * ChunkBytes,
                           std::min(ChunkBytes, Size - I * ChunkBytes)}));
  EXPECT_TRUE(Device.chunkDigests(0, 0, nullptr, 10)->empty());
}

TEST_F(DeviceTest, SketchesEachChunk) {
  const size_t Count = 3 * ChunkBytes / 4 + 77;
  Buffer<float> Data(Count);
  for (size_t I = 0; I < Count; ++I)
    Data[I] = float(I % 1013) / 7;
  const SketchForm Form = {ValueType::F32, /*Seed=*/5, /*FirstElement=*/128};
  std::vector<Sketch> Sketches(4);
  ASSERT_FALSE(Device.sketchChunks(reinterpret_cast<Address>(Data.data()),
                                   Count * 4, Form, Sketches.data(), nullptr));
  ASSERT_FALSE(Device.synchronize(nullptr, 10000));
  const auto *Bytes = reinterpret_cast<const uint8_t *>(Data.data());
  for (size_t I = 0; I < 4; ++I) {
    const Sketch Want =
        sketchOf({Bytes + I * ChunkBytes,
                  std::min(ChunkBytes, Count * 4 - I * ChunkBytes)},
                 Form.ofChunk(I));
    EXPECT_EQ(std::memcmp(&Sketches[I], &Want, sizeof(Want)), 0) << I;
  }
}

TEST_F(DeviceTest, FindsPointers) {
  std::vector<AddressRange> Targets = {
      {0x100000, 0x100}, {0x100100, 0x50}, {0x200000, 0x1000}, {0x300000, 16}};
  const size_t Size = 9 << 20;
  Buffer<uint8_t> Data(Size);
  auto Put = [&](size_t At, Address Value) {
    std::memcpy(Data.data() + At, &Value, 8);
  };
  auto Scan = [&] {
    std::vector<uint8_t> Out(4);
    EXPECT_FALSE(Device.scanPointers(reinterpret_cast<Address>(Data.data()),
                                     Size, Targets, Out.data(), nullptr));
    EXPECT_FALSE(Device.synchronize(nullptr, 10000));
    return Out;
  };
  EXPECT_EQ(Scan(), (std::vector<uint8_t>{0, 0, 0, 0}));
  Put(12, 0x100080);
  EXPECT_EQ(Scan(), (std::vector<uint8_t>{1, 0, 0, 0}));
  Put(12, 0x100100); // one past the first, and the second
  EXPECT_EQ(Scan(), (std::vector<uint8_t>{1, 1, 0, 0}));
  Put(12, 0x100151);
  EXPECT_EQ(Scan(), (std::vector<uint8_t>{0, 0, 0, 0}));
  Put((4 << 20) - 4, 0x201000); // across pieces, one past the end
  Put(Size - 8, 0x30000f);
  EXPECT_EQ(Scan(), (std::vector<uint8_t>{0, 0, 1, 1}));
  Put(Size - 8, 0);
  Put(Size - 9, 0x300000); // not at a 4-byte step
  EXPECT_EQ(Scan(), (std::vector<uint8_t>{0, 0, 1, 0}));
}

// --- Bounds limited to what was recorded.

TEST_F(DeviceTest, LimitsCheckedKernelsInsideMappings) {
  const Address Where = 0x111400000000;
  const uint64_t Size = 1 << 16;
  ASSERT_TRUE(bool(Device.reserve(Where, Size)));
  auto Memory = Device.createMemory(Size);
  ASSERT_FALSE(Device.map(Where, Size, *Memory));
  Options.CheckBounds = true;
  auto Kernel = load("reverse");
  ASSERT_TRUE(bool(Kernel));
  Arguments A = arguments(Where, Where + 4096);
  LaunchConfig Config = shape({1, 1, 1}, {32, 1, 1}, 256);
  EXPECT_EQ(run(*Kernel, Config, A).message(), "");
  std::vector<AddressRange> Ranges = {{Where, 128}, {Where + 4096, 124}};
  Device.limitAccess(Ranges);
  std::string Message = run(*Kernel, Config, A).message();
  EXPECT_NE(Message.find("thread (31,0,0): store of 4 bytes at 0x11140000107c"),
            std::string::npos)
      << Message;
  Device.limitAccess({});
  Device.clearFault();
  EXPECT_EQ(run(*Kernel, Config, A).message(), "");
  EXPECT_FALSE(Device.unmap(Where, Size));
  EXPECT_FALSE(Device.releaseMemory(*Memory));
  EXPECT_FALSE(Device.unreserve(Where, Size));
}

} // namespace r3::cpu
