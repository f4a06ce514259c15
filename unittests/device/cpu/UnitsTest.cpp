// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Units of a program: kernels by stub, globals by shadow variable, one storage
// for all kernels of a unit, winners of the profile, sticky faults.
#include "unittests/device/cpu/Harness.h"

#include "runtime/record/ImageAbi.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

namespace r3::cpu {

class ProgramTest : public CpuTest {
protected:
  // Stand for the program's stubs and shadow variables.
  char AddStub, ReadStub, FieldsStub, RefusedStub, FailsStub, MissingStub,
      WaitStub;
  int TotalShadow, StorageShadow, OtherShadow;
  R3KernelEntry Kernels[7] = {
      {&AddStub, "addToTotal"},   {&ReadStub, "readAll"},
      {&FieldsStub, "twoFields"}, {&RefusedStub, "refused"},
      {&FailsStub, "fails"},      {&MissingStub, "missing"},
      {&WaitStub, "waitsForHost"}};
  R3GlobalEntry Globals[2] = {{&TotalShadow, "Total", 4},
                              {&StorageShadow, "Storage", 16}};
  std::vector<uint8_t> Bitcode = bitcodeOf("Unit");
  CpuUnit Unit{this, nullptr, 0, "O2", "Unit.cu", true, 7, 2, Kernels, Globals};

  void add() {
    Unit.Bitcode = Bitcode.data();
    Unit.BitcodeSize = Bitcode.size();
    Device.addUnit(Unit);
  }
  void TearDown() override {
    Device.removeUnit(this);
    Device.clearFault();
  }

  std::string launch(const void *Stub, const Arguments &A) {
    auto Found = Device.kernelOf(Stub);
    if (!Found)
      return Found.error().message();
    if (!*Found)
      return "no kernel";
    LaunchProblem Problem;
    if (Error Failure = Device.launchKernel(
            **Found, shape({1, 1, 1}, {1, 1, 1}), A.Bytes, nullptr, Problem))
      return format("%d: ", int(Problem)) + Failure.message();
    return Device.synchronizeDevice().message();
  }

  /// Puts an attribute on a kernel of the bitcode.
  void annotate(const char *Kernel, const char *Variant) {
    llvm::LLVMContext Context;
    auto M = llvm::parseBitcodeFile(
        llvm::MemoryBufferRef(
            llvm::StringRef(reinterpret_cast<char *>(Bitcode.data()),
                            Bitcode.size()),
            "unit"),
        Context);
    ASSERT_TRUE(bool(M));
    (*M)->getFunction(Kernel)->addFnAttr("r3-variant", Variant);
    llvm::SmallVector<char, 0> Bytes;
    llvm::raw_svector_ostream Out(Bytes);
    llvm::WriteBitcodeToFile(**M, Out);
    Bitcode.assign(Bytes.begin(), Bytes.end());
  }
};

TEST_F(ProgramTest, SharesGlobalsAmongKernels) {
  add();
  Buffer<int> Out(4);
  EXPECT_EQ(launch(&AddStub, arguments(5)), "");
  EXPECT_EQ(launch(&ReadStub, arguments(Out.data())), "");
  EXPECT_EQ(Out[0], 10 + 15);
  EXPECT_EQ(Out[1], 2);
  EXPECT_EQ(Out[2], 42);
  EXPECT_EQ(Out[3], 12);
  auto Total = Device.globalByShadow(&TotalShadow);
  auto Storage = Device.globalByShadow(&StorageShadow);
  ASSERT_TRUE(Total && Storage);
  EXPECT_EQ(*reinterpret_cast<int *>(Total->Begin), 25);
  EXPECT_EQ(reinterpret_cast<int *>(Storage->Begin)[1], 99);
  *reinterpret_cast<int *>(Total->Begin) = 7;
  EXPECT_EQ(launch(&ReadStub, arguments(Out.data())), "");
  EXPECT_EQ(Out[0], 7);
  EXPECT_EQ(Out[1], 99);
  // The recorder finds the same storage by the kernel and the name.
  auto Same = Device.globalOf(&ReadStub, "Total");
  ASSERT_TRUE(bool(Same));
  EXPECT_EQ(Same->Begin, Total->Begin);
  auto Found = Device.allocationOf(Total->Begin + 3);
  ASSERT_TRUE(bool(Found));
  EXPECT_EQ(Found->Begin, Total->Begin);
  EXPECT_EQ(Found->Size, 4u);
}

TEST_F(ProgramTest, AnswersForUnknownNames) {
  add();
  EXPECT_EQ(launch(&OtherShadow, arguments(1)), "no kernel");
  EXPECT_NE(launch(&MissingStub, arguments(1)).find("no kernel missing"),
            std::string::npos);
  EXPECT_FALSE(bool(Device.globalByShadow(&OtherShadow)));
  EXPECT_FALSE(bool(Device.globalOf(&ReadStub, "nothing")));
}

TEST_F(ProgramTest, DescribesParametersWithoutCompiling) {
  add();
  auto Found = Device.kernelOf(&FieldsStub);
  ASSERT_TRUE(Found && *Found);
  ASSERT_EQ((*Found)->parameters().size(), 3u);
  EXPECT_EQ((*Found)->parameters()[1].Offset, 8u);
  EXPECT_EQ((*Found)->parameters()[2].Size, 8u);
  EXPECT_EQ((*Found)->argumentBytes(), 24u);
  Buffer<int> Out(1);
  EXPECT_EQ(launch(&FieldsStub, arguments('\5', 2.5, Out.data())), "");
  EXPECT_EQ(Out[0], 7);
}

TEST_F(ProgramTest, RefusesAtTheLaunchWhatItCannotRun) {
  add();
  Buffer<int> Out(1);
  std::string Message = launch(&RefusedStub, arguments(Out.data()));
  EXPECT_EQ(Message.rfind(format("%d: refused: the CPU device cannot run "
                                 "inline assembly \"vabsdiff4",
                                 int(LaunchProblem::Unsupported)),
                          0),
            0u)
      << Message;
  EXPECT_EQ(launch(&AddStub, arguments(1)), ""); // others still run
}

TEST_F(ProgramTest, KeepsFaultsOfPrograms) {
  add();
  EXPECT_NE(launch(&FailsStub, arguments()).find("trap"), std::string::npos);
  DeviceFault Fault = Device.fault();
  EXPECT_TRUE(Fault.Sticky);
  EXPECT_EQ(Device.peekFault().Kind, Outcome::IllegalAccess);
  EXPECT_EQ(launch(&AddStub, arguments(1)).rfind("5: ", 0), 0u);
  Device.clearFault();
  EXPECT_EQ(launch(&AddStub, arguments(1)), "");
}

TEST_F(ProgramTest, UsesWinnersUnlessDisabled) {
  // A pipeline that does not parse shows whether it is used.
  annotate("addToTotal", R"({"pipeline":"no-such-pass"})");
  add();
  EXPECT_NE(launch(&AddStub, arguments(1)).find("no-such-pass"),
            std::string::npos);
  Device.removeUnit(this);
  setenv("R3_DISABLE", "other,addToT", 1);
  add();
  EXPECT_EQ(launch(&AddStub, arguments(1)), "");
  unsetenv("R3_DISABLE");
  Device.removeUnit(this);
  Unit.UseWinners = false;
  add();
  EXPECT_EQ(launch(&AddStub, arguments(1)), "");
  Device.removeUnit(this);
  Unit.UseWinners = true;
  annotate("addToTotal", R"x({"pipeline":"function(sroa,gvn)","level":"O3"})x");
  add();
  EXPECT_EQ(launch(&AddStub, arguments(1)), "");
}

// A library that is closed while its kernel runs.
TEST_F(ProgramTest, KeepsTheCodeOfARunningKernel) {
  add();
  Buffer<int> Flag(1);
  auto Found = Device.kernelOf(&WaitStub);
  ASSERT_TRUE(Found && *Found);
  LaunchProblem Problem;
  Error Failure =
      Device.launchKernel(**Found, shape({1, 1, 1}, {1, 1, 1}),
                          arguments(Flag.data()).Bytes, nullptr, Problem);
  ASSERT_FALSE(Failure) << Failure.message();
  Device.removeUnit(this);
  *static_cast<volatile int *>(Flag.data()) = 1;
  EXPECT_EQ(Device.synchronizeDevice().message(), "");
  EXPECT_EQ(Flag[0], 2);
}

TEST_F(ProgramTest, ReportsDamagedCode) {
  Bitcode.resize(Bitcode.size() / 2);
  add();
  EXPECT_EQ(launch(&AddStub, arguments(1)).rfind("Unit.cu: device code:", 0),
            0u);
}

} // namespace r3::cpu
