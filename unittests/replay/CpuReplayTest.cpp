// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The whole worker on the CPU device: real kernels, real compilers, recordings
// written by hand.
#include "Fixture.h"

#include "runtime/support/Files.h"

#include <gmock/gmock.h>

#include <cstring>

using namespace r3;
using namespace r3::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Matcher;

namespace {

class CpuReplayTest : public ReplayTest {
protected:
  SaxpyOptions options(const std::string &Kernel, int N = 100001) {
    auto Bitcode = readFile(R3_TEST_KERNELS ".bc");
    EXPECT_TRUE(Bitcode) << Bitcode.error().message();
    SaxpyOptions O;
    O.Backend = "cpu";
    O.Kernel = Kernel;
    O.N = N;
    O.Bitcode = *Bitcode;
    return O;
  }
  std::unique_ptr<Worker> start() {
    WorkerOptions O;
    O.Backend = "cpu";
    O.StorePath = TheStore->path();
    auto W = Worker::start(O);
    EXPECT_TRUE(W) << W.error().message();
    return W ? std::move(*W) : nullptr;
  }
  /// Batches in which all results were right; the kernel may be short.
  static size_t batches(Worker &W, const std::string &Text) {
    MeasurementRequest What;
    What.Change = pipeline(Text);
    What.Batches = 2;
    What.Mode = CacheMode::Warm;
    auto M = W.measure(What);
    EXPECT_TRUE(M) << M.error().message();
    if (!M)
      return 0;
    EXPECT_TRUE(M->Result == Outcome::Ok ||
                M->Result == Outcome::BelowResolution)
        << M->Message;
    return M->Batches.size();
  }
  void expectBlamesTheOriginal(Check What, const std::string &Kernel,
                               const Matcher<const std::string &> &Why);
  /// How the original of a kernel ends, and that the worker goes on after it.
  ReplayReport fate(const std::string &Kernel) {
    auto W = start();
    Error E = W->load({record(options(Kernel, 1000))});
    EXPECT_FALSE(E) << E.message();
    auto P = W->prepare(0, 1);
    EXPECT_TRUE(P) << P.error().message();
    E = W->load({record(options("saxpy", 1000))});
    EXPECT_FALSE(E) << E.message();
    auto R = W->evaluate({Variant(), {0}, 0, 1});
    EXPECT_TRUE(R && R->Result == Outcome::Ok);
    return P ? *P : ReplayReport();
  }
};

TEST_F(CpuReplayTest, SaxpyReproducesAndVariantsAreTimed) {
  auto W = start();
  EXPECT_EQ(W->identity().Backend, "cpu");
  ASSERT_EQ(W->pipelines().size(), 4u);
  Error E = W->load({record(options("saxpy"))});
  ASSERT_FALSE(E) << E.message();
  auto P = W->prepare(0, 3);
  ASSERT_TRUE(P) << P.error().message();
  EXPECT_EQ(P->Result, Outcome::Ok) << P->Message;
  EXPECT_TRUE(P->BitExact);
  ASSERT_EQ(P->OriginalNs.size(), 3u);
  EXPECT_GT(P->OriginalNs[0], 0);
  for (const std::string &Text :
       {std::string("default<O1>"), std::string("default<O3>"),
        W->pipelines().at("O3"), W->pipelines().at("Os")}) {
    auto R = W->evaluate({pipeline(Text), {0}, 2, 1});
    ASSERT_TRUE(R) << R.error().message();
    EXPECT_EQ(R->Result, Outcome::Ok) << R->Message;
    EXPECT_EQ(R->VariantNs.size(), 2u);
    EXPECT_EQ(R->Code.size(), 32u);
  }
}

TEST_F(CpuReplayTest, WhatComesToTheSameIsADuplicate) {
  auto W = start();
  Error E = W->load({record(options("saxpy", 1000))});
  ASSERT_FALSE(E) << E.message();
  for (const char *Text : {"default<O2>", "default<O2>,verify", "dance",
                           "default<O2>,verify,verify", "function(sroa)"}) {
    EvaluationRequest What{pipeline(Text), {0}, /*Pairs=*/1};
    What.Once = true;
    E = W->submit(What);
    ASSERT_FALSE(E) << E.message();
  }
  std::vector<EvaluationReport> All;
  for (int I = 0; I < 5; ++I) {
    auto R = W->next();
    ASSERT_TRUE(R) << R.error().message();
    All.push_back(*R);
  }
  EXPECT_EQ(All[0].Result, Outcome::Ok) << All[0].Message;
  for (int I : {1, 3}) {
    EXPECT_EQ(All[I].Result, Outcome::Duplicate) << All[I].Message;
    EXPECT_EQ(All[I].Code, All[0].Code);
    EXPECT_EQ(All[I].Ir, All[0].Ir);
  }
  EXPECT_EQ(All[2].Result, Outcome::BuildFailed);
  EXPECT_NE(All[4].Ir, All[0].Ir);
  // A search that goes on: what an earlier one found is known.
  E = W->load({record(options("saxpy", 1000))});
  ASSERT_FALSE(E) << E.message();
  E = W->know({{"made up", All[0].Ir, All[0].Ptx}});
  ASSERT_FALSE(E) << E.message();
  EvaluationRequest What{pipeline("default<O2>,verify"), {0}};
  What.Once = true;
  auto R = W->evaluate(What);
  ASSERT_TRUE(R) << R.error().message();
  EXPECT_EQ(R->Result, Outcome::Duplicate);
  EXPECT_EQ(R->Code, "made up"); // no code was generated
}

TEST_F(CpuReplayTest, WhatCannotWinIsTimedWithFewerPairs) {
  auto W = start();
  Error E = W->load({record(options("saxpy"))});
  ASSERT_FALSE(E) << E.message();
  EvaluationRequest What{pipeline("default<O2>"), {0}, /*Pairs=*/8};
  What.Beat = 1000; // nothing is so much faster
  auto R = W->evaluate(What);
  ASSERT_TRUE(R) << R.error().message();
  EXPECT_EQ(R->Result, Outcome::Ok) << R->Message;
  EXPECT_GE(R->Pairs, 3u);
  EXPECT_EQ(R->VariantNs.size(), R->Pairs);
  EXPECT_LT(R->Pairs, 8u);
  What.Beat = 0.01;
  R = W->evaluate(What);
  ASSERT_TRUE(R) << R.error().message();
  EXPECT_EQ(R->Pairs, 8u);
}

TEST_F(CpuReplayTest, MeasuresInBatchesAndTellsFloors) {
  auto W = start();
  Error E = W->load({record(options("saxpy"))});
  ASSERT_FALSE(E) << E.message();
  auto P = W->prepare(0, 1);
  ASSERT_TRUE(P) << P.error().message();
  EXPECT_EQ(P->Floor.ColdUs, 0); // no rates were asked for
  auto Rates = W->rates();
  ASSERT_TRUE(Rates) << Rates.error().message();
  EXPECT_GT(Rates->MemoryBytesPerUs, 100);
  EXPECT_GT(Rates->L2BytesPerUs, 100);
  EXPECT_GT(Rates->EmptyLaunchUs, 0);
  P = W->prepare(0, 1);
  ASSERT_TRUE(P) << P.error().message();
  // 800,004 bytes read, 400,004 written, in sectors.
  EXPECT_NEAR(P->Floor.ColdUs,
              Rates->EmptyLaunchUs +
                  std::max(2 * 400032 / Rates->MemoryBytesPerUs,
                           3 * 400032 / Rates->L2BytesPerUs),
              P->Floor.ColdUs / 1000);
  EXPECT_NEAR(P->Floor.WarmUs,
              Rates->EmptyLaunchUs + 3 * 400032 / Rates->L2BytesPerUs,
              P->Floor.WarmUs / 1000);
  EXPECT_EQ(P->Floor.Counted, (Operations{2 * 100001, 0, 0}));
  EXPECT_THAT(P->Floor.Uncounted, HasSubstr("how fast this device calculates"));
  EvaluationRequest Looked{pipeline("default<O1>"), {0}};
  auto R = W->evaluate(Looked);
  ASSERT_TRUE(R) << R.error().message();
  EXPECT_TRUE(R->Floors.empty()); // was not asked for
  Looked.Floors = true;
  R = W->evaluate(Looked);
  ASSERT_TRUE(R) << R.error().message();
  ASSERT_EQ(R->Floors.size(), 1u);
  EXPECT_EQ(R->Floors[0].Counted, P->Floor.Counted);
  EXPECT_EQ(R->Floors[0].ColdUs, P->Floor.ColdUs);
  for (CacheMode Mode : {CacheMode::Cold, CacheMode::Warm}) {
    MeasurementRequest What;
    What.Change = pipeline("default<O1>");
    What.Batches = 3;
    What.Mode = Mode;
    auto M = W->measure(What);
    ASSERT_TRUE(M) << M.error().message();
    EXPECT_EQ(M->Result, Outcome::Ok) << M->Message;
    EXPECT_EQ(M->Batches.size(), 3u);
    EXPECT_THAT(M->ClocksUnread, HasSubstr("no clocks to read"));
    EXPECT_EQ(M->HostWarning, "");
  }
}

TEST_F(CpuReplayTest, FailedBuildsHaveNames) {
  auto W = start();
  Error E = W->load({record(options("hang", 1000))}); // it has a loop
  ASSERT_FALSE(E) << E.message();
  auto R = W->evaluate({pipeline("function(loop(licm))"), {0}, 0, 1});
  ASSERT_TRUE(R) << R.error().message();
  EXPECT_EQ(R->Result, Outcome::BuildCrashed) << R->Message;
  R = W->evaluate({pipeline("dance"), {0}, 0, 1});
  ASSERT_TRUE(R) << R.error().message();
  EXPECT_EQ(R->Result, Outcome::BuildFailed);
  Variant V;
  V.MaxRegisters = 32;
  R = W->evaluate({V, {0}, 0, 1});
  ASSERT_TRUE(R) << R.error().message();
  EXPECT_EQ(R->Result, Outcome::Refused);
}

TEST_F(CpuReplayTest, SharedMemoryAndBarriersReplay) {
  auto W = start();
  Error E = W->load({record(options("staged", 5000))});
  ASSERT_FALSE(E) << E.message();
  auto R = W->evaluate({pipeline("default<O3>"), {0}, 1, 1});
  ASSERT_TRUE(R) << R.error().message();
  EXPECT_EQ(R->Result, Outcome::Ok) << R->Message;
}

TEST_F(CpuReplayTest, ModuleGlobalsAreFilledByName) {
  auto Path = record(options("scaled", 1000)); // expects a factor of 2
  auto Bytes = readFile(Path);
  ASSERT_TRUE(Bytes);
  auto R = Recording::parse(*Bytes, Path);
  ASSERT_TRUE(R);
  // The program had set Scale[2] to 2 and the other factors to 9.
  std::string Content(16, '\0');
  const float Values[4] = {9, 9, 2, 9};
  std::memcpy(Content.data(), Values, 16);
  std::vector<std::string> Before(3, std::string(4000, '\0')), After(3);
  for (int I = 0; I < 1000; ++I) {
    const float X = float(I % 100), Y = 2 * X;
    std::memcpy(&Before[0][I * 4], &X, 4);
    After[1].append(reinterpret_cast<const char *>(&Y), 4);
  }
  for (auto &A : R->Allocations)
    A.Before.clear(), A.After.clear();
  RecordedAllocation Global;
  Global.Address = 0x123400;
  Global.Size = 16;
  Global.Kind = MemoryKind::Global;
  Global.Global = "Scale";
  R->Allocations.push_back(Global);
  Before[2] = Content;
  auto W = start();
  Error E = W->load({write(*R, Before, After)});
  ASSERT_FALSE(E) << E.message();
  auto Report = W->evaluate({pipeline("default<O3>"), {0}, 1, 1});
  ASSERT_TRUE(Report) << Report.error().message();
  EXPECT_EQ(Report->Result, Outcome::Ok) << Report->Message;
  EXPECT_EQ(batches(*W, "default<O3>"), 2u);
  // With another factor the recorded outcome is not reproduced.
  const float Wrong[4] = {9, 9, 3, 9};
  std::memcpy(Before[2].data(), Wrong, 16);
  for (auto &A : R->Allocations)
    A.Before.clear(), A.After.clear();
  E = W->load({write(*R, Before, After)});
  ASSERT_FALSE(E) << E.message();
  auto P = W->prepare(0, 2);
  ASSERT_TRUE(P) << P.error().message();
  EXPECT_EQ(P->Result, Outcome::NotVerifiable);
}

static std::string messageOf(const EvaluationReport &R, Check What) {
  for (const CheckResult &C : R.Checks)
    if (C.What == What)
      return C.Message;
  return "not asked for";
}

TEST_F(CpuReplayTest, ChecksThatWereAskedForAreReported) {
  auto W = start();
  Error E = W->load({record(options("saxpy", 1000))});
  ASSERT_FALSE(E) << E.message();
  EvaluationRequest What{pipeline("default<O3>"), {0}};
  auto R = W->evaluate(What);
  ASSERT_TRUE(R && R->Result == Outcome::Ok);
  ASSERT_EQ(R->Checks.size(), searchChecks().size());
  EXPECT_FALSE(R->Checks[0].Made);
  EXPECT_EQ(R->Checks[0].Message, "source and launch are the original's");
  EXPECT_EQ(messageOf(*R, Check::Poison),
            "nothing is written that is not read");
  What.Checks = {};
  R = W->evaluate(What);
  ASSERT_TRUE(R && R->Result == Outcome::Ok);
  EXPECT_TRUE(R->Checks.empty());
}

TEST_F(CpuReplayTest, WhatTheOriginalNeverWritesIsReadOnly) {
  auto W = start();
  EvaluationRequest What{pipeline("default<O3>"), {0}, 2};
  Error E = W->load({record(options("saxpy"))});
  ASSERT_FALSE(E) << E.message();
  auto R = W->evaluate(What);
  ASSERT_TRUE(R) << R.error().message();
  EXPECT_EQ(R->Result, Outcome::Ok) << R->Message;
  // All pages of x, and none of y.
  EXPECT_EQ(messageOf(*R, Check::ReadOnly),
            "401408 bytes that the original never writes");
  EXPECT_EQ(batches(*W, "default<O1>"), 2u);
  // Where the traced launch has not seen all, nothing is.
  E = W->load({record(options("furtive"))});
  ASSERT_FALSE(E) << E.message();
  R = W->evaluate(What);
  ASSERT_TRUE(R) << R.error().message();
  EXPECT_EQ(R->Result, Outcome::Ok) << R->Message;
  EXPECT_THAT(messageOf(*R, Check::ReadOnly),
              HasSubstr("the original: it writes what the original never "
                        "writes: x, byte "));
}

TEST_F(CpuReplayTest, FootprintsAreExact) {
  auto W = start();
  Error E = W->load({record(options("saxpy", 1000))});
  ASSERT_FALSE(E) << E.message();
  auto P = W->prepare(0, 1);
  ASSERT_TRUE(P) << P.error().message();
  EXPECT_EQ(P->Untraced, "");
  EXPECT_EQ(P->ReadBytes, 8000u); // x and y
  EXPECT_EQ(P->WrittenBytes, 4000u);
  EXPECT_EQ(P->PoisonedBytes, 0u);
}

// The launch changed nothing, since an earlier one had left the same values:
// what must be written again is poisoned before the replay.
TEST_F(CpuReplayTest, WhatIsWrittenAgainIsEvidence) {
  const auto Path = record(options("strided", 1000));
  auto Bytes = readFile(Path);
  ASSERT_TRUE(Bytes);
  auto R = Recording::parse(*Bytes, Path);
  ASSERT_TRUE(R);
  for (auto &A : R->Allocations)
    A.Before.clear(), A.After.clear();
  std::string Y(4000, '\0');
  const float Value = 77;
  for (int I = 0; I < 1000; I += 2)
    std::memcpy(&Y[I * 4], &Value, 4);
  auto W = start();
  Error E = W->load({write(*R, {std::string(4000, '\0'), Y}, {"", ""})});
  ASSERT_FALSE(E) << E.message();
  auto P = W->prepare(0, 1);
  ASSERT_TRUE(P) << P.error().message();
  EXPECT_EQ(P->Result, Outcome::Ok) << P->Message;
  EXPECT_TRUE(P->BitExact);
  EXPECT_EQ(P->ReadBytes, 0u);
  EXPECT_EQ(P->PoisonedBytes, 2000u);
  EXPECT_EQ(batches(*W, "default<O1>"), 2u);
  auto Same = W->evaluate({pipeline("default<O3>"), {0}});
  ASSERT_TRUE(Same && Same->Checks.size() == searchChecks().size());
  EXPECT_EQ(messageOf(*Same, Check::Poison),
            "2000 bytes overwritten with 2 patterns");
  // The same memory, with one element that the launch did not write.
  Y[8] ^= 1;
  E = W->load({write(*R, {std::string(4000, '\0'), Y}, {"", ""})});
  ASSERT_FALSE(E) << E.message();
  P = W->prepare(0, 1);
  ASSERT_TRUE(P) << P.error().message();
  EXPECT_EQ(P->Result, Outcome::NotVerifiable) << P->Message;
}

/// An honest kernel passes a check. An original that does not says nothing
/// about its variants, but why.
void CpuReplayTest::expectBlamesTheOriginal(
    Check What, const std::string &Kernel,
    const Matcher<const std::string &> &Why) {
  auto W = start();
  EvaluationRequest Ask{pipeline("default<O3>"), {0}};
  Ask.Checks = {What};
  Error E = W->load({record(options("staged", 1000))});
  ASSERT_FALSE(E) << E.message();
  auto R = W->evaluate(Ask);
  ASSERT_TRUE(R && R->Checks.size() == 1);
  EXPECT_TRUE(R->Checks[0].Made) << R->Checks[0].Message;
  EXPECT_EQ(R->Result, Outcome::Ok) << R->Message;
  E = W->load({record(options(Kernel, 1000))});
  ASSERT_FALSE(E) << E.message();
  R = W->evaluate(Ask);
  ASSERT_TRUE(R && R->Checks.size() == 1);
  EXPECT_FALSE(R->Checks[0].Made);
  EXPECT_THAT(R->Checks[0].Message, Why);
  EXPECT_EQ(R->Result, Outcome::Ok) << R->Message;
}

TEST_F(CpuReplayTest, FrozenBuildsSayWhatDependsOnUndefinedValues) {
  expectBlamesTheOriginal(
      Check::Frozen, "undefined",
      HasSubstr("the original itself depends on undefined values"));
}

TEST_F(CpuReplayTest, FilledMemorySaysWhatDependsOnLeftovers) {
  expectBlamesTheOriginal(Check::Scratch, "leftover",
                          AllOf(HasSubstr("the original itself depends on"),
                                HasSubstr("0xff in shared and local memory")));
}

TEST_F(CpuReplayTest, ReadsOutsideAreNamedWithTheirPlace) {
  ReplayReport P = fate("peeks");
  EXPECT_EQ(P.Result, Outcome::OutOfBounds);
  EXPECT_THAT(P.Message, HasSubstr("reads 4 bytes at 0x6e00000013a0"));
  EXPECT_THAT(P.Message, HasSubstr("peeks"));
  EXPECT_THAT(P.Message, HasSubstr("block 3,0,0 thread 231,0,0"));
}

TEST_F(CpuReplayTest, EndlessKernelsTimeOut) {
  ReplayReport P = fate("hang");
  EXPECT_EQ(P.Result, Outcome::Timeout) << P.Message;
}

TEST_F(CpuReplayTest, TrapsAreIllegalAccesses) {
  ReplayReport P = fate("trap");
  EXPECT_EQ(P.Result, Outcome::IllegalAccess) << P.Message;
}

TEST_F(CpuReplayTest, WildStoresAreNamed) {
  ReplayReport P = fate("wild");
  EXPECT_EQ(P.Result, Outcome::OutOfBounds) << P.Message;
  EXPECT_THAT(
      P.Message,
      HasSubstr("writes 4 bytes at 0x12, outside of the recorded memory"));
}

TEST_F(CpuReplayTest, StoresBehindAnAllocationAreOutOfBounds) {
  ReplayReport P = fate("outside");
  EXPECT_EQ(P.Result, Outcome::OutOfBounds) << P.Message;
  EXPECT_THAT(P.Message, HasSubstr("y"));
}

} // namespace
