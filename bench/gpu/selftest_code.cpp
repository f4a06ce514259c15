// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules and launches, and a device attached to a context that is there.
#include "bench/gpu/SelfTest.h"
#include "runtime/device/cuda/Driver.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <thread>

namespace r3 {
// SelfTestKernels.cu assembled for sm_90, alone and in a fatbinary.
extern const uint8_t SelfTestCubin[];
extern const uint64_t SelfTestCubinSize;
extern const uint8_t SelfTestFatBinary[];
extern const uint64_t SelfTestFatBinarySize;
} // namespace r3

using namespace r3;
using namespace r3::selftest;

namespace {

std::span<const uint8_t> asBytes(std::string_view Text) {
  return {reinterpret_cast<const uint8_t *>(Text.data()), Text.size()};
}

/// Loads an image and runs a kernel of it.
void testImage(Bench &B, const char *Name, std::span<const uint8_t> Image) {
  Expected<std::unique_ptr<DeviceModule>> Module = B.D.load(Image);
  if (!Module) {
    B.R.check(Module.error(), Name);
    return;
  }
  Bench Own{B.D, B.R, B.Stream, Module->get()};
  Address Out = B.R.take(B.D.allocate(4), "allocate");
  B.R.check(Own.run("st_count", grid(1, 1), Out), "launch of a loaded image");
  int Value = 0;
  B.download(&Value, Out, 4);
  // A module of its own has globals of its own.
  B.R.line(Value == 6, Name, format("st_counter is %d", Value));
  B.R.check(B.D.free(Out), "free");
}

void testLoading(Bench &B) {
  testImage(B, "load PTX text", testKernels());
  if (B.D.identity().Arch == "sm_90") {
    testImage(B, "load a cubin", {SelfTestCubin, SelfTestCubinSize});
    testImage(B, "load a fatbinary",
              {SelfTestFatBinary, SelfTestFatBinarySize});
  }
  B.R.checkFails(B.D.load(asBytes(".version 7.0\n.target sm_75\n"
                                  ".address_size 64\nnonsense here;\n")),
                 ErrorCode::Failed, "wrong PTX is refused with the log");
  B.R.checkFails(B.D.load(asBytes("hello")), ErrorCode::Damaged,
                 "no image is refused");
  B.R.checkFails(B.D.load(std::span(SelfTestCubin, SelfTestCubinSize - 100)),
                 ErrorCode::Damaged, "a cut cubin is refused");
  B.R.checkFails(B.Module->kernel("st_missing"), ErrorCode::NotFound,
                 "a missing kernel");
  B.R.checkFails(B.Module->global("st_missing"), ErrorCode::NotFound,
                 "a missing global");
  Expected<AddressRange> Counter = B.Module->global("st_counter");
  B.R.check(Counter && Counter->Size == 4, "global");
  int Value = 0;
  if (Counter)
    B.download(&Value, Counter->Begin, 4);
  B.R.line(Value == 5, "global has its initial value", std::to_string(Value));
}

void testInfo(Bench &B) {
  KernelInfo Info = B.R.take(B.D.info(B.kernel("st_shared")), "info");
  B.R.line(Info.Registers > 0 && Info.MaxThreads >= 1024, "info",
           format("%u registers, %u static, %u local, %u threads, %u dynamic",
                  Info.Registers, Info.StaticShared, Info.LocalBytes,
                  Info.MaxThreads, Info.MaxDynamicShared));
}

struct Mixed {
  char Tag;
  double Factor;
  short Numbers[5];
};

void testArguments(Bench &B) {
  Address Out = B.R.take(B.D.allocate(5 * 8), "allocate");
  B.R.check(B.run("st_mixed", grid(1, 1), char(1),
                  Mixed{2, 3.5, {0, 0, 0, 0, 4}}, Out, 5u),
            "launch with arguments of all sizes");
  double Values[5] = {};
  B.download(Values, Out, sizeof(Values));
  B.R.check(Values[0] == 1 && Values[1] == 2 && Values[2] == 3.5 &&
                Values[3] == 4 && Values[4] == 5,
            "arguments arrive at their offsets");
  B.R.checkFails(B.run("st_mixed", grid(1, 1), char(1)), ErrorCode::Failed,
                 "too few argument bytes are refused");
  B.R.checkFails(B.run("st_count", grid(1, 1), Out, Out, Out),
                 ErrorCode::Failed, "too many argument bytes are refused");
  B.R.check(B.D.free(Out), "free");
}

void testShared(Bench &B) {
  Address Out = B.R.take(B.D.allocate(256 * 4), "allocate");
  for (uint32_t Bytes : {4096u, 49152u, 100u * 1024, 200u * 1024}) {
    LaunchConfig Config = grid(1, 256);
    Config.DynamicShared = Bytes;
    Config.MaxDynamicShared = Bytes > 150000 ? Bytes : 0;
    Config.Carveout = Bytes > 150000 ? 100 : 0xffffffffu;
    Config.CacheConfig = Bytes > 150000 ? 1 : 0;
    B.R.check(B.run("st_shared", Config, Out, Bytes),
              format("launch with %u bytes of dynamic shared memory", Bytes));
    int Values[256] = {};
    B.download(Values, Out, sizeof(Values));
    B.R.check(Values[0] == 1 && Values[255] == 254, "shared memory works");
  }
  B.R.check(B.D.free(Out), "free");
}

/// Blocks of few threads, many at a time, and of all the shared memory.
void testScratch(Bench &B) {
  KernelInfo Info = B.R.take(B.D.info(B.kernel("st_leftovers")), "info");
  const uint32_t Blocks = 4 * B.D.identity().Multiprocessors;
  for (uint32_t Threads : {64u, 1024u})
    for (uint32_t Bytes : {8192u, B.D.limits().Shared})
      for (uint8_t Byte : {0xFF, 0x5B}) {
        const uint64_t Count = uint64_t(Blocks) * Threads;
        Address Out = B.R.take(B.D.allocate(2 * Count * 4), "allocate");
        LaunchConfig Config = grid(Blocks, Threads);
        Config.DynamicShared = Bytes;
        B.R.check(B.D.fillScratch(Byte, Info.LocalBytes, B.Stream),
                  "fill shared and local memory");
        B.R.check(B.run("st_leftovers", Config, Out, Out + Count * 4, Bytes),
                  "launch over it");
        std::vector<uint32_t> Found(2 * Count);
        B.download(Found.data(), Out, Found.size() * 4);
        const uint32_t Want = Byte * 0x01010101u;
        const auto Local = Found.begin() + Count;
        // A launch's later blocks find what its first ones left.
        const uint64_t First = B.D.identity().Multiprocessors * Threads;
        const auto Shared =
            std::count(Found.begin(), Found.begin() + First, Want);
        B.R.line(
            Shared == int64_t(First) &&
                std::count(Local, Found.end(), Want) == int64_t(Count),
            format("0x%02x in %u threads with %u bytes of shared memory", Byte,
                   Threads, Bytes),
            format("%lld of %llu shared, %lld of %llu local",
                   static_cast<long long>(Shared),
                   static_cast<unsigned long long>(First),
                   static_cast<long long>(std::count(Local, Found.end(), Want)),
                   static_cast<unsigned long long>(Count)));
        B.R.check(B.D.free(Out), "free");
      }
}

void testRefusals(Bench &B) {
  LaunchConfig Config = grid(1, 1);
  Config.DynamicShared = 300 * 1024;
  B.R.checkFails(B.run("st_spin", Config, uint64_t(1)), ErrorCode::Failed,
                 "too much shared memory is refused");
  B.R.check(B.D.fault().Kind == Outcome::LaunchFailed && !B.D.fault().Sticky,
            "a refused launch is launch-failed and not sticky");
  B.R.checkFails(B.run("st_spin", grid(1, 2048), uint64_t(1)),
                 ErrorCode::Failed, "too many threads are refused");
  B.R.checkFails(B.run("st_spin", grid(0, 32), uint64_t(1)), ErrorCode::Failed,
                 "an empty grid is refused");
  B.R.check(B.run("st_spin", grid(1, 32), uint64_t(1)),
            "the device is usable afterwards");
  B.R.check(B.finish(), "and the launch ends");
}

void testCooperative(Bench &B) {
  uint32_t Blocks = B.D.identity().Multiprocessors;
  Address Arrived = B.R.take(B.D.allocate(4), "allocate");
  LaunchConfig Config = grid(Blocks, 32);
  Config.Cooperative = true;
  B.R.check(B.D.fill(Arrived, 0, 4, B.Stream), "fill");
  B.R.check(B.run("st_meet", Config, Arrived, Blocks), "cooperative launch");
  B.R.check(B.finish(), "all blocks meet");
  Config.Grid[0] = Blocks * 100;
  B.R.checkFails(B.run("st_meet", Config, Arrived, Config.Grid[0]),
                 ErrorCode::Failed, "a cooperative grid too large");
  if (std::stoi(B.D.identity().Arch.substr(3)) >= 90) {
    LaunchConfig Clusters = grid(16, 32);
    Clusters.Cluster = {2, 1, 1};
    B.R.check(B.run("st_spin", Clusters, uint64_t(1)), "cluster launch");
    Clusters.Cluster = {3, 1, 1};
    B.R.checkFails(B.run("st_spin", Clusters, uint64_t(1)), ErrorCode::Failed,
                   "a cluster that does not divide the grid");
    B.R.check(B.finish(), "clusters end");
  }
  B.R.check(B.D.free(Arrived), "free");
}

} // namespace

void selftest::testCode(Bench &B) {
  testLoading(B);
  testInfo(B);
  testArguments(B);
  testShared(B);
  testScratch(B);
  testRefusals(B);
  testCooperative(B);
}

namespace {

CUcontext currentContext() {
  CUcontext Context = nullptr;
  (*loadDriver())->CtxGetCurrent(&Context);
  return Context;
}

/// A function that only this test needs.
template <typename T> T driverFunction(const char *Name) {
  return reinterpret_cast<T>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), Name));
}

/// The device's calls during a capture of the program leave it valid.
void testCapture(Bench &B, Device &Attached) {
  auto Begin = driverFunction<decltype(&cuStreamBeginCapture)>(
      "cuStreamBeginCapture_v2");
  auto End =
      driverFunction<decltype(&cuStreamEndCapture)>("cuStreamEndCapture");
  auto Destroy = driverFunction<decltype(&cuGraphDestroy)>("cuGraphDestroy");
  CUstream Stream = static_cast<CUstream>(B.Stream);
  B.R.check(!Attached.isCapturing(B.Stream), "isCapturing: no");
  bool Began = Begin(Stream, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS;
  B.R.check(Began && Attached.isCapturing(B.Stream), "isCapturing: yes");
  Expected<Address> Where = Attached.allocate(4096);
  B.R.check(bool(Where), "allocate while a graph is captured");
  StreamHandle Own = B.R.take(Attached.createStream(), "createStream");
  LeafHash Hash;
  if (Where) {
    B.R.check(Attached.hashLeaves(*Where, 4096, &Hash, Own),
              "hashLeaves while a graph is captured");
    B.R.check(Attached.synchronize(Own, 10000), "and it ends");
  }
  CUgraph Graph = nullptr;
  B.R.check(End(Stream, &Graph) == CUDA_SUCCESS && Graph,
            "the capture stayed valid");
  if (Graph)
    Destroy(Graph);
  if (Where)
    B.R.check(Attached.free(*Where), "free");
  B.R.check(Attached.destroyStream(Own), "destroyStream");
}

void testLegacy(Bench &B, Device &Attached) {
  constexpr uint64_t Spin = 400'000'000;
  EventHandle Behind = B.R.take(Attached.createEvent(false), "createEvent");
  EventHandle Free = B.R.take(Attached.createEvent(false), "createEvent");
  StreamHandle Mine = B.Stream;
  B.Stream = nullptr; // the legacy default stream
  B.R.check(B.run("st_spin", grid(1, 1), Spin), "launch in the legacy stream");
  B.Stream = Mine;
  B.R.check(Attached.recordLegacy(Behind), "recordLegacy");
  B.R.check(Attached.record(Free, Mine), "record in a non-blocking stream");
  B.R.check(Attached.waitFor(Free, 100), "which does not wait for it");
  Expected<bool> Early = Attached.query(Behind);
  B.R.check(Early && !*Early, "recordLegacy waits for the legacy stream");
  B.R.check(Attached.waitFor(Behind, 10000), "and comes after it");
  B.R.check(Attached.destroyEvent(Behind), "destroyEvent");
  B.R.check(Attached.destroyEvent(Free), "destroyEvent");
}

/// A thread without a context has none afterwards.
void testOtherThread(Bench &B, Device &Attached) {
  bool Before = false, Works = false, After = false, Current = true;
  std::thread([&] {
    Before = currentContext() == nullptr;
    Current = Attached.isCurrent();
    Expected<Address> Where = Attached.allocate(64);
    Works = Where && !Attached.free(*Where);
    After = currentContext() == nullptr;
  }).join();
  B.R.check(Before && Works, "works in a thread without a context");
  B.R.check(After, "and leaves it without one");
  B.R.check(!Current && Attached.isCurrent(), "isCurrent");
}

void testGlobalOf(Bench &B, Device &Attached) {
  const Driver &Api = **loadDriver();
  CUmodule Module = nullptr;
  CUfunction Function = nullptr;
  std::string Text(testKernels().begin(), testKernels().end());
  if (Api.ModuleLoadDataEx(&Module, Text.c_str(), 0, nullptr, nullptr) ||
      Api.ModuleGetFunction(&Function, Module, "st_count")) {
    B.R.line(false, "globalOf", "no module");
    return;
  }
  Expected<AddressRange> Range = Attached.globalOf(Function, "st_counter");
  B.R.check(Range && Range->Size == 4, "globalOf");
  B.R.checkFails(Attached.globalOf(Function, "st_missing"), ErrorCode::NotFound,
                 "globalOf a missing global");
  Api.ModuleUnload(Module);
}

} // namespace

void selftest::testAttached(Bench &B) {
  CUcontext Before = currentContext();
  std::unique_ptr<Device> Attached =
      B.R.take(attachCudaDevice(), "attachCudaDevice");
  B.R.check(currentContext() == Before, "attaching keeps the context");
  B.R.check(Attached->identity().Key == B.D.identity().Key,
            "attached to the same device");
  testCapture(B, *Attached);
  testLegacy(B, *Attached);
  testOtherThread(B, *Attached);
  testGlobalOf(B, *Attached);
  Attached.reset();
  B.R.check(currentContext() == Before, "detaching keeps the context");
}
