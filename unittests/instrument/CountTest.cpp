// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that are counted, exactly.
#include "unittests/instrument/Harness.h"

#include "runtime/support/CountAbi.h"

#include <gmock/gmock.h>

using namespace r3;
using namespace r3::cpu;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

class CountTest : public InstrumentTest {
protected:
  CountTest() { Options.Pipeline = "default<O2>"; }

  Operations count(const std::string &Kernel, uint32_t Blocks, uint32_t Threads,
                   const Arguments &A) {
    Operations Found;
    KernelHandle Built = build(Kernel, "count");
    if (!Built)
      return Found;
    auto Where = Module->global(count::CountState);
    EXPECT_TRUE(Where) << Where.error().message();
    if (!Where)
      return Found;
    EXPECT_EQ(Where->Size, sizeof Found);
    auto *State = reinterpret_cast<void *>(Where->Begin);
    std::memset(State, 0, sizeof Found);
    launch(Built, Blocks, Threads, A);
    std::memcpy(&Found, State, sizeof Found);
    return Found;
  }
};

TEST_F(CountTest, OfThreadsThatComputeOnly) {
  Buffer<float> X(1000), Y(1000);
  EXPECT_EQ(count("saxpy", 5, 256, arguments(2.0f, X.data(), Y.data(), 1000)),
            (Operations{2000, 0, 0}));
}

TEST_F(CountTest, OfEachTurnOfALoop) {
  Buffer<double> X(64), Y(64);
  for (int Turns : {0, 1, 37})
    EXPECT_EQ(count("power_sums", 2, 32, arguments(X.data(), Y.data(), Turns)),
              (Operations{0, 64ull * 2 * Turns, 0}));
}

TEST_F(CountTest, OfBranchesThatAreTaken) {
  Buffer<float> X(64), Y(64);
  Buffer<double> Z(64);
  EXPECT_EQ(
      count("branches", 2, 32, arguments(X.data(), Y.data(), Z.data(), 19)),
      (Operations{3 * 19, 64 - 19, 0}));
}

TEST_F(CountTest, OfFunctionsThatAreCalled) {
  Buffer<float> X(32), Y(32);
  EXPECT_EQ(count("called", 1, 32, arguments(X.data(), Y.data())),
            (Operations{4 * 32, 0, 0}));
}

TEST_F(CountTest, OfHalvesAndPairs) {
  Buffer<uint16_t> X(33);
  Buffer<uint32_t> Y(32);
  EXPECT_EQ(count("halves", 1, 32, arguments(X.data(), Y.data())),
            (Operations{0, 0, 3 * 32}));
}

TEST_F(CountTest, OfInlineAssemblyThatAlwaysRuns) {
  Buffer<float> X(32);
  Buffer<uint32_t> Y(32);
  EXPECT_EQ(count("in_assembly", 1, 32, arguments(X.data(), Y.data())),
            (Operations{2 * 32, 0, 2 * 32}));
}

TEST_F(CountTest, OfFusedOnesTwice) {
  Buffer<float> A(32), B(32), C(32), Out(32);
  EXPECT_EQ(count("fma_f", 1, 32,
                  arguments(A.data(), B.data(), C.data(), Out.data(), 32)),
            (Operations{64, 0, 0}));
}

TEST_F(CountTest, OfNothingThatHasUnitsOfItsOwn) {
  Buffer<float> X(32);
  Buffer<int> Y(32);
  EXPECT_EQ(count("uncounted", 1, 32, arguments(X.data(), Y.data())),
            (Operations{0, 0, 0}));
}

TEST_F(CountTest, OfWhatThePipelineHasLeft) {
  Buffer<float> X(100);
  EXPECT_EQ(count("unused", 1, 32, arguments(X.data())), (Operations{0, 0, 0}));
}

TEST_F(CountTest, TensorCoresAreNamed) {
  auto Made = replay::instrument(bitcodeOf("Kernels"), "tensor", "count");
  ASSERT_TRUE(Made) << Made.error().message();
  EXPECT_THAT(Made->Unseen, ElementsAre(HasSubstr("tensor cores (tensor")));
  Made = replay::instrument(bitcodeOf("Kernels"), "saxpy", "count");
  ASSERT_TRUE(Made) << Made.error().message();
  EXPECT_THAT(Made->Unseen, ElementsAre());
}

} // namespace
