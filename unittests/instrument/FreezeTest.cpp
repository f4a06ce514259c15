// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two patterns for undefined values: they show in what a kernel makes of them,
// and in nothing else.
#include "unittests/instrument/Harness.h"

namespace r3::cpu {

class FreezeTest : public InstrumentTest {
protected:
  std::vector<uint32_t> outcome(const std::string &Kernel,
                                const std::string &Build) {
    Buffer<float> A({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
    Buffer<uint32_t> Out(16);
    launch(build(Kernel, Build), 1, 16, arguments(A.data(), Out.data(), 5),
           /*Shared=*/64);
    return {Out.data(), Out.data() + 16};
  }
  /// Elements that differ between the two builds.
  std::vector<size_t> differences(const std::string &Kernel) {
    auto First = outcome(Kernel, "freeze-0"),
         Second = outcome(Kernel, "freeze-1");
    std::vector<size_t> Result;
    for (size_t I = 0; I < First.size(); ++I)
      if (First[I] != Second[I])
        Result.push_back(I);
    return Result;
  }
};

TEST_F(FreezeTest, DefinedValuesStay) {
  EXPECT_EQ(outcome("defined", "freeze-0"), outcome("defined", ""));
  EXPECT_EQ(outcome("defined", "freeze-1"), outcome("defined", ""));
}

TEST_F(FreezeTest, VariablesGetThePattern) {
  EXPECT_EQ(differences("variable"), (std::vector<size_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(outcome("variable", "freeze-0")[0], 0xFFFFFFFF);
  EXPECT_EQ(outcome("variable", "freeze-1")[0], 0x5A5A5A5A);
  EXPECT_EQ(differences("element").size(), 16u);
  EXPECT_EQ(differences("flag").size(), 16u);
}

TEST_F(FreezeTest, EachTurnOfALoopBeginsUndefined) {
  EXPECT_EQ(differences("turn").size(), 16u);
}

TEST_F(FreezeTest, SharedMemoryGetsThePattern) {
  EXPECT_EQ(differences("tile"), std::vector<size_t>{1});
  EXPECT_EQ(differences("dynamic"), std::vector<size_t>{1});
}

} // namespace r3::cpu
