// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the tests of the CPU device share: the engine, test kernels as bitcode,
// and launching one with typed arguments.
#pragma once

#include "runtime/device/cpu/Compile.h"
#include "runtime/device/cpu/CpuEngine.h"
#include "runtime/support/Files.h"

#include <gtest/gtest.h>

#include <cstring>

namespace r3::cpu {

inline std::vector<uint8_t> bitcodeOf(const std::string &Name) {
  auto Bytes = readFile(std::string(R3_TEST_KERNELS) + "/" + Name + ".bc");
  EXPECT_TRUE(bool(Bytes)) << Bytes.error().message();
  return Bytes ? *Bytes : std::vector<uint8_t>();
}

/// Raw argument bytes, each value at its alignment.
class Arguments {
public:
  template <typename Type> Arguments &add(const Type &Value) {
    size_t At =
        (Bytes.size() + alignof(Type) - 1) / alignof(Type) * alignof(Type);
    Bytes.resize(At + sizeof(Type));
    std::memcpy(Bytes.data() + At, &Value, sizeof(Type));
    return *this;
  }
  std::vector<uint8_t> Bytes;
};

template <typename... Types> Arguments arguments(const Types &...Values) {
  Arguments A;
  (A.add(Values), ...);
  return A;
}

/// Device memory that holds values.
template <typename Type> class Buffer {
public:
  explicit Buffer(std::vector<Type> Values) : Count(Values.size()) {
    auto Got = Engine::get().allocate(Count * sizeof(Type));
    EXPECT_TRUE(bool(Got));
    Where = *Got;
    std::memcpy(data(), Values.data(), Count * sizeof(Type));
  }
  explicit Buffer(size_t Count) : Buffer(std::vector<Type>(Count)) {}
  ~Buffer() { EXPECT_FALSE(Engine::get().free(Where)); }
  Type *data() const { return reinterpret_cast<Type *>(Where); }
  Type &operator[](size_t I) const { return data()[I]; }
  size_t size() const { return Count; }

private:
  Address Where = 0;
  size_t Count;
};

inline LaunchConfig shape(Dim3 Grid, Dim3 Block, uint32_t Shared = 0) {
  LaunchConfig Config;
  Config.Grid = Grid;
  Config.Block = Block;
  Config.DynamicShared = Shared;
  return Config;
}

class CpuTest : public ::testing::Test {
protected:
  Engine &Device = Engine::get();
  CpuCompileOptions Options;
  std::string File = "Kernels";
  std::unique_ptr<DeviceModule> Module;

  void TearDown() override { Device.clearFault(); }

  Expected<KernelHandle> load(const std::string &Name) {
    Options.Kernel = Name;
    auto Object = compileForCpu(bitcodeOf(File), Options);
    if (!Object)
      return Object.error();
    auto Loaded = Device.load(*Object);
    if (!Loaded)
      return Loaded.error();
    Module = std::move(*Loaded);
    return Module->kernel(Name);
  }

  Error run(KernelHandle Kernel, const LaunchConfig &Config,
            const Arguments &A) {
    if (Error Failure = Device.launch(Kernel, Config, A.Bytes, nullptr))
      return Failure;
    return Device.synchronize(nullptr, 60000);
  }

  /// Compiles and runs; the message of what fails.
  std::string tryRun(const std::string &Name, const LaunchConfig &Config,
                     const Arguments &A) {
    auto Kernel = load(Name);
    if (!Kernel)
      return Kernel.error().message();
    return run(*Kernel, Config, A).message();
  }

  void mustRun(const std::string &Name, const LaunchConfig &Config,
               const Arguments &A) {
    EXPECT_EQ(tryRun(Name, Config, A), "");
  }
};

} // namespace r3::cpu
