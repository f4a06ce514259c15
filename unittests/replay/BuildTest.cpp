// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of the compile worker that need no LLVM: forks with limits, ELF
// sections, ptxas' figures.
#include "wrapper/replay/ElfCode.h"
#include "wrapper/replay/Fork.h"
#include "wrapper/replay/Ptxas.h"

#include "runtime/support/Bytes.h"
#include "runtime/support/Files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <unistd.h>

using namespace r3;
using namespace r3::replay;
using ::testing::HasSubstr;

namespace {

TEST(Fork, GivesBackBytesAndTimes) {
  ForkResult R = runForked({}, [] {
    ForkProduct P;
    P.Bytes.assign(3u << 20, 7); // more than a pipe holds
    P.Ms["step"] = 1.5;
    return Expected<ForkProduct>(P);
  });
  EXPECT_EQ(R.Ending, Outcome::Ok) << R.Message;
  EXPECT_EQ(R.Product.Bytes, std::vector<uint8_t>(3u << 20, 7));
  EXPECT_EQ(R.Product.Ms["step"], 1.5);
}

TEST(Fork, ErrorsAreFailedBuilds) {
  ForkResult R = runForked({}, []() -> Expected<ForkProduct> {
    return fail(ErrorCode::Failed, "no such pass");
  });
  EXPECT_EQ(R.Ending, Outcome::BuildFailed);
  EXPECT_EQ(R.Message, "no such pass");
}

TEST(Fork, DeathsAreCrashesWithLastWords) {
  ForkResult R = runForked({}, []() -> Expected<ForkProduct> {
    ::write(2, "LLVM ERROR: planted\n", 20);
    ::abort();
  });
  EXPECT_EQ(R.Ending, Outcome::BuildCrashed);
  EXPECT_THAT(R.Message, HasSubstr("signal 6"));
  EXPECT_THAT(R.Message, HasSubstr("LLVM ERROR: planted"));
  R = runForked({}, []() -> Expected<ForkProduct> { ::_exit(0); });
  EXPECT_EQ(R.Ending, Outcome::BuildCrashed);
}

TEST(Fork, DeadlinesAreTimeouts) {
  ForkLimits L;
  L.DeadlineMs = 100;
  ForkResult R = runForked(L, []() -> Expected<ForkProduct> {
    for (;;)
      ::pause();
  });
  EXPECT_EQ(R.Ending, Outcome::BuildTimeout);
}

TEST(Fork, CpuTimeIsLimited) {
  ForkLimits L;
  L.DeadlineMs = 60000;
  L.CpuSeconds = 1;
  ForkResult R = runForked(L, []() -> Expected<ForkProduct> {
    for (;;)
      if (::getppid() == 0) // never: the parent waits
        ::_exit(1);
  });
  EXPECT_EQ(R.Ending, Outcome::BuildTimeout);
  EXPECT_THAT(R.Message, HasSubstr("CPU time"));
}

#ifndef __SANITIZE_ADDRESS__
TEST(Fork, MemoryIsLimited) {
  ForkLimits L;
  L.MemoryBytes = 1ull << 30;
  ForkResult R = runForked(L, []() -> Expected<ForkProduct> {
    std::vector<uint8_t> Huge(2ull << 30, 1);
    ForkProduct P;
    P.Bytes.push_back(Huge.back());
    return P;
  });
  EXPECT_EQ(R.Ending, Outcome::BuildCrashed);
}
#endif

TEST(ElfCode, ReadsEveryCutWithoutHarm) {
  auto File = readFile(R3_TEST_KERNELS ".cubin");
  ASSERT_TRUE(File) << File.error().message();
  auto Whole = codeDigest(*File, "saxpy");
  ASSERT_TRUE(Whole) << Whole.error().message();
  auto Other = codeDigest(*File, "staged");
  ASSERT_TRUE(Other);
  EXPECT_NE(*Whole, *Other);
  EXPECT_EQ(codeDigest(*File, "nobody").error().code(), ErrorCode::NotFound);
  for (size_t Size = 0; Size < File->size(); Size += 7) {
    auto Cut = codeDigest({File->data(), Size}, "saxpy");
    // Behind the section table lies nothing that matters.
    EXPECT_TRUE(!Cut || (Size > File->size() * 3 / 4 && *Cut == *Whole))
        << "cut at " << Size;
  }
}

/// Header of a fatbinary, and of an entry in it.
void addHeader(ByteWriter &W, uint64_t Size) {
  W.u32(0xba55ed50);
  W.u32(16u << 16 | 1); // size of the header, version
  W.u64(Size);
}
void addEntry(ByteWriter &W, uint16_t Kind, uint32_t Arch, uint32_t Compressed,
              std::span<const uint8_t> Body) {
  W.u32(0x101u << 16 | Kind);
  W.u32(64);
  W.u64(Body.size());
  W.u32(Compressed);
  W.u32(0);
  W.u32(8);
  W.u32(Arch);
  W.raw(std::vector<uint8_t>(32));
  W.raw(Body);
}

TEST(ElfCode, TheCubinOfAnArchitectureIsFound) {
  const std::vector<uint8_t> Ptx(24, '.'), Older(40, 'o'), Packed(8, 'p'),
      Cubin(48, 'c');
  ByteWriter W;
  addHeader(W, 4 * 64 + 24 + 40 + 8 + 48);
  addEntry(W, 1, 90, 0, Ptx);
  addEntry(W, 2, 80, 0, Older);
  addEntry(W, 2, 86, 8, Packed);
  addEntry(W, 2, 90, 0, Cubin);
  auto Found = cubinIn(W.data(), "sm_90");
  ASSERT_TRUE(Found) << Found.error().message();
  EXPECT_EQ(std::vector(Found->begin(), Found->end()), Cubin);
  EXPECT_EQ(cubinIn(W.data(), "sm_80")->size(), Older.size());
  EXPECT_EQ(cubinIn(W.data(), "sm_86").error().code(), ErrorCode::NotFound);
  EXPECT_EQ(cubinIn(W.data(), "sm_100").error().code(), ErrorCode::NotFound);
  EXPECT_EQ(cubinIn(Cubin, "sm_90")->data(), Cubin.data()); // no fatbinary
}

TEST(Ptxas, FiguresAreThoseOfTheKernel) {
  const std::string Text =
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'other' for 'sm_90'\n"
      "ptxas info    : Function properties for other\n"
      "    0 bytes stack frame, 99 bytes spill stores, 9 bytes spill loads\n"
      "ptxas info    : Used 99 registers, used 1 barriers, 999 bytes smem\n"
      "ptxas info    : Compiling entry function 'k' for 'sm_90'\n"
      "ptxas info    : Function properties for k\n"
      "    8 bytes stack frame, 16 bytes spill stores, 24 bytes spill loads\n"
      "ptxas info    : Used 32 registers, used 1 barriers, 64 bytes smem, 380 "
      "bytes cmem[0]\n";
  PtxasResult R;
  readFigures(Text, "k", R);
  EXPECT_EQ(R.Registers, 32u);
  EXPECT_EQ(R.Shared, 64u);
  EXPECT_EQ(R.Spills, 16u);
}

} // namespace
