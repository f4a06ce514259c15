// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of times: what is said first holds.
#include "wrapper/remix/TimesTable.h"
#include "unittests/support/TestFolder.h"

using namespace r3;

namespace {

class TimesTableTest : public testing::Test {
protected:
  std::shared_ptr<TimesTable> open() {
    auto T = TimesTable::open(Folder / "times");
    EXPECT_TRUE(T) << T.error().message();
    return T ? *T : nullptr;
  }
  static EvaluationReport report(const std::string &Code, double Ns) {
    EvaluationReport R;
    R.Code = Code;
    R.Registers = 32;
    R.OriginalNs = {1000, 1001};
    R.VariantNs = {Ns, Ns + 0.125};
    return R;
  }

  TestFolder Folder;
  Variant Plain;
};

TEST_F(TimesTableTest, WhatWasMeasuredFirstHolds) {
  auto First = open()->settle("k", "s", Plain, report("c1", 500));
  ASSERT_TRUE(First) << First.error().message();
  EXPECT_EQ(First->VariantNs[0], 500);
  // In another process, by another worker, for another pipeline.
  Variant Other;
  Other.Pipeline = "function(gvn)";
  auto Second = open()->settle("k", "s", Other, report("c1", 700));
  ASSERT_TRUE(Second);
  EXPECT_EQ(Second->VariantNs, First->VariantNs);
  EXPECT_EQ(open()->settle("k2", "s", Plain, report("c1", 700))->VariantNs[0],
            700);
  EXPECT_EQ(open()->settle("k", "s2", Plain, report("c1", 800))->VariantNs[0],
            800);
}

TEST_F(TimesTableTest, ABinaryThatWasNotRunHasWhatIsInTheTable) {
  EvaluationReport NotRun = report("c1", 0);
  NotRun.Result = Outcome::Duplicate;
  EXPECT_EQ(open()->settle("k", "s", Plain, NotRun)->Result,
            Outcome::Duplicate);
  EvaluationReport Wrong = report("c1", 300);
  Wrong.Result = Outcome::Wrong;
  Wrong.Message = "byte 12";
  ASSERT_TRUE(open()->settle("k", "s", Plain, Wrong));
  auto Found = open()->settle("k", "s", Plain, NotRun);
  ASSERT_TRUE(Found);
  EXPECT_EQ(Found->Result, Outcome::Wrong);
  EXPECT_EQ(Found->Message, "byte 12");
  EXPECT_EQ(Found->Registers, 32u);
}

TEST_F(TimesTableTest, AnotherLaunchAndNoCodeHavePlacesOfTheirOwn) {
  auto Table = open();
  Variant Launched;
  Launched.Launch = {{"grid.x", "grid.x / 2"}};
  EXPECT_EQ(Table->settle("k", "s", Plain, report("c1", 500))->VariantNs[0],
            500);
  EXPECT_EQ(Table->settle("k", "s", Launched, report("c1", 600))->VariantNs[0],
            600);
  EvaluationReport NotBuilt;
  NotBuilt.Result = Outcome::BuildTimeout;
  EXPECT_EQ(Table->settle("k", "s", Plain, NotBuilt)->Result,
            Outcome::BuildTimeout);
  auto Codes = Table->binaries("k", "s");
  ASSERT_TRUE(Codes);
  EXPECT_EQ(*Codes, std::vector<std::string>{"c1"});
}

TEST_F(TimesTableTest, RefusesWhatIsNoTable) {
  open().reset();
  EXPECT_TRUE(TimesTable::open(Folder / "times"));
  {
    auto D = Database::open(Folder / "times", Database::Mode::Write);
    ASSERT_TRUE(D);
    ASSERT_FALSE(D->execute("PRAGMA user_version = 9"));
  }
  EXPECT_TRUE(failsWith(TimesTable::open(Folder / "times"),
                        "table of version 9, this r3 reads 1"));
}

} // namespace
