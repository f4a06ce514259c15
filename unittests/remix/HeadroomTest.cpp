// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Headroom from what a worker says of launches, and what it makes of a search.
#include "wrapper/remix/Headroom.h"

#include <gtest/gtest.h>

using namespace r3;

namespace {

/// Answers each replay with the report of the same place.
class FakeEvaluator : public Evaluator {
public:
  explicit FakeEvaluator(const std::vector<ReplayReport> &Reports)
      : Reports(Reports) {}
  bool isLost() const override { return false; }
  const DeviceIdentity &identity() const override { return Identity; }
  const std::map<std::string, std::string> &pipelines() const override {
    return Pipelines;
  }
  Error load(const std::vector<std::string> &) override { return {}; }
  Expected<ReplayReport> prepare(size_t Recording, unsigned) override {
    EXPECT_TRUE(HasRates) << "floors follow from rates";
    return Reports[Recording];
  }
  Expected<EvaluationReport> evaluate(const EvaluationRequest &) override {
    return fail(ErrorCode::Usage, "nothing is evaluated");
  }
  Expected<MeasurementReport> measure(const MeasurementRequest &) override {
    return fail(ErrorCode::Usage, "nothing is measured");
  }
  Expected<NvccReport> nvcc() override {
    return fail(ErrorCode::Usage, "nothing is compiled");
  }
  Expected<RatesReport> rates() override {
    HasRates = true;
    return RatesReport();
  }

private:
  const std::vector<ReplayReport> &Reports;
  bool HasRates = false;
  DeviceIdentity Identity;
  std::map<std::string, std::string> Pipelines;
};

ReplayReport replay(double Us, double FloorUs, double ProgramUs) {
  ReplayReport R;
  R.OriginalNs = {Us * 1e3, Us * 1e3 + 10, Us * 1e3 - 10};
  R.Floor.ColdUs = FloorUs;
  R.ProgramNs = ProgramUs * 1e3;
  return R;
}

SearchKernel measured(const std::vector<ReplayReport> &Reports,
                      const std::string &Backend = "cuda") {
  std::vector<SearchKernel> Kernels(1);
  Kernels[0].Share = 0.5;
  for (size_t I = 0; I < Reports.size(); ++I)
    Kernels[0].Recordings.push_back({"", {"", "", Backend}});
  const std::atomic<bool> Stop{false};
  Error E = measureHeadroom(
      [&]() -> Expected<std::unique_ptr<Evaluator>> {
        return std::unique_ptr<Evaluator>(new FakeEvaluator(Reports));
      },
      Kernels, 3, [](const SearchKernel &) {}, Stop);
  EXPECT_FALSE(E) << E.message();
  return Kernels[0];
}

TEST(HeadroomTest, IsWhatIsAboveTheFloorOfAllRecordings) {
  const SearchKernel K = measured({replay(10, 4, 11), replay(30, 6, 30)});
  ASSERT_TRUE(K.Above.part());
  EXPECT_NEAR(*K.Above.part(), 0.75, 1e-9);
  EXPECT_NEAR(K.weight(), 0.5 * 0.75, 1e-9);
  EXPECT_TRUE(K.isSearched());
  EXPECT_EQ(headroomText(K.Above), "75.0 %");
}

TEST(HeadroomTest, AKernelAtTheFloorIsSearchedOnlyByName) {
  SearchKernel K = measured({replay(10, 9.6, 10)});
  EXPECT_TRUE(K.Above.isNone());
  EXPECT_FALSE(K.isSearched());
  EXPECT_EQ(K.weight(), 0);
  EXPECT_EQ(headroomText(K.Above), "none");
  K.Named = true;
  EXPECT_TRUE(K.isSearched());
  EXPECT_GT(K.weight(), 0);
  EXPECT_FALSE(measured({replay(10, 9.4, 10)}).Above.isNone());
}

TEST(HeadroomTest, WhatIsNotKnownIsSearchedInFull) {
  ReplayReport Untraced = replay(10, 9.9, 10), Wrong = replay(10, 9.9, 10);
  Untraced.Untraced = "inline assembly";
  Wrong.Result = Outcome::NotVerifiable;
  const std::vector<std::pair<ReplayReport, std::string>> Cases = {
      {Untraced, "inline assembly"},
      {Wrong, "does not reproduce"},
      {replay(10, 0, 10), "no floor"},
      {replay(10, 9.9, 5), "in the caches"}};
  for (const auto &[Report, Why] : Cases) {
    const SearchKernel K = measured({replay(10, 9.9, 10), Report});
    EXPECT_FALSE(K.Above.part()) << Why;
    EXPECT_NE(K.Above.Unknown.find(Why), std::string::npos) << K.Above.Unknown;
    EXPECT_TRUE(K.isSearched());
    EXPECT_EQ(K.weight(), 0.5);
    EXPECT_EQ(headroomText(K.Above), "-");
  }
  EXPECT_NE(measured({replay(10, 9.9, 10)}, "cpu").Above.Unknown, "");
}

} // namespace
