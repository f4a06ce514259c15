// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pipelines as text, the thin search space, and ratios.
#include "wrapper/remix/Space.h"
#include "unittests/support/TestFolder.h"
#include "wrapper/remix/PipelineText.h"
#include "wrapper/remix/Statistics.h"

#include <algorithm>
#include <random>
#include <set>

using namespace r3;

namespace {

const char *const Text =
    "forceattrs,function<eager-inv>(sroa<modify-cfg>,early-cse<>),ipsccp,"
    "cgscc(devirt<4>(inline,function(loop-mssa(licm<allowspeculation>),"
    "loop(indvars,loop-deletion),gvn<>))),globaldce,verify";

TEST(PipelineTextTest, ComesBackAsItWas) {
  auto P = parsePipeline(Text);
  ASSERT_TRUE(P) << P.error().message();
  EXPECT_EQ(pipelineText(*P), Text);
}

TEST(PipelineTextTest, NamesTheOffsetOfNonsense) {
  EXPECT_TRUE(failsWith(parsePipeline(""), "offset 0: a pass expected"));
  EXPECT_TRUE(failsWith(parsePipeline("a,,b"), "offset 2"));
  EXPECT_TRUE(failsWith(parsePipeline("a(b"), "offset 3: ')' expected"));
  EXPECT_TRUE(failsWith(parsePipeline("a)b"), "offset 1"));
  EXPECT_TRUE(failsWith(parsePipeline("a<b"), "'<' without '>'"));
  EXPECT_TRUE(failsWith(parsePipeline("a>b"), "'>' without '<'"));
  EXPECT_TRUE(failsWith(parsePipeline(std::string(100, 'a') + "()"), "pass"));
  std::string Deep;
  for (int I = 0; I < 1000; ++I)
    Deep += "a(";
  EXPECT_TRUE(failsWith(parsePipeline(Deep), "nested too deeply"));
}

TEST(PipelineTextTest, CutAtEveryLengthIsNoCrash) {
  for (size_t Size = 0; Size < std::string(Text).size(); ++Size)
    (void)parsePipeline(std::string(Text).substr(0, Size));
}

TEST(PipelineTextTest, RandomDamageIsAnErrorOrComesBackAsItIs) {
  std::mt19937 Dice(1);
  const std::string Letters = "a,()<>-;= ";
  size_t Read = 0;
  for (int Round = 0; Round < 20000; ++Round) {
    std::string Damaged = Text;
    for (unsigned Changes = Dice() % 4 + 1; Changes; --Changes) {
      size_t Place = Dice() % Damaged.size();
      if (Dice() % 2)
        Damaged[Place] = Letters[Dice() % Letters.size()];
      else
        Damaged.erase(Place, Dice() % 8);
    }
    auto P = parsePipeline(Damaged);
    if (!P)
      continue;
    ++Read;
    ASSERT_EQ(pipelineText(*P), Damaged);
    for (const PassPlace &Place : editablePasses(*P))
      (void)withoutPass(*P, Place);
  }
  EXPECT_GT(Read, 100u);
}

TEST(PipelineTextTest, KnowsTheKindOfEachPlace) {
  auto P = parsePipeline(Text);
  std::set<std::string> Found;
  for (const PassPlace &Place : editablePasses(*P))
    Found.insert(Place.Kind + " " + std::string(passAt(*P, Place).base()));
  EXPECT_EQ(Found, (std::set<std::string>{"module ipsccp", "module globaldce",
                                          "function sroa", "function early-cse",
                                          "function gvn", "cgscc inline",
                                          "loop-mssa licm", "loop indvars",
                                          "loop loop-deletion"}));
}

PassPlace placeOf(const Pipeline &P, const std::string &Name) {
  for (const PassPlace &Place : editablePasses(P))
    if (passAt(P, Place).base() == Name)
      return Place;
  ADD_FAILURE() << "no " << Name;
  return {};
}

TEST(PipelineTextTest, DeletesAndInserts) {
  auto P = parsePipeline("a(b,c),function(loop(d)),e");
  std::string Kept = pipelineText(*P);
  auto Q = parsePipeline("function(loop(indvars)),globaldce");
  EXPECT_EQ(pipelineText(withPassBefore(*Q, placeOf(*Q, "indvars"), "x<y>")),
            "function(loop(x<y>,indvars)),globaldce");
  // The managers that became empty are gone, too.
  EXPECT_EQ(pipelineText(withoutPass(*Q, placeOf(*Q, "indvars"))), "globaldce");
  EXPECT_EQ(pipelineText(*P), Kept);
}

SpaceInput input(const char *Backend, uint64_t Seed) {
  SpaceInput Input;
  Input.Backend = Backend;
  Input.Level = "O2";
  Input.Pipelines = {{"O3", Text}};
  Input.Seed = Seed;
  return Input;
}

std::vector<std::string> ids(const std::vector<Candidate> &Space) {
  std::vector<std::string> Ids;
  for (const Candidate &C : Space)
    Ids.push_back(C.Change.id().hex());
  return Ids;
}

TEST(SpaceTest, FollowsFromTheSeedAlone) {
  auto A = thinSpace(input("cuda", 1)), B = thinSpace(input("cuda", 1));
  auto C = thinSpace(input("cuda", 2));
  ASSERT_TRUE(A && B && C);
  EXPECT_EQ(ids(*A), ids(*B));
  EXPECT_NE(ids(*A), ids(*C));
}

TEST(SpaceTest, HasDistinctVariantsOfEveryKind) {
  auto Space = thinSpace(input("cuda", 1));
  ASSERT_TRUE(Space);
  std::vector<std::string> Ids = ids(*Space);
  EXPECT_EQ(std::set<std::string>(Ids.begin(), Ids.end()).size(), Ids.size());
  std::set<std::string> Notes;
  for (const Candidate &C : *Space) {
    EXPECT_FALSE(C.Change.isOriginal());
    // What is written must be read back: by the worker and by the plugin.
    EXPECT_TRUE(Variant::parse(C.Change.canonicalJson())) << C.Note;
    Notes.insert(C.Note.substr(0, C.Note.find(' ')));
  }
  for (const char *Note : {"default", "code", "printed", "delete", "repeat",
                           "insert", "maxnreg", "ptxas"})
    EXPECT_TRUE(Notes.count(Note)) << Note;
}

TEST(SpaceTest, LimitsNoRegistersOnACpu) {
  auto Space = thinSpace(input("cpu", 1));
  ASSERT_TRUE(Space);
  for (const Candidate &C : *Space) {
    EXPECT_EQ(C.Change.MaxRegisters, 0u);
    EXPECT_EQ(C.Change.PtxasLevel, "");
  }
  EXPECT_LT(Space->size(), thinSpace(input("cuda", 1))->size());
}

TEST(SpaceTest, NamesAPipelineThatItCannotRead) {
  SpaceInput Input = input("cpu", 1);
  Input.Pipelines["O3"] = "function(";
  EXPECT_TRUE(failsWith(thinSpace(Input), "printed pipeline of level O3"));
  Input.Pipelines.clear();
  EXPECT_TRUE(failsWith(thinSpace(Input), "no default pipeline"));
}

TEST(StatisticsTest, GivesQuartilesOfRatios) {
  RatioSpread S = ratioSpread(std::vector<double>{100, 200, 300, 400, 500},
                              std::vector<double>{100, 100, 100, 100, 100});
  EXPECT_DOUBLE_EQ(S.Low, 2);
  EXPECT_DOUBLE_EQ(S.Median, 3);
  EXPECT_DOUBLE_EQ(S.High, 4);
  EXPECT_DOUBLE_EQ(quantile({1, 2}, 0.5), 1.5);
}

TEST(StatisticsTest, LeavesOutTimesThatAreNone) {
  RatioSpread S = ratioSpread(std::vector<double>{100, 0, 100, -1},
                              std::vector<double>{50, 10, 0, 1});
  EXPECT_DOUBLE_EQ(S.Median, 2);
  EXPECT_DOUBLE_EQ(ratioSpread({}, {}).Median, 0);
}

} // namespace
