// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The self-test of the CUDA device: every function of Device.h on a real GPU,
// one line each, with a count at the end. What loses the context runs in a
// process of its own (this program again, with --part NAME).
#pragma once

#include "runtime/device/Device.h"

#include <functional>
#include <string>
#include <vector>

namespace r3::selftest {

/// Counts and prints results.
class Report {
public:
  /// One line: "ok  NAME  DETAIL" or "FAILED  NAME  DETAIL".
  void line(bool Passed, const std::string &Name, const std::string &Detail);
  void check(bool Passed, const std::string &Name) { line(Passed, Name, ""); }
  /// The failure's message is the detail.
  void check(const Error &Failure, const std::string &Name) {
    line(!Failure, Name, Failure.message());
  }
  /// The call must fail with Code.
  void checkFails(const Error &Failure, ErrorCode Code,
                  const std::string &Name);
  template <typename T>
  void checkFails(const Expected<T> &Value, ErrorCode Code,
                  const std::string &Name) {
    checkFails(Value ? Error::success() : Value.error(), Code, Name);
  }
  /// The value; where there is none, a failed line and the program's end (the
  /// rest would only repeat it).
  template <typename T> T take(Expected<T> Value, const std::string &Name) {
    if (!Value)
      stop(Value.error(), Name);
    return std::move(*Value);
  }
  int finish() const;

private:
  [[noreturn]] void stop(const Error &Failure, const std::string &Name);
  unsigned Passed = 0, Failed = 0;
};

/// A device with what most tests need.
struct Bench {
  Device &D;
  Report &R;
  StreamHandle Stream = nullptr;
  DeviceModule *Module = nullptr;

  /// Waits for Stream; ten seconds.
  Error finish() { return D.synchronize(Stream, 10000); }
  void upload(Address To, const void *From, uint64_t Size);
  void download(void *To, Address From, uint64_t Size);
  KernelHandle kernel(const std::string &Name) {
    return R.take(Module->kernel(Name), "kernel " + Name);
  }
  /// Arguments are packed as the kernel expects them: each at its alignment.
  template <typename... Ts>
  Error run(const std::string &Name, const LaunchConfig &Config, Ts... Values) {
    std::vector<uint8_t> Bytes;
    (append(Bytes, &Values, sizeof(Values), alignof(Ts)), ...);
    return D.launch(kernel(Name), Config, Bytes, Stream);
  }
  static void append(std::vector<uint8_t> &Bytes, const void *Value,
                     size_t Size, size_t Alignment);
};

LaunchConfig grid(uint32_t Blocks, uint32_t Threads);
/// Bytes that look random and depend on Seed.
std::vector<uint8_t> pattern(size_t Size, uint64_t Seed);
/// Milliseconds that the device needs for Work on the bench's stream.
double timeOnDevice(Bench &B, const std::function<Error()> &Work);
/// PTX of SelfTestKernels.cu.
std::span<const uint8_t> testKernels();

void testMemory(Bench &B);
void testStreams(Bench &B);
void testHashes(Bench &B);
void testScan(Bench &B);
void testCache(Bench &B);
void testTiming(Bench &B);
void testCode(Bench &B);
void testAttached(Bench &B);
/// Starts this program again for each fault.
void testFaults(Report &R);
/// One of those: its exit status says whether it went as it should.
int runPart(const std::string &Name, const std::vector<std::string> &Arguments);

} // namespace r3::selftest
