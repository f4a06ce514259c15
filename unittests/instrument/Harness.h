// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instrumented builds of Kernels.cu on the CPU device.
#pragma once

#include "unittests/device/cpu/Harness.h"
#include "wrapper/replay/Instrument.h"

namespace r3::cpu {

class InstrumentTest : public CpuTest {
protected:
  /// Build: of Instrument.h, or empty for the plain build.
  KernelHandle build(const std::string &Kernel, const std::string &Build) {
    std::vector<uint8_t> Code = bitcodeOf("Kernels");
    if (!Build.empty()) {
      auto Made = replay::instrument(Code, Kernel, Build);
      EXPECT_TRUE(Made) << Made.error().message();
      if (!Made)
        return {};
      Code = std::move(Made->Bitcode);
    }
    Options.Kernel = Kernel;
    auto Object = compileForCpu(Code, Options);
    EXPECT_TRUE(Object) << Object.error().message();
    if (!Object)
      return {};
    auto Loaded = Device.load(*Object);
    EXPECT_TRUE(Loaded) << Loaded.error().message();
    Module = std::move(*Loaded);
    auto Found = Module->kernel(Kernel);
    EXPECT_TRUE(Found) << Found.error().message();
    return *Found;
  }

  void launch(KernelHandle Kernel, uint32_t Blocks, uint32_t Threads,
              const Arguments &A, uint32_t Shared = 0) {
    Error E = run(Kernel, shape({Blocks, 1, 1}, {Threads, 1, 1}, Shared), A);
    EXPECT_FALSE(E) << E.message();
  }
};

} // namespace r3::cpu
