// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches in plain memory, on the fake device: what is copied, what is left
// unwritten, and that addresses in the arguments move.
#include "FakeDevice.h"
#include "Fixture.h"

#include "wrapper/replay/KernelSet.h"
#include "wrapper/replay/Runner.h"

#include <gmock/gmock.h>

#include <unistd.h>

using namespace r3;
using namespace r3::replay;
using namespace r3::testing;
using ::testing::HasSubstr;

namespace {

TEST(PlainLaunch, IsReadBack) {
  PlainLaunch L;
  L.Words = {{8, 1}, {0, 0}};
  L.Filled.resize(3);
  L.Filled[1].append({4, 400004});
  L.Filled[1].append({400008, 400012});
  const auto Bytes = L.serialize();
  auto Read = PlainLaunch::parse(Bytes);
  ASSERT_TRUE(Read) << Read.error().message();
  ASSERT_EQ(Read->Words.size(), 2u);
  EXPECT_EQ(Read->Words[0].Offset, 8u);
  EXPECT_EQ(Read->Words[0].Range, 1u);
  EXPECT_EQ(Read->Filled, L.Filled);
  for (size_t Size = 0; Size < Bytes.size(); ++Size)
    EXPECT_FALSE(PlainLaunch::parse(std::span(Bytes).first(Size))) << Size;
}

class PlainRun : public ReplayTest {
protected:
  void SetUp() override {
    ReplayTest::SetUp();
    D = std::move(*fake::openFakeDevice({}));
    auto Set = KernelSet::read(*TheStore, {record({})}, D->identity());
    ASSERT_TRUE(Set) << Set.error().message();
    Kernel.emplace(std::move(*Set));
    auto Made = Kernel->plan(D->granularity(), D->reserveAlignment());
    ASSERT_TRUE(Made) << Made.error().message();
    Plan = std::move(*Made);
    All.append({0, Kernel->first().Allocations[0].Size});
    L.Words = {{0, 0}, {8, 1}};
    L.Filled = {All, All};
    L.Filled.resize(Plan.Launches[0].Ranges.size());
  }

  /// Of a kernel of the fake device that is called Word.
  replay::RunResult run(const std::string &Word) {
    ReplayMemory Memory(*D);
    Runner R(*D, Plan, Memory);
    EXPECT_FALSE(R.open());
    auto Info =
        R.setCode(VariantSlot,
                  {reinterpret_cast<const uint8_t *>(Word.data()), Word.size()},
                  "saxpy", {});
    EXPECT_TRUE(Info) << Info.error().message();
    std::vector<OwnedFd> Packs;
    for (int Fd : Kernel->packFds())
      Packs.emplace_back(dup(Fd));
    return R.runPlain(0, VariantSlot, L, std::move(Packs), [] {}, [] {});
  }

  std::unique_ptr<Device> D;
  std::optional<KernelSet> Kernel;
  ReplayPlan Plan;
  IntervalSet All; // of one of the two, which are of one size
  PlainLaunch L;
};

TEST_F(PlainRun, HasTheRecordedContents) {
  const replay::RunResult R = run("expects");
  EXPECT_EQ(R.Ending, Outcome::Ok) << R.Message;
  // And is where nothing was mapped.
  EXPECT_EQ(run("homesick").Ending, Outcome::IllegalAccess);
}

TEST_F(PlainRun, LeavesUnwrittenWhatItIsToldTo) {
  EXPECT_EQ(run("unwritten").Ending, Outcome::IllegalAccess);
  IntervalSet First;
  First.append({0, 4});
  L.Filled[1] = All.minus(First);
  EXPECT_EQ(run("expects").Ending, Outcome::IllegalAccess);
  const replay::RunResult R = run("unwritten");
  EXPECT_EQ(R.Ending, Outcome::Ok) << R.Message;
}

TEST_F(PlainRun, TakesNoDamagedRequest) {
  L.Words.push_back({17, 0});
  EXPECT_THAT(run("saxpy").Message, HasSubstr("outside of the arguments"));
  L.Words.back() = {0, 99};
  EXPECT_THAT(run("saxpy").Message, HasSubstr("outside of the arguments"));
  L.Words.pop_back();
  L.Filled.pop_back();
  EXPECT_EQ(run("saxpy").Ending, Outcome::LaunchFailed);
}

} // namespace
