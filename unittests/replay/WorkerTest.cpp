// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The supervisor and the device child over a fake device: restoring, comparing,
// timing, several recordings, symbolic words.
#include "Fixture.h"

#include "runtime/support/Files.h"

#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>
#include <fstream>

using namespace r3;
using namespace r3::testing;
using ::testing::HasSubstr;

namespace {

using WorkerReplayTest = ReplayTest;

EvaluationReport evaluate(Worker &W, const std::string &Text,
                          unsigned Pairs = 0,
                          std::vector<size_t> Recordings = {0}) {
  auto R = W.evaluate({pipeline(Text), Recordings, Pairs, /*Seed=*/1});
  EXPECT_TRUE(R) << R.error().message();
  return R ? *R : EvaluationReport();
}

TEST_F(WorkerReplayTest, GreetsWithIdentityAndPipelines) {
  auto W = startFake();
  ASSERT_TRUE(W) << W.error().message();
  EXPECT_EQ((*W)->identity().Name, "fake");
  EXPECT_EQ((*W)->pipelines().at("O2"), "saxpy");
}

TEST_F(WorkerReplayTest, OriginalReproducesBitForBit) {
  auto W = fakeWith(record({}));
  auto R = W->prepare(0, 4);
  ASSERT_TRUE(R) << R.error().message();
  EXPECT_EQ(R->Result, Outcome::Ok) << R->Message;
  EXPECT_TRUE(R->BitExact);
  EXPECT_TRUE(R->Buffers.empty());
  EXPECT_EQ(R->OriginalNs.size(), 4u);
  EXPECT_EQ(R->ProgramNs, 1000);
  EXPECT_GT(R->Ms["restore"], 0);
}

/// Which the copies that memory is restored from have once.
TEST_F(WorkerReplayTest, ChunksThatAreAllAlikeAreRestored) {
  SaxpyOptions Same;
  Same.N = 200001; // three such chunks, and an end
  Same.Alike = true;
  auto W = fakeWith(record(Same));
  auto R = W->prepare(0, 3);
  ASSERT_TRUE(R) << R.error().message();
  EXPECT_EQ(R->Result, Outcome::Ok) << R->Message;
  EXPECT_TRUE(R->BitExact);
}

TEST_F(WorkerReplayTest, RightVariantIsTimedInPairs) {
  auto W = fakeWith(record({}));
  EvaluationReport R = evaluate(*W, "slow", 3);
  EXPECT_EQ(R.Result, Outcome::Ok) << R.Message;
  ASSERT_EQ(R.OriginalNs.size(), 3u);
  ASSERT_EQ(R.VariantNs.size(), 3u);
  for (double Ns : R.VariantNs)
    EXPECT_GE(Ns, 3e6);
  for (double Ns : R.OriginalNs)
    EXPECT_LT(Ns, 3e6);
  EXPECT_EQ(R.Code, contentDigest("slow").hex());
  EXPECT_EQ(R.Registers, 40u);
}

TEST_F(WorkerReplayTest, TheOriginalIsAVariantToo) {
  auto W = fakeWith(record({}));
  auto R = W->evaluate({Variant(), {0}, 1, 1});
  ASSERT_TRUE(R) << R.error().message();
  EXPECT_EQ(R->Result, Outcome::Ok) << R->Message;
  EXPECT_EQ(R->Code, contentDigest("saxpy").hex());
}

TEST_F(WorkerReplayTest, WrongVariantIsNamedWithItsFirstElement) {
  auto W = fakeWith(record({}));
  EvaluationReport R = evaluate(*W, "wrong", 2);
  EXPECT_EQ(R.Result, Outcome::Wrong);
  EXPECT_THAT(R.Message, HasSubstr("y[3]: expected 3.75, got 4.75"));
  EXPECT_TRUE(R.VariantNs.empty());
}

TEST_F(WorkerReplayTest, WriteBehindAnAllocationIsOutOfBounds) {
  auto W = fakeWith(record({}));
  EvaluationReport R = evaluate(*W, "outside");
  EXPECT_EQ(R.Result, Outcome::OutOfBounds);
  EXPECT_THAT(R.Message, HasSubstr("behind y"));
}

TEST_F(WorkerReplayTest, WriteToAnInputIsWrong) {
  auto W = fakeWith(record({}));
  EvaluationReport R = evaluate(*W, "inside");
  EXPECT_EQ(R.Result, Outcome::Wrong);
  EXPECT_THAT(R.Message, HasSubstr("x["));
}

TEST_F(WorkerReplayTest, EverythingIsRestoredAfterAWildVariant) {
  auto W = fakeWith(record({}));
  for (const char *Wild : {"outside", "inside", "wrong"}) {
    EXPECT_NE(evaluate(*W, Wild).Result, Outcome::Ok) << Wild;
    EvaluationReport R = evaluate(*W, "saxpy", 1);
    EXPECT_EQ(R.Result, Outcome::Ok) << "after " << Wild << ": " << R.Message;
  }
}

TEST_F(WorkerReplayTest, AFinalistThatChangesPristineCopiesIsFound) {
  auto W = fakeWith(record({}));
  EvaluationRequest Request{pipeline("slow"), {0}};
  Request.Checks = {Check::Pristine};
  auto R = W->evaluate(Request);
  ASSERT_TRUE(R) << R.error().message();
  EXPECT_EQ(R->Result, Outcome::Ok) << R->Message;
  ASSERT_EQ(R->Checks.size(), 1u);
  EXPECT_TRUE(R->Checks[0].Made) << R->Checks[0].Message;
  Request.Change = pipeline("spoil");
  R = W->evaluate(Request);
  ASSERT_TRUE(R) << R.error().message();
  EXPECT_EQ(R->Result, Outcome::OutOfBounds);
  EXPECT_EQ(R->Message,
            "1 chunk of the copies that memory is restored from changed");
  Request.Change = pipeline("slow"); // everything was loaded again
  R = W->evaluate(Request);
  ASSERT_TRUE(R) << R.error().message();
  EXPECT_EQ(R->Result, Outcome::Ok) << R->Message;
}

TEST_F(WorkerReplayTest, PristineCopiesAreLookedAtNowAndThen) {
  auto W = fakeWith(record({}));
  EXPECT_EQ(evaluate(*W, "spoil").Result, Outcome::Ok);
  for (int I = 0; I < 62; ++I)
    ASSERT_EQ(evaluate(*W, "saxpy").Result, Outcome::Ok) << I;
  EvaluationReport R = evaluate(*W, "saxpy");
  EXPECT_EQ(R.Result, Outcome::NotVerifiable);
  EXPECT_EQ(R.Message, "1 chunk of the copies that memory is restored from "
                       "changed under one of the last 64 variants and were "
                       "loaded again");
  for (int I = 0; I < 65; ++I)
    ASSERT_EQ(evaluate(*W, "saxpy").Result, Outcome::Ok) << I;
}

TEST_F(WorkerReplayTest, KnownBinariesAreNotRun) {
  auto W = fakeWith(record({}));
  auto R = W->evaluate(
      {pipeline("crash"), {0}, 1, 1, {contentDigest("crash").hex()}});
  ASSERT_TRUE(R) << R.error().message();
  EXPECT_EQ(R->Result, Outcome::Duplicate);
  EXPECT_EQ(R->Code, contentDigest("crash").hex());
}

TEST_F(WorkerReplayTest, GuardsChooseRecordings) {
  SaxpyOptions Other;
  Other.N = 60000;
  auto Started = startFake();
  ASSERT_TRUE(Started) << Started.error().message();
  auto W = std::move(*Started);
  Error E = W->load({record({}), record(Other)});
  ASSERT_FALSE(E) << E.message();
  Variant V = pipeline("saxpy");
  V.Guards = {"n==60000"};
  auto R = W->evaluate({V, {0, 1}});
  ASSERT_TRUE(R) << R.error().message();
  EXPECT_EQ(R->Result, Outcome::Ok) << R->Message;
  EXPECT_EQ(R->Excluded, std::vector<size_t>{0});
  EXPECT_EQ(R->Guards, "guard does not hold in 1 of 2 recordings: n==60000");
  R = W->evaluate({V, {0}});
  ASSERT_TRUE(R) << R.error().message();
  EXPECT_EQ(R->Result, Outcome::Refused);
  EXPECT_THAT(R->Message, HasSubstr("no recording is left"));
}

TEST_F(WorkerReplayTest, LaunchesBeyondTheLimitsAreRefused) {
  auto W = fakeWith(record({}));
  Variant V = pipeline("saxpy");
  V.Launch = {{"block.x", "8 * block.x"}};
  auto R = W->evaluate({V, {0}});
  ASSERT_TRUE(R) << R.error().message();
  EXPECT_EQ(R->Result, Outcome::Refused);
  EXPECT_THAT(R->Message, HasSubstr("block.x = '8 * block.x' gives 2048: the "
                                    "device takes at most 1024"));
  V.Launch = {{"grid.x", "n - n"}};
  R = W->evaluate({V, {0}});
  ASSERT_TRUE(R) << R.error().message();
  EXPECT_EQ(R->Result, Outcome::Refused);
  EXPECT_THAT(R->Message, HasSubstr("a launch without blocks"));
}

TEST_F(WorkerReplayTest, RecordingsMayOverlapInMemory) {
  SaxpyOptions First, Second;
  Second.N = 60000;
  Second.A = 3;
  Second.FirstY = 5;
  Second.Base += 0x800;
  auto W = startFake();
  ASSERT_TRUE(W) << W.error().message();
  Error E = (*W)->load({record(First), record(Second)});
  ASSERT_FALSE(E) << E.message();
  EvaluationReport R = evaluate(**W, "saxpy", 2, {0, 1, 0});
  EXPECT_EQ(R.Result, Outcome::Ok) << R.Message;
  EXPECT_EQ(R.OriginalNs.size(), 6u);
}

TEST_F(WorkerReplayTest, NoiseOfFloatsIsToleratedTwice) {
  SaxpyOptions O;
  O.Image = "noisy";
  auto W = fakeWith(record(O));
  auto P = W->prepare(0, 12);
  ASSERT_TRUE(P) << P.error().message();
  ASSERT_EQ(P->Result, Outcome::Ok) << P->Message;
  EXPECT_FALSE(P->BitExact);
  ASSERT_EQ(P->Buffers.size(), 1u);
  EXPECT_EQ(P->Buffers[0].Name, "y");
  EXPECT_EQ(P->Buffers[0].Type, ValueType::F32);
  EXPECT_GT(P->Buffers[0].MaxDifference, 0);
  EXPECT_GT(P->Buffers[0].Rms, 1);
  EvaluationReport R = evaluate(*W, "noisy", 2);
  EXPECT_EQ(R.Result, Outcome::Ok) << R.Message;
  EXPECT_EQ(evaluate(*W, "wrong").Result, Outcome::Wrong);
}

TEST_F(WorkerReplayTest, NoiseInABufferOfUnknownTypeIsNotVerifiable) {
  SaxpyOptions O;
  O.Image = "noisy";
  O.Typed = false;
  auto W = fakeWith(record(O));
  auto P = W->prepare(0, 12);
  ASSERT_TRUE(P) << P.error().message();
  EXPECT_EQ(P->Result, Outcome::NotVerifiable);
  EXPECT_EQ(evaluate(*W, "noisy").Result, Outcome::NotVerifiable);
}

TEST_F(WorkerReplayTest, ALaunchThatChangesNothingIsNoEvidence) {
  SaxpyOptions O;
  O.Changed = false;
  auto W = fakeWith(record(O));
  auto P = W->prepare(0, 1);
  ASSERT_TRUE(P) << P.error().message();
  EXPECT_EQ(P->Result, Outcome::NotVerifiable);
  EXPECT_THAT(P->Message, HasSubstr("changed no memory"));
}

TEST_F(WorkerReplayTest, MemoryThatDoesNotFitTwiceIsKeptOnTheHost) {
  auto W = startFake("fake-small");
  ASSERT_TRUE(W) << W.error().message();
  SaxpyOptions O;
  O.N = 250000;
  Error E = (*W)->load({record(O), record({})});
  ASSERT_FALSE(E) << E.message();
  EXPECT_EQ(evaluate(**W, "saxpy", 2, {0, 1}).Result, Outcome::Ok);
  EXPECT_EQ(evaluate(**W, "crash").Result, Outcome::IllegalAccess);
  EvaluationReport R = evaluate(**W, "saxpy", 1, {1, 0});
  EXPECT_EQ(R.Result, Outcome::Ok) << R.Message;
}

TEST_F(WorkerReplayTest, TakenAddressesAreTriedInNewProcesses) {
  auto W = startFake("fake-taken");
  ASSERT_TRUE(W) << W.error().message();
  const std::string Count = Folder + "/fake-taken.conflicts";
  std::ofstream(Count) << 5;
  Error E = (*W)->load({record({})});
  EXPECT_FALSE(E) << E.message();
  std::ofstream(Count) << 1000;
  E = (*W)->load({record({})});
  EXPECT_EQ(E.code(), ErrorCode::CannotRunHere);
  EXPECT_THAT(E.message(), HasSubstr("in 16 starts"));
  EXPECT_THAT(E.message(), HasSubstr("0x6e0000000000"));
}

TEST_F(WorkerReplayTest, SymbolicWordsPointIntoThisProcess) {
  auto W = fakeWith(recordFollow());
  auto P = W->prepare(0, 2);
  ASSERT_TRUE(P) << P.error().message();
  EXPECT_EQ(P->Result, Outcome::Ok) << P->Message;
  EXPECT_TRUE(P->BitExact);
  EvaluationReport E = evaluate(*W, "follow", 1);
  EXPECT_EQ(E.Result, Outcome::Ok) << E.Message;
}

TEST_F(WorkerReplayTest, BadLoadsAreErrorsAndTheWorkerLives) {
  auto W = startFake();
  ASSERT_TRUE(W) << W.error().message();
  EXPECT_EQ((*W)->load({Folder + "/none.r3rec"}).code(), ErrorCode::NotFound);
  EXPECT_EQ((*W)->load({}).code(), ErrorCode::Usage);
  EXPECT_TRUE((*W)->prepare(0, 1).error());
  SaxpyOptions Cpu;
  Cpu.Backend = "cpu";
  EXPECT_EQ((*W)->load({record(Cpu)}).code(), ErrorCode::Stale);
  SaxpyOptions Other;
  Other.Kernel = "other";
  Error E = (*W)->load({record({}), record(Other)});
  EXPECT_THAT(E.message(), HasSubstr("two kernels"));
  Other.Kernel = "saxpy";
  Other.Image = "unloadable";
  E = (*W)->load({record(Other)});
  EXPECT_THAT(E.message(), HasSubstr("this image is not loaded"));
  EXPECT_FALSE((*W)->load({record({})}));
  EXPECT_EQ(evaluate(**W, "saxpy").Result, Outcome::Ok);
}

TEST_F(WorkerReplayTest, DamagedPacksAreFound) {
  const std::string Path = record({});
  for (const auto &Name : std::vector<std::string>{".pack"}) {
    auto Packs = Folder + "/.r3/packs";
    std::string File;
    for (const auto &Entry : std::filesystem::directory_iterator(Packs))
      if (Entry.path().extension() == Name)
        File = Entry.path();
    std::fstream Stream(File, std::ios::in | std::ios::out | std::ios::binary);
    Stream.seekp(5000);
    Stream.put('!');
  }
  auto W = startFake();
  ASSERT_TRUE(W) << W.error().message();
  Error E = (*W)->load({Path});
  EXPECT_EQ(E.code(), ErrorCode::Damaged) << E.message();
  EXPECT_THAT(E.message(), HasSubstr("not what was recorded"));
}

} // namespace
