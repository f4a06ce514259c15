// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole records on the fake device: what is kept, and every way in which a
// launch is not recorded. In each the program's launch happens exactly once.
#include "unittests/record/Program.h"

#include <thread>

using namespace r3;
using namespace r3::record;

namespace {

using Words = std::vector<uint64_t>;

RecorderOptions optionsFrom(std::vector<std::string> Variables) {
  return *recorderOptions(*Environment::parse(Variables), "/");
}

TEST(RecorderOptionsTest, WhoSaysHowManyWantsThemWhateverTheyCost) {
  EXPECT_FALSE(optionsFrom({"R3_DEVICE=cuda"}).Exempt);
  EXPECT_TRUE(optionsFrom({"R3_DEVICE=cuda", "R3_RECORD_COUNT=2"}).Exempt);
  EXPECT_TRUE(optionsFrom({"R3_DEVICE=cpu"}).Exempt);
}

TEST_F(Program, RecordsMemoryBeforeAndWhatChanged) {
  start();
  std::vector<uint8_t> Data(3 * ChunkBytes + 100, 7);
  allocated(Data);
  EXPECT_EQ(launch(Data.data(), 5, [&] { return Data[ChunkBytes] = 9, 0; }), 0);
  auto All = recordings();
  ASSERT_EQ(All.size(), 1u);
  const Recording &Out = All[0];
  EXPECT_EQ(Out.Display, "step");
  EXPECT_EQ(Out.Launch.Grid, (Dim3{4, 1, 1}));
  EXPECT_EQ(Out.Arguments.size(), 12u);
  EXPECT_EQ(Out.Arguments[8], 5);
  ASSERT_EQ(Out.Allocations.size(), 1u);
  const RecordedAllocation &A = Out.Allocations[0];
  EXPECT_EQ(A.Address, reinterpret_cast<Address>(Data.data()));
  EXPECT_EQ(A.Size, Data.size());
  ASSERT_EQ(A.Before.size(), 4u);
  EXPECT_EQ(chunk(A.Before[3]), std::vector<uint8_t>(100, 7));
  ASSERT_EQ(A.After.size(), 1u);
  EXPECT_EQ(A.After[0].Chunk, 1u);
  EXPECT_EQ(chunk(A.After[0].After)[0], 9);
  EXPECT_EQ(Launched, 1u);
  // Its code is in the store.
  Store Files = *Store::open(Options.StorePath, false);
  EXPECT_TRUE(readFile(Files.modulePath(Out.Module)));
  EXPECT_TRUE(readFile(Files.unitPath(Out.Unit)));
}

TEST_F(Program, SavesOnlyWhatIsReachable) {
  start();
  Words Data(64), Next(64), Other(64);
  Data[3] = reinterpret_cast<uint64_t>(&Next[1]);
  for (Words *W : {&Data, &Next, &Other})
    allocated(*W);
  launch(Data.data(), 1);
  ASSERT_EQ(recordings().size(), 1u);
  EXPECT_EQ(recordings()[0].Allocations.size(), 2u);
}

TEST_F(Program, FiftyRecordingsThatHardlyDifferTakeLessThanThreeCopies) {
  Options.Policy.Count = 50;
  start();
  std::vector<uint32_t> Data(16 * ChunkBytes);
  for (size_t I = 0; I < Data.size(); ++I)
    Data[I] = uint32_t(I);
  allocated(Data);
  for (uint32_t I = 0; I < 50; ++I)
    launch(Data.data(), 1, [&] { return Data[I * 5000] = ~I, 0; });
  EXPECT_EQ(recordings().size(), 50u);
  EXPECT_LT(packBytes(), 3 * Data.size() * 4);
  EXPECT_LT(D.BytesCopied, 3 * Data.size() * 4);
}

TEST_F(Program, KeepsTwoOfAClassAndDeletesWhatIsReplaced) {
  start();
  Words Data(64);
  allocated(Data);
  for (int I = 0; I < 100; ++I)
    launch(Data.data(), 1, [&] { return ++Data[0], 0; });
  auto All = recordings();
  ASSERT_EQ(All.size(), 2u);
  EXPECT_EQ(statistics().Launches, 100u);
  EXPECT_EQ(statistics().Recorded, 2u);
  EXPECT_EQ(std::min(All[0].Ordinal, All[1].Ordinal), 0u);
  EXPECT_GT(std::max(All[0].Ordinal, All[1].Ordinal), 1u);
  EXPECT_EQ(Launched, 100u);
}

TEST_F(Program, ClassesAreKeptApart) {
  start();
  Words Data(64);
  allocated(Data);
  for (int N : {1, 1, 1, 64, 64, 64})
    launch(Data.data(), N, [&] { return ++Data[0], 0; });
  EXPECT_EQ(recordings().size(), 4u);
}

TEST_F(Program, MemoryThatChangesMeanwhileDropsTheRecord) {
  start();
  std::vector<uint8_t> Data(ChunkBytes, 1);
  allocated(Data);
  D.OnHash = [&](unsigned Call) { Data[5] += Call == 2; };
  EXPECT_EQ(launch(Data.data(), 1), 0);
  EXPECT_TRUE(recordings().empty());
  EXPECT_EQ(lastReason(), "memory-changed");
  EXPECT_LT(packBytes(), 1000u) << "rolled back";
  // The next launch is recorded.
  launch(Data.data(), 1);
  EXPECT_EQ(recordings().size(), 1u);
}

TEST_F(Program, ABusyStreamDropsTheRecordNotTheLaunch) {
  start();
  Words Data(64);
  allocated(Data);
  StreamHandle Other = *D.createStream();
  R->streamCreated(Other);
  D.hold(Other);
  EXPECT_EQ(launch(Data.data(), 1), 0);
  EXPECT_EQ(Launched, 1u);
  EXPECT_TRUE(recordings().empty());
  EXPECT_EQ(lastReason(), "not-quiet");
  D.release(Other);
  launch(Data.data(), 1);
  EXPECT_EQ(recordings().size(), 1u);
}

TEST_F(Program, AKernelThatWaitsForTheHostIsLaunchedAndDropped) {
  start();
  Words Data(64);
  allocated(Data);
  Stream = *D.createStream();
  auto Begin = std::chrono::steady_clock::now();
  launch(Data.data(), 1, [&] { return D.hold(Stream), 0; });
  EXPECT_GE(std::chrono::steady_clock::now() - Begin,
            std::chrono::milliseconds(Options.TimeoutMs));
  D.release(Stream);
  EXPECT_EQ(lastReason(), "not-quiet");
  // It held the program once; it is not tried again.
  launch(Data.data(), 1);
  EXPECT_TRUE(recordings().empty());
  EXPECT_EQ(Launched, 2u);
}

TEST_F(Program, AnotherThreadInsideDropsTheRecord) {
  start();
  Words Data(64);
  allocated(Data);
  R->gate().enter();
  std::thread([&] { EXPECT_EQ(launch(Data.data(), 1), 0); }).join();
  R->gate().leave();
  EXPECT_EQ(Launched, 1u);
  EXPECT_EQ(lastReason(), "not-quiet");
}

TEST_F(Program, ACallThatWouldNotWaitDropsTheRecord) {
  start();
  Words Data(64);
  allocated(Data);
  launch(Data.data(), 1, [&] {
    std::thread([&] { GatePass Pass(R->gate()); }).join();
    return 0;
  });
  EXPECT_TRUE(recordings().empty());
  EXPECT_EQ(lastReason(), "memory-changed");
}

// Allocations can follow each other without a gap; the driver refuses a copy
// that reaches from one into the next.
TEST_F(Program, NoCopyReachesIntoTheNextAllocation) {
  start();
  Words Data(2 * ChunkBytes / 8);
  for (size_t I = 0; I < Data.size(); ++I)
    Data[I] = I;
  auto First = reinterpret_cast<Address>(Data.data());
  Data[0] = First + ChunkBytes; // makes the second reachable
  R->allocated(First, ChunkBytes, MemoryKind::Device);
  R->allocated(First + ChunkBytes, ChunkBytes, MemoryKind::Device);
  bool Crossed = false;
  D.OnCopy = [&](Address From, uint64_t Size) {
    Crossed |= From < First + ChunkBytes && From + Size > First + ChunkBytes;
  };
  launch(Data.data(), 1);
  EXPECT_EQ(recordings().size(), 1u);
  EXPECT_FALSE(Crossed);
}

TEST_F(Program, AFailedLaunchGivesItsErrorAndNoRecord) {
  start();
  Words Data(64, 1);
  allocated(Data);
  EXPECT_EQ(launch(Data.data(), 1, [] { return 9; }), 9);
  EXPECT_TRUE(recordings().empty());
  EXPECT_EQ(lastReason(), "launch-failed");
  EXPECT_LT(packBytes(), 500u);
}

TEST_F(Program, AFaultEndsRecordingOnTheDevice) {
  start();
  Words Data(64);
  allocated(Data);
  EXPECT_EQ(launch(Data.data(), 1, [&] { return D.Sick = true, 0; }), 0);
  EXPECT_EQ(launch(Data.data(), 1), 0);
  EXPECT_TRUE(recordings().empty());
  EXPECT_EQ(Launched, 2u);
}

TEST_F(Program, TheLimitIsKept) {
  Options.LimitBytes = ChunkBytes;
  start();
  std::vector<uint32_t> Data(ChunkBytes);
  for (size_t I = 0; I < Data.size(); ++I)
    Data[I] = uint32_t(I);
  Words Small(64);
  allocated(Data);
  allocated(Small);
  launch(Data.data(), 1);
  EXPECT_TRUE(recordings().empty());
  EXPECT_EQ(lastReason(), "too-large");
  launch(Small.data(), 1);
  EXPECT_EQ(recordings().size(), 1u);
}

TEST_F(Program, ManySlabsOfMemory) {
  start();
  std::vector<uint32_t> Data(3 * Staging::SlabBytes / 4 + 17);
  for (size_t I = 0; I < Data.size(); ++I)
    Data[I] = uint32_t(I * 2654435761u);
  allocated(Data);
  launch(Data.data(), 1, [&] { return Data.back() = 1, 0; });
  auto All = recordings();
  ASSERT_EQ(All.size(), 1u);
  const auto &A = All[0].Allocations[0];
  for (size_t C : {size_t(0), size_t(63), size_t(64), A.Before.size() - 1}) {
    auto Bytes = chunk(A.Before[C]);
    uint32_t First;
    std::memcpy(&First, Bytes.data(), 4);
    EXPECT_EQ(First, uint32_t(C * (ChunkBytes / 4) * 2654435761u)) << C;
  }
}

TEST_F(Program, NamedKernelsOnly) {
  Options.Kernels = {"other"};
  start();
  Words Data(64);
  allocated(Data);
  launch(Data.data(), 1);
  EXPECT_TRUE(recordings().empty());
  EXPECT_EQ(statistics().Launches, 1u);
}

TEST_F(Program, SamplesTellTheTimeOfLaunches) {
  Options.Kernels = {"none"};
  start();
  Words Data(64);
  for (int I = 0; I < 5; ++I)
    launch(Data.data(), 1);
  R->collect();
  // The first one includes loading the code.
  EXPECT_EQ(statistics().Sampled, 4u);
  EXPECT_EQ(statistics().SampledNs, 8000000u);
}

TEST_F(Program, TheFirstLaunchTellsNoTime) {
  start();
  Words Data(64);
  allocated(Data);
  launch(Data.data(), 1, [&] { return ++Data[0], 0; });
  EXPECT_EQ(recordings().at(0).DurationNs, 0u);
  EXPECT_EQ(statistics().Sampled, 1u);
  launch(Data.data(), 1, [&] { return ++Data[0], 0; });
  auto All = recordings();
  ASSERT_EQ(All.size(), 2u);
  EXPECT_EQ(All[0].DurationNs + All[1].DurationNs, 2000000u);
}

TEST_F(Program, UnknownHandlesAreLaunched) {
  start();
  LaunchRequest Q;
  Q.Handle = &Q;
  EXPECT_EQ(R->launch(Q, [] { return 3; }), 3);
}

TEST_F(Program, DamagedDescriptorsMeanNoBitcode) {
  start();
  ASSERT_FALSE(writeFileAtomically(Path, std::string_view("not an ELF file")));
  Words Data(64);
  allocated(Data);
  EXPECT_EQ(launch(Data.data(), 1), 0);
  EXPECT_EQ(lastReason(), "no-bitcode");
}

//===-- Reasons -----------------------------------------------------------===//

TEST_F(Program, NothingOfOursHappensDuringACapture) {
  start();
  Words Data(64);
  allocated(Data);
  R->captureBegan();
  launch(Data.data(), 1);
  EXPECT_EQ(D.Hashes, 0u);
  EXPECT_EQ(lastReason(), "graph-capture");
  R->captureEnded();
  D.Capturing = true; // by a library that is not instrumented
  launch(Data.data(), 1);
  EXPECT_TRUE(recordings().empty());
  EXPECT_EQ(statistics().Launches, 2u);
  EXPECT_EQ(statistics().ReasonCount, 2u);
}

TEST_F(Program, LaunchesWithClusters) {
  start();
  Words Data(64);
  allocated(Data);
  Why = Reason::Cluster;
  launch(Data.data(), 1);
  EXPECT_TRUE(recordings().empty());
  EXPECT_EQ(lastReason(), "cluster");
}

TEST_F(Program, MemoryOfAnotherDevice) {
  start();
  Words Data(64);
  Recorder::deviceChosen(1);
  allocated(Data);
  Recorder::deviceChosen(0);
  launch(Data.data(), 1);
  EXPECT_EQ(lastReason(), "peer-memory");
}

TEST_F(Program, ImportedMemory) {
  start();
  Words Data(64);
  D.ForeignMemory = {{reinterpret_cast<Address>(Data.data()), 512}};
  launch(nullptr, 0);
  R->imported(reinterpret_cast<Address>(Data.data()));
  launch(Data.data() + 8, 1);
  EXPECT_EQ(lastReason(), "imported-memory");
}

TEST_F(Program, PoolMemoryOnAGpuOnly) {
  start();
  Words Data(64);
  allocated(Data, MemoryKind::Pool);
  launch(Data.data(), 1);
  ASSERT_EQ(recordings().size(), 1u);
  EXPECT_EQ(recordings()[0].Allocations[0].Kind, MemoryKind::Pool);
}

TEST_F(Program, PoolMemoryIsAReasonOnCuda) {
  D.Backend = "cuda";
  start();
  Words Data(64);
  allocated(Data, MemoryKind::Pool);
  launch(Data.data(), 1);
  EXPECT_EQ(lastReason(), "pool-memory");
}

TEST_F(Program, MemoryOfALibraryIsAskedOfTheDevice) {
  start();
  Words Data(64);
  D.ForeignMemory = {{reinterpret_cast<Address>(Data.data()), 512}};
  launch(&Data[5], 1);
  ASSERT_EQ(recordings().size(), 1u);
  EXPECT_EQ(recordings()[0].Allocations[0].Size, 512u);
}

TEST_F(Program, KernelsThatCannotBeReplayed) {
  Description.Kernels[0].Code["sm_90"].Reason = "device-malloc";
  start();
  Words Data(64);
  allocated(Data);
  launch(Data.data(), 1);
  EXPECT_EQ(lastReason(), "device-malloc");
  EXPECT_EQ(D.Hashes, 0u);
}

TEST_F(Program, KernelsThatNeedADeviceLinkAreRecorded) {
  Description.Kernels[0].Code["sm_90"].Reason = "needs-device-link";
  start();
  Words Data(64);
  allocated(Data);
  launch(Data.data(), 1);
  ASSERT_EQ(recordings().size(), 1u);
  EXPECT_EQ(recordings()[0].Reason, "needs-device-link");
}

//===-- Globals -----------------------------------------------------------===//

TEST_F(Program, GlobalsAreRecordedAndWordsThatPointToThemNamed) {
  Words Data(64), Global(32, 3);
  Description.Globals = {{"_R3g", "g", 256, false, false, ValueType::I64}};
  Description.Kernels[0].Code["sm_90"].Globals = {"_R3g"};
  GlobalPlaces["_R3g"] = {reinterpret_cast<Address>(Global.data()), 256};
  start();
  Data[7] = reinterpret_cast<uint64_t>(&Global[2]);
  allocated(Data);
  launch(Data.data(), 1);
  auto All = recordings();
  ASSERT_EQ(All.size(), 1u);
  ASSERT_EQ(All[0].Allocations.size(), 2u);
  uint32_t InData = All[0].Allocations[0].Kind == MemoryKind::Global;
  EXPECT_EQ(All[0].Allocations[!InData].Global, "_R3g");
  ASSERT_EQ(All[0].Symbolic.size(), 1u);
  EXPECT_EQ(All[0].Symbolic[0].Allocation, InData);
  EXPECT_EQ(All[0].Symbolic[0].Offset, 56u);
  EXPECT_EQ(All[0].Symbolic[0].Name, "_R3g");
  EXPECT_EQ(All[0].Symbolic[0].Addend, 16u);
}

TEST_F(Program, AnArgumentMayPointToAGlobal) {
  Words Global(32, 3);
  Description.Globals = {{"_R3g", "g", 256, false, false, ValueType::I64}};
  GlobalPlaces["_R3g"] = {reinterpret_cast<Address>(Global.data()), 256};
  start();
  launch(Global.data(), 1);
  auto All = recordings();
  ASSERT_EQ(All.size(), 1u);
  ASSERT_EQ(All[0].Symbolic.size(), 1u);
  EXPECT_EQ(All[0].Symbolic[0].Allocation, 0xffffffffu);
  EXPECT_EQ(All[0].Allocations[0].Kind, MemoryKind::Global);
}

TEST_F(Program, AWordAcrossChunksIsFound) {
  Words Global(32, 3);
  Description.Globals = {{"_R3g", "g", 256, false, false, ValueType::I64}};
  GlobalPlaces["_R3g"] = {reinterpret_cast<Address>(Global.data()), 256};
  start();
  std::vector<uint8_t> Data(20 * ChunkBytes);
  auto Where = reinterpret_cast<uint64_t>(Global.data());
  std::memcpy(Data.data() + 9 * ChunkBytes - 4, &Where, 8);
  allocated(Data);
  launch(Data.data(), 1);
  auto All = recordings();
  ASSERT_EQ(All.size(), 1u);
  ASSERT_EQ(All[0].Symbolic.size(), 1u);
  EXPECT_EQ(All[0].Symbolic[0].Offset, 9 * ChunkBytes - 4);
}

TEST_F(Program, AGlobalThatCannotBeFoundIsAReason) {
  Description.Globals = {{"_R3g", "g", 256, false, false, ValueType::I64}};
  Description.Kernels[0].Code["sm_90"].Globals = {"_R3g"};
  start();
  launch(nullptr, 1);
  EXPECT_EQ(lastReason(), "global-hidden");
}

//===-- Several threads and programs --------------------------------------===//

TEST_F(Program, SeveralThreads) {
  Options.TimeoutMs = 20000;
  start();
  std::vector<Words> Data(4, Words(4096));
  for (Words &W : Data)
    allocated(W);
  std::vector<std::thread> Threads;
  std::atomic<unsigned> Done{0};
  for (size_t T = 0; T < Data.size(); ++T)
    Threads.emplace_back([&, T] {
      void *At = Data[T].data();
      int N = 1 << (4 * T);
      void *Arguments[] = {&At, &N};
      LaunchRequest Q;
      Q.Handle = Entry.Handle;
      Q.Arguments = Arguments;
      for (int I = 0; I < 200; ++I)
        R->launch(Q, [&] { return ++Data[T][I], ++Done, 0; });
    });
  for (auto &T : Threads)
    T.join();
  EXPECT_EQ(Done, 800u);
  auto All = recordings();
  EXPECT_EQ(All.size(), 6u) << lastReason();
  for (const Recording &One : All)
    for (const auto &A : One.Allocations)
      for (const Digest &C : A.Before)
        EXPECT_FALSE(chunk(C).empty());
  EXPECT_EQ(statistics().Launches, 800u);
}

TEST_F(Program, TwoProgramsIntoOneStore) {
  start();
  auto Second = makeRecorder();
  ASSERT_TRUE(Second) << Second.error().message();
  Words Data(64, 1);
  allocated(Data);
  launch(Data.data(), 1, [&] { return ++Data[0], 0; });
  R->drain();
  std::swap(R, *Second);
  // A kernel state belongs to one process; here another image stands for it.
  Images.detach(&Table);
  Images.attach(&Table);
  allocated(Data);
  launch(Data.data(), 1, [&] { return ++Data[0], 0; });
  EXPECT_EQ(recordings().size(), 2u);
  EXPECT_EQ(Store::open(Options.StorePath, false)->listRuns().size(), 2u);
}

TEST_F(Program, ThreadsWithoutAContextArePassedOn) {
  start();
  Words Data(64);
  NoContext = true;
  for (int I = 0; I < 40; ++I)
    EXPECT_EQ(launch(Data.data(), 1), 0);
  NoContext = false;
  allocated(Data);
  launch(Data.data(), 1);
  EXPECT_EQ(recordings().size(), 1u);
  EXPECT_EQ(Launched, 41u);
}

TEST_F(Program, WithoutADriverRecordingIsOff) {
  start();
  NoDriver = true;
  EXPECT_EQ(launch(nullptr, 1), 0);
  EXPECT_TRUE(R->isOff());
}

TEST_F(Program, ResetForgetsTheDevice) {
  start();
  Words Data(64);
  allocated(Data);
  launch(Data.data(), 1);
  R->beforeReset();
  EXPECT_TRUE(R->memory().snapshot().empty());
  allocated(Data);
  launch(Data.data(), 1, [&] { return ++Data[0], 0; });
  EXPECT_EQ(recordings().size(), 2u);
}

TEST_F(Program, AfterTheEndNothingIsRecorded) {
  start();
  Words Data(64);
  allocated(Data);
  R->finish();
  EXPECT_EQ(launch(Data.data(), 1), 0);
  EXPECT_EQ(Launched, 1u);
  EXPECT_TRUE(files().empty());
}

} // namespace
