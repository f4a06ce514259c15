// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/remix/PipelineDiff.h"

#include <gtest/gtest.h>

#include <random>

using namespace r3;

namespace {

using Texts = std::vector<std::string>;

Pipeline parsed(const std::string &Text) {
  auto P = parsePipeline(Text);
  EXPECT_TRUE(P) << Text;
  return P ? *P : Pipeline();
}

PipelineDiff between(const std::string &A, const std::string &B) {
  return {parsed(A), parsed(B)};
}

std::string with(const PipelineDiff &D, const std::vector<bool> &Wanted) {
  return pipelineText(D.apply(Wanted));
}

const std::string Base =
    "inferattrs,cgscc(devirt<4>(inline,function<eager-inv>(sroa<modify-cfg>,"
    "loop-mssa(licm,loop-rotate),gvn<>))),globaldce";

TEST(PipelineDiff, OfTheSameIsEmpty) {
  const auto D = between(Base, Base);
  EXPECT_TRUE(D.edits().empty());
  EXPECT_EQ(with(D, {}), Base);
}

TEST(PipelineDiff, FindsSingleEditsWithinManagers) {
  const auto D =
      between(Base, "inferattrs,cgscc(devirt<4>(inline,"
                    "function<eager-inv>(sroa<preserve-cfg>,"
                    "loop-mssa(loop-rotate),sink,gvn<>))),globaldce");
  EXPECT_EQ(D.edits(),
            (Texts{"change sroa<modify-cfg> to sroa<preserve-cfg> in function",
                   "delete licm in loop-mssa",
                   "insert sink before gvn in function"}));
  EXPECT_EQ(with(D, {false, true, false}),
            "inferattrs,cgscc(devirt<4>(inline,function<eager-inv>(sroa<modify-"
            "cfg>,loop-mssa(loop-rotate),gvn<>))),globaldce");
}

TEST(PipelineDiff, MakesAManagerOfWhatIsInIt) {
  const auto D = between("globaldce", "function(sroa,loop(indvars)),globaldce");
  EXPECT_EQ(D.edits(),
            (Texts{"insert sroa in function", "insert indvars in loop"}));
  EXPECT_EQ(with(D, {false, true}), "function(loop(indvars)),globaldce");
  EXPECT_EQ(with(D, {false, false}), "globaldce");
}

TEST(PipelineDiff, ChangesParametersOfManagers) {
  const auto D =
      between("cgscc(devirt<4>(inline))", "cgscc(devirt<2>(inline))");
  EXPECT_EQ(D.edits(), Texts{"change devirt<4> to devirt<2> in cgscc"});
  EXPECT_EQ(with(D, {true}), "cgscc(devirt<2>(inline))");
}

/// All edits give the one, none the other, and every choice is well-nested.
TEST(PipelineDiff, HoldsForRandomPipelines) {
  std::mt19937_64 Dice(1);
  const char *const Names[] = {"a", "b<1>", "b<2>", "c"};
  const char *const Managers[] = {"function", "loop", "loop-mssa", "devirt<1>"};
  std::function<Pipeline(int)> draw = [&](int Depth) {
    Pipeline P;
    for (size_t I = 0, Count = 1 + Dice() % 5; I < Count; ++I)
      if (Depth < 3 && Dice() % 3 == 0)
        P.push_back({Managers[Dice() % 4], true, draw(Depth + 1)});
      else
        P.push_back({Names[Dice() % 4], false, {}});
    return P;
  };
  for (int Try = 0; Try < 200; ++Try) {
    const Pipeline A = draw(0), B = draw(0);
    const PipelineDiff D(A, B);
    const size_t Count = D.edits().size();
    EXPECT_EQ(with(D, std::vector<bool>(Count, true)), pipelineText(B));
    EXPECT_EQ(with(D, std::vector<bool>(Count, false)), pipelineText(A));
    std::vector<bool> Some(Count);
    for (size_t I = 0; I < Count; ++I)
      Some[I] = Dice() & 1;
    const std::string Text = with(D, Some);
    auto Again =
        Text.empty() ? Expected<Pipeline>(Pipeline()) : parsePipeline(Text);
    EXPECT_TRUE(Again) << Text;
  }
}

} // namespace
