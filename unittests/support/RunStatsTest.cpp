// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/support/RunStats.h"
#include "unittests/support/TestFolder.h"

using namespace r3;

static RunStats header() {
  RunStats Header;
  Header.Pid = 42;
  Header.Rank = 3;
  Header.Program = "./app in.dat";
  return Header;
}

TEST(RunStats, ReadableWhileWritten) {
  TestFolder Folder;
  auto Writer = RunStatsWriter::create(Folder / "a.stats", header());
  ASSERT_TRUE(Writer) << Writer.error().message();
  uint32_t Slot = (*Writer)->addKernel("key", "stencil3d<double>");
  (*Writer)->addKernel(std::string(100, 'k'), std::string(1000, 'n'));
  KernelRunStats Values;
  Values.Launches = 10;
  Values.Sampled = 2;
  Values.SampledNs = 300;
  Values.Recorded = 1;
  Values.BytesRecorded = 4096;
  Values.PauseNs = 77;
  Values.LastReason = 5;
  Values.ReasonCount = 6;
  (*Writer)->update(Slot, Values);
  (*Writer)->setDevice("NVIDIA H200");

  Expected<RunStats> Read = RunStats::read(Folder / "a.stats");
  ASSERT_TRUE(Read) << Read.error().message();
  EXPECT_EQ(Read->Pid, 42u);
  EXPECT_EQ(Read->Rank, 3u);
  EXPECT_EQ(Read->Program, "./app in.dat");
  EXPECT_EQ(Read->Device, "NVIDIA H200");
  EXPECT_GT(Read->StartedAtNs, 0u);
  EXPECT_GE(Read->LastUpdateNs, Read->StartedAtNs);
  ASSERT_EQ(Read->Kernels.size(), 2u);
  const KernelRunStats &First = Read->Kernels[0];
  EXPECT_EQ(First.Name, "stencil3d<double>");
  EXPECT_EQ(First.totalNs(), 1500);
  EXPECT_EQ(First.BytesRecorded, 4096u);
  EXPECT_EQ(First.PauseNs, 77u);
  EXPECT_EQ(First.LastReason, 5u);
  EXPECT_EQ(First.ReasonCount, 6u);
  EXPECT_EQ(Read->Kernels[1].Key, std::string(39, 'k'));
  EXPECT_EQ(Read->Kernels[1].Name, std::string(215, 'n'));
}

TEST(RunStats, TableIsFull) {
  TestFolder Folder;
  auto Writer = RunStatsWriter::create(Folder / "a.stats", header());
  ASSERT_TRUE(Writer);
  for (uint32_t I = 0; I != RunStatsWriter::MaxKernels; ++I)
    EXPECT_EQ((*Writer)->addKernel("k", "n"), I);
  EXPECT_EQ((*Writer)->addKernel("k", "n"), RunStatsWriter::MaxKernels);
  (*Writer)->update(RunStatsWriter::MaxKernels, {});
  EXPECT_EQ(RunStats::read(Folder / "a.stats")->Kernels.size(),
            size_t(RunStatsWriter::MaxKernels));
}

TEST(RunStats, CutForgedAndForeign) {
  TestFolder Folder;
  {
    auto Writer = RunStatsWriter::create(Folder / "a.stats", header());
    ASSERT_TRUE(Writer);
    (*Writer)->addKernel("k", "n");
  }
  std::vector<uint8_t> Bytes = *readFile(Folder / "a.stats");
  constexpr size_t Used = 424 + 312;
  for (size_t Size = 0; Size != Used; ++Size)
    EXPECT_FALSE(RunStats::parse({Bytes.data(), Size}, "cut")) << Size;
  EXPECT_TRUE(RunStats::parse({Bytes.data(), Used}, "whole"));
  std::vector<uint8_t> Changed = Bytes;
  Changed[15] = 0x7f; // the number of kernels
  EXPECT_TRUE(failsWith(RunStats::parse(Changed, "k"), "over the limit"));
  Changed[8] = 2;
  EXPECT_TRUE(failsWith(RunStats::parse(Changed, "k"), "version 2"));
  Changed[0] = 0;
  EXPECT_TRUE(failsWith(RunStats::parse(Changed, "k"), "no statistics"));
}

TEST(RunStats, UnwritablePlace) {
  TestFolder Folder;
  EXPECT_TRUE(failsWith(RunStatsWriter::create(Folder / "no/a", header()),
                        "no/a: cannot create"));
}
