// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3-gpu-selftest [ORDINAL]: exit status 0 all passed, 1 some failed, 77 no
// device.
#include "bench/gpu/SelfTest.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace r3 {
extern const uint8_t SelfTestKernels[];
extern const uint64_t SelfTestKernelsSize;
} // namespace r3

using namespace r3;
using namespace r3::selftest;

void Report::line(bool Good, const std::string &Name,
                  const std::string &Detail) {
  ++(Good ? Passed : Failed);
  std::printf("%-7s %s%s%s\n", Good ? "ok" : "FAILED", Name.c_str(),
              Detail.empty() ? "" : ": ", Detail.c_str());
  std::fflush(stdout);
}

void Report::checkFails(const Error &Failure, ErrorCode Code,
                        const std::string &Name) {
  line(Failure && Failure.code() == Code, Name,
       Failure ? Failure.message() : "it did not fail");
}

void Report::stop(const Error &Failure, const std::string &Name) {
  line(false, Name, Failure.message());
  std::exit(finish());
}

int Report::finish() const {
  std::printf("%u passed, %u failed\n", Passed, Failed);
  return Failed ? 1 : 0;
}

void Bench::upload(Address To, const void *From, uint64_t Size) {
  Error E = D.copyToDevice(To, From, Size, Stream);
  if (!E)
    E = finish();
  if (E)
    R.check(E, "copy to the device");
}

void Bench::download(void *To, Address From, uint64_t Size) {
  Error E = D.copyToHost(To, From, Size, Stream);
  if (!E)
    E = finish();
  if (E)
    R.check(E, "copy to the host");
}

void Bench::append(std::vector<uint8_t> &Bytes, const void *Value, size_t Size,
                   size_t Alignment) {
  Bytes.resize((Bytes.size() + Alignment - 1) / Alignment * Alignment);
  const uint8_t *From = static_cast<const uint8_t *>(Value);
  Bytes.insert(Bytes.end(), From, From + Size);
}

LaunchConfig selftest::grid(uint32_t Blocks, uint32_t Threads) {
  LaunchConfig Config;
  Config.Grid = {Blocks, 1, 1};
  Config.Block = {Threads, 1, 1};
  return Config;
}

std::vector<uint8_t> selftest::pattern(size_t Size, uint64_t Seed) {
  std::vector<uint8_t> Bytes(Size);
  uint64_t State = Seed * 0x9E3779B97F4A7C15ull + 1;
  for (uint8_t &Byte : Bytes) {
    State = State * 6364136223846793005ull + 1442695040888963407ull;
    Byte = uint8_t(State >> 56);
  }
  return Bytes;
}

double selftest::timeOnDevice(Bench &B, const std::function<Error()> &Work) {
  EventHandle Begin = B.R.take(B.D.createEvent(/*Timing=*/true), "event");
  EventHandle End = B.R.take(B.D.createEvent(/*Timing=*/true), "event");
  Error E = B.D.record(Begin, B.Stream);
  if (!E)
    E = Work();
  if (!E)
    E = B.D.record(End, B.Stream);
  if (!E)
    E = B.D.waitFor(End, 20000);
  if (E)
    B.R.check(E, "timed work");
  double Milliseconds = B.R.take(B.D.elapsedMs(Begin, End), "elapsedMs");
  if ((E = B.D.destroyEvent(Begin)) || (E = B.D.destroyEvent(End)))
    B.R.check(E, "destroyEvent");
  return Milliseconds;
}

std::span<const uint8_t> selftest::testKernels() {
  return {SelfTestKernels, SelfTestKernelsSize};
}

namespace {

void printIdentity(const DeviceIdentity &I) {
  std::printf("%s: key \"%s\", %s, driver %s, %s, %.1f GiB\n",
              I.Backend.c_str(), I.Key.c_str(), I.Name.c_str(),
              I.Driver.c_str(), I.Tools.c_str(),
              double(I.MemoryBytes) / (1ull << 30));
}

int runAll(int Ordinal) {
  Report R;
  Expected<std::unique_ptr<Device>> D = openCudaDevice(Ordinal);
  if (!D) {
    std::printf("%s\n", D.error().message().c_str());
    return D.error().code() == ErrorCode::CannotRunHere ? 77 : 1;
  }
  printIdentity((*D)->identity());
  Bench B{**D, R};
  B.Stream = R.take(B.D.createStream(), "createStream");
  std::unique_ptr<DeviceModule> Module =
      R.take(B.D.load(testKernels()), "load PTX");
  B.Module = Module.get();
  testMemory(B);
  testStreams(B);
  testHashes(B);
  testScan(B);
  testCache(B);
  testTiming(B);
  testCode(B);
  testAttached(B);
  R.check(B.D.fault().Sticky == false, "no sticky fault");
  Module.reset();
  R.check(B.D.destroyStream(B.Stream), "destroyStream");
  testFaults(R);
  return R.finish();
}

} // namespace

int main(int Count, char **Arguments) {
  if (Count >= 3 && !std::strcmp(Arguments[1], "--part"))
    return runPart(Arguments[2], {Arguments + 3, Arguments + Count});
  return runAll(Count > 1 ? std::atoi(Arguments[1]) : 0);
}
