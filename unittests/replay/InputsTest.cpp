// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which launches are derived from a recording, and which of them are dropped.
#include "Fixture.h"

#include "runtime/support/Files.h"

#include <gmock/gmock.h>

#include <cstring>

using namespace r3;
using namespace r3::testing;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

namespace {

class InputsTest : public ReplayTest {
protected:
  static constexpr int N = 1000;

  SaxpyOptions options(const std::string &Kernel) {
    auto Bitcode = readFile(R3_TEST_KERNELS ".bc");
    EXPECT_TRUE(Bitcode) << Bitcode.error().message();
    SaxpyOptions O;
    O.Backend = "cpu";
    O.Kernel = Kernel;
    O.N = N;
    O.Bitcode = *Bitcode;
    return O;
  }
  /// What a check makes of another pipeline.
  CheckResult check(Check What, const std::string &Manifest,
                    uint64_t Seed = 1) {
    WorkerOptions O;
    O.Backend = "cpu";
    O.StorePath = TheStore->path();
    auto W = Worker::start(O);
    EXPECT_TRUE(W) << W.error().message();
    Error E = (*W)->load({Manifest});
    EXPECT_FALSE(E) << E.message();
    EvaluationRequest Request{pipeline("default<O1>"), {0}};
    Request.Seed = Seed;
    Request.Which = Accept::Rounding;
    Request.Checks = {What};
    auto R = (*W)->evaluate(Request);
    EXPECT_TRUE(R) << R.error().message();
    EXPECT_EQ(R->Result, Outcome::Ok) << R->Message;
    EXPECT_EQ(R->Checks.size(), 1u);
    return R->Checks.empty() ? CheckResult() : R->Checks[0];
  }
  /// A recording with these bytes as x, and zeros that become Y as y.
  std::string rewritten(const std::string &Kernel, const std::string &X,
                        const std::vector<float> &Y) {
    const std::string Path = record(options(Kernel));
    auto Bytes = readFile(Path);
    auto R = Recording::parse(*Bytes, Path);
    EXPECT_TRUE(R);
    for (auto &A : R->Allocations)
      A.Before.clear(), A.After.clear();
    std::string After(N * 4, 0);
    std::memcpy(After.data(), Y.data(), After.size());
    return write(*R, {X, std::string(N * 4, 0)}, {"", After});
  }
  CheckResult perturbed(const std::string &Kernel) {
    return check(Check::Perturbed, record(options(Kernel)));
  }
};

TEST_F(InputsTest, NumbersChangeAndZerosStay) {
  // x has one zero, y twelve.
  const CheckResult R = perturbed("saxpy");
  EXPECT_TRUE(R.Made);
  EXPECT_EQ(R.Message,
            "3 draws: 1987 words of 2 buffers, 1 scalar argument changed");
}

TEST_F(InputsTest, LabelsStay) {
  EXPECT_EQ(perturbed("labelled").Message,
            "3 draws: 988 words of 1 buffer, 1 scalar argument changed");
}

TEST_F(InputsTest, WithoutNumbersThereIsNothingToChange) {
  std::vector<float> Sevens(N, 0);
  for (int I = 0; I < N; I += 2)
    Sevens[I] = 77;
  const CheckResult R = check(
      Check::Perturbed, rewritten("strided", std::string(N * 4, 0), Sevens));
  EXPECT_FALSE(R.Made);
  EXPECT_EQ(R.Message, "no word is read only as floating point");
}

TEST_F(InputsTest, DrawsThatLeadOutsideAreDropped) {
  EXPECT_THAT(perturbed("outgrows").Message,
              HasSubstr("more dropped (the original reads"));
}

TEST_F(InputsTest, DrawsThatMakeNoNumbersAreDropped) {
  EXPECT_THAT(perturbed("unreal").Message,
              HasSubstr("more dropped (the original makes NaN or infinity"));
}

TEST_F(InputsTest, DrawsThatTakeMuchLongerAreDropped) {
  // On a busy machine it may take so long that it is not waited for.
  EXPECT_THAT(
      perturbed("dawdles").Message,
      AllOf(HasSubstr("; 1 more dropped (the "),
            AnyOf(HasSubstr("the original takes more than 4 times as long"),
                  HasSubstr("the kernel did not end within"))));
}

TEST_F(InputsTest, MemoryMoves) {
  const CheckResult R = check(Check::Relocated, record(options("saxpy")));
  EXPECT_TRUE(R.Made);
  EXPECT_EQ(R.Message, "1 of 1 recordings moved");
}

TEST_F(InputsTest, MemoryWithAddressesStays) {
  const uint64_t Y = SaxpyOptions().Base + 0x100000;
  std::string X(N * 4, 0);
  std::memcpy(X.data(), &Y, 8);
  const CheckResult R =
      check(Check::Relocated, rewritten("linked", X, std::vector<float>(N, 2)));
  EXPECT_FALSE(R.Made);
  EXPECT_EQ(R.Message, "memory may hold addresses");
}

} // namespace
