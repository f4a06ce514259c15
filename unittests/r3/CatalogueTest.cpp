// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a store holds: joined, selected, and cold recordings dropped.
#include "wrapper/r3/Catalogue.h"
#include "unittests/r3/TestStore.h"
#include "unittests/support/TestFolder.h"
#include "wrapper/r3/RecordRun.h"

#include <algorithm>

using namespace r3;

namespace {

class CatalogueTest : public testing::Test {
protected:
  void SetUp() override {
    Error E = makeTestStore(Folder.Path, "cpu");
    ASSERT_FALSE(E) << E.message();
  }
  Store store() { return *Store::open(Folder.Path, false); }

  TestFolder Folder;
};

TEST_F(CatalogueTest, JoinsRunsRecordingsAndUnits) {
  Catalogue All = Catalogue::read(store());
  EXPECT_TRUE(All.Damaged.empty());
  ASSERT_EQ(All.Kernels.size(), 3u);
  const CatalogueKernel &K = All.Kernels[0];
  EXPECT_EQ(K.Display, "stencil<double>");
  EXPECT_EQ(K.Backend, "cpu");
  EXPECT_EQ(K.Launches, 100u);
  EXPECT_NEAR(K.Share, 6320000. / 6821000, 1e-9);
  EXPECT_EQ(K.replayable(), 3u);
  EXPECT_EQ(K.footprint(), 3000u);
  ASSERT_EQ(K.Units.size(), 1u);
  EXPECT_EQ(K.Units[0].Source, "src/stencil.cu");
  EXPECT_EQ(K.state(), "replayable");
  EXPECT_EQ(All.Kernels[2].reason(), "device-malloc");
  EXPECT_EQ(All.Kernels[2].state(), "device-malloc: at line 12");
}

TEST_F(CatalogueTest, CountsTheLatestRunOfAProgram) {
  // A second process of the same run counts, an older run does not.
  RunStats Header;
  Header.Program = "/bin/app";
  Header.StartedAtNs = 1000000001;
  auto Add = [&](const std::string &Name, uint64_t StartedAtNs) {
    Header.StartedAtNs = StartedAtNs;
    auto Run = RunStatsWriter::create(store().runPath(Name), Header);
    ASSERT_TRUE(Run);
    (*Run)->setDevice("x86-64 fake");
    KernelRunStats S;
    S.Launches = 7;
    (*Run)->update((*Run)->addKernel(ReduceKey, "reduce"), S);
  };
  Add("20260131-142501-4711-99", 1000000001);
  Add("20250131-142501-1", 5);
  Catalogue All = Catalogue::read(store());
  EXPECT_EQ(All.Kernels[1].Launches, 57u);
}

TEST_F(CatalogueTest, NamesDamagedFilesAndGoesOn) {
  std::string Path = store().listRecordings()[0];
  ASSERT_FALSE(writeFileAtomically(Path, std::string_view("R3REC")));
  Catalogue All = Catalogue::read(store());
  ASSERT_EQ(All.Damaged.size(), 1u);
  EXPECT_NE(All.Damaged[0].find(Path), std::string::npos);
  EXPECT_EQ(All.Kernels[0].replayable(), 2u);
}

TEST_F(CatalogueTest, SelectsByNamePartAndKey) {
  Catalogue All = Catalogue::read(store());
  auto Count = [&](std::vector<std::string> Patterns) {
    auto Found = All.select("cpu", Patterns);
    return Found ? Found->size() : 0;
  };
  EXPECT_EQ(Count({}), 3u);
  EXPECT_EQ(Count({"stencil"}), 1u);
  EXPECT_EQ(Count({"_Z6reducePdi"}), 1u);
  EXPECT_EQ(Count({"bbbb"}), 1u);
  EXPECT_EQ(Count({"stencil", "reduce"}), 2u);
  EXPECT_TRUE(failsWith(All.select("cpu", {"stencil", "reduec"}),
                        "no kernel 'reduec' (did you mean reduce?)"));
  EXPECT_TRUE(failsWith(All.select("cuda", {}), "add --device cpu"));
  EXPECT_TRUE(failsWith(Catalogue().select("cuda", {}), "r3 record"));
}

TEST(RunNameTest, TellsRunsFromProcesses) {
  EXPECT_EQ(runOfProcess("20260131-142501-4711"), "20260131-142501-4711");
  EXPECT_EQ(runOfProcess("20260131-142501-4711-99"), "20260131-142501-4711");
  EXPECT_EQ(runOfProcess("1769870000-99"), "1769870000-99");
  EXPECT_EQ(runOfProcess("mine"), "mine");
}

class ColdTest : public CatalogueTest {
protected:
  RecordedRun drop(double MinShare, std::set<std::string> Before = {},
                   std::set<std::string> Packs = {}) {
    RecordedRun Run = readRecordedRun(store(), Id);
    Error E = dropCold(store(), Id, Before, Packs, MinShare, Run);
    EXPECT_FALSE(E) << E.message();
    return Run;
  }
  const std::string Id = "20260131-142501-4711";
};

TEST_F(ColdTest, DropsRecordingsOfColdKernels) {
  RecordedRun Run = drop(0.10);
  ASSERT_EQ(Run.Kernels.size(), 3u);
  EXPECT_EQ(Run.Kernels[0].Dropped, 0u);
  EXPECT_EQ(Run.Kernels[1].Dropped, 1u); // reduce has 7 %
  EXPECT_EQ(store().listRecordings().size(), 3u);
  // The pack is still needed by the others.
  EXPECT_EQ(listPacks(store()).size(), 1u);
}

TEST_F(ColdTest, RemovesPacksThatNobodyNeeds) {
  drop(1.0);
  EXPECT_TRUE(store().listRecordings().empty());
  EXPECT_TRUE(listPacks(store()).empty());
}

TEST_F(ColdTest, KeepsWhatWasThereBefore) {
  std::vector<std::string> All = store().listRecordings();
  drop(1.0, {All.begin(), All.end()}, listPacks(store()));
  EXPECT_EQ(store().listRecordings(), All);
  EXPECT_EQ(listPacks(store()).size(), 1u);
}

TEST_F(ColdTest, KeepsPacksOfOthers) {
  drop(1.0, {}, listPacks(store()));
  EXPECT_TRUE(store().listRecordings().empty());
  EXPECT_EQ(listPacks(store()).size(), 1u);
}

TEST_F(ColdTest, LeavesAllWhereAnotherRunIsActive) {
  RunStats Header;
  Header.Program = "/bin/other";
  Header.StartedAtNs = 1500000000;
  Header.LastUpdateNs = 1600000000;
  ASSERT_TRUE(RunStatsWriter::create(store().runPath("other"), Header));
  drop(1.0);
  EXPECT_EQ(store().listRecordings().size(), 4u);
}

} // namespace
