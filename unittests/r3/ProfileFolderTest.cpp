// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The profile folder, and the choice of what goes into it.
#include "wrapper/r3/ProfileFolder.h"
#include "unittests/support/TestFolder.h"
#include "wrapper/r3/Winner.h"

#include <filesystem>

using namespace r3;
namespace fs = std::filesystem;

namespace {

KernelProfile makeKernel(const std::string &Key, const std::string &Source) {
  KernelProfile K;
  K.Key = Key;
  K.Name = "stencil<double>";
  K.Units = {Source};
  ProfileEntry E;
  E.Device = "cpu fake";
  E.Change.MaxRegisters = 64;
  E.Gain = 1.5;
  E.Evidence = "weak";
  K.Entries = {E};
  return K;
}

class ProfileFolderTest : public testing::Test {
protected:
  std::vector<std::string> write(const KernelProfile &K, bool Differs) {
    auto P = ProfileFolder::open(Folder.Path);
    EXPECT_TRUE(P) << P.error().message();
    EXPECT_EQ(P->put(K), Differs);
    EXPECT_FALSE(P->writeKernels());
    auto Rewritten = P->writeHeaders();
    EXPECT_TRUE(Rewritten) << Rewritten.error().message();
    return *Rewritten;
  }
  std::string header(const std::string &Source) {
    auto Text = readTextFile(Folder / ("r3.profile/units/" + Source + ".h"));
    return Text ? *Text : "";
  }

  TestFolder Folder;
  const std::string Key = std::string(32, 'a');
};

TEST_F(ProfileFolderTest, WritesKernelAndHeader) {
  EXPECT_EQ(write(makeKernel(Key, "src/a.cu"), true),
            std::vector<std::string>{"src/a.cu"});
  EXPECT_TRUE(fs::exists(Folder / "r3.profile/stencil-aaaaaaaa/kernel.toml"));
  EXPECT_NE(header("src/a.cu").find("// entry stencil-aaaaaaaa "),
            std::string::npos);
}

TEST_F(ProfileFolderTest, TouchesNothingThatStaysTheSame) {
  write(makeKernel(Key, "src/a.cu"), true);
  auto Before = fs::last_write_time(Folder / "r3.profile/units/src/a.cu.h");
  EXPECT_TRUE(write(makeKernel(Key, "src/a.cu"), false).empty());
  EXPECT_EQ(fs::last_write_time(Folder / "r3.profile/units/src/a.cu.h"),
            Before);
}

TEST_F(ProfileFolderTest, EmptiesAHeaderAndNeverDeletesIt) {
  write(makeKernel(Key, "src/a.cu"), true);
  EXPECT_EQ(write(makeKernel(Key, "src/b.cu"), true),
            (std::vector<std::string>{"units/src/a.cu.h", "src/b.cu"}));
  EXPECT_NE(header("src/a.cu"), "");
  EXPECT_EQ(header("src/a.cu").find("// entry"), std::string::npos);
  EXPECT_NE(header("src/b.cu").find("// entry"), std::string::npos);
}

TEST_F(ProfileFolderTest, TwoKernelsOfAUnitShareItsHeader) {
  write(makeKernel(Key, "a.cu"), true);
  write(makeKernel(std::string(32, 'b'), "a.cu"), true);
  std::string Text = header("a.cu");
  EXPECT_NE(Text.find("// entry stencil-aaaaaaaa"), std::string::npos);
  EXPECT_NE(Text.find("// entry stencil-bbbbbbbb"), std::string::npos);
}

TEST_F(ProfileFolderTest, KeepsSourcesAboveTheRootInside) {
  write(makeKernel(Key, "../../x.cu"), true);
  EXPECT_FALSE(fs::exists(Folder / "../x.cu.h"));
  EXPECT_TRUE(write(makeKernel(Key, "../../x.cu"), false).empty());
}

TEST_F(ProfileFolderTest, RefusesAProfileThatItCannotRead) {
  write(makeKernel(Key, "a.cu"), true);
  std::string Path = Folder / "r3.profile/stencil-aaaaaaaa/kernel.toml";
  ASSERT_FALSE(writeFileAtomically(Path, std::string_view("format = 1\nx")));
  EXPECT_TRUE(failsWith(ProfileFolder::open(Folder.Path), Path));
}

Evaluation makeEvaluation(const std::string &Pipeline, double Low,
                          Outcome Result = Outcome::Ok) {
  static int64_t NextId = 1;
  Evaluation E;
  E.Id = NextId++;
  E.Key = "k";
  E.Device = "d1";
  E.Setting = "s2";
  E.Change.Pipeline = Pipeline;
  E.Note = Pipeline;
  E.Result = Result;
  E.Gain = {Low + 0.05, Low, Low + 0.1};
  return E;
}

std::vector<std::string> pipelines(const std::vector<Evaluation> &Made) {
  std::vector<std::string> Result;
  for (const Evaluation &E : findCandidates(Made).List)
    Result.push_back(E.Change.Pipeline);
  return Result;
}

Evidence makeEvidence(const Evaluation &Of, const std::string &Level) {
  return {Of.Key, Of.Device, Of.Setting,    Of.Change.id().hex(),
          Level,  Of.Id,     {2, 1.9, 2.1}, "{}"};
}

using Names = std::vector<std::string>;

TEST(WinnerTest, CandidatesAreRankedByTheirLowerQuartile) {
  EXPECT_EQ(pipelines({makeEvaluation("", 0.9), makeEvaluation("a", 1.2),
                       makeEvaluation("b", 1.3), makeEvaluation("c", 1.005)}),
            (Names{"b", "a"}));
}

TEST(WinnerTest, NothingInsideTheNoiseIsACandidate) {
  // The original against itself reaches 1.4 here.
  auto C = findCandidates({makeEvaluation("", 1.3), makeEvaluation("a", 1.35)});
  EXPECT_TRUE(C.List.empty());
  EXPECT_NE(C.Why.find("not above 1.400"), std::string::npos);
}

TEST(WinnerTest, OneDisturbedMeasurementOfTheOriginalHidesNoGain) {
  std::vector<Evaluation> Made = {makeEvaluation("", 3.2),
                                  makeEvaluation("fast", 2.3)};
  EXPECT_TRUE(pipelines(Made).empty()); // nobody knows what is usual
  for (const char *Name : {"a", "b", "c", "d", "e", "f", "g"})
    Made.push_back(makeEvaluation(Name, 1));
  EXPECT_EQ(pipelines(Made), Names{"fast"});
  // Where all scatter like that, it is noise.
  for (Evaluation &E : Made)
    E.Gain.High = E.Gain.Median * 3;
  EXPECT_TRUE(pipelines(Made).empty());
}

TEST(WinnerTest, NothingWrongAndNoDuplicateIsACandidate) {
  EXPECT_EQ(pipelines({makeEvaluation("w", 5, Outcome::Wrong),
                       makeEvaluation("d", 4, Outcome::Duplicate),
                       makeEvaluation("a", 1.1)}),
            Names{"a"});
}

TEST(WinnerTest, EvidenceDecides) {
  Evaluation A = makeEvaluation("a", 1.5), B = makeEvaluation("b", 1.2);
  auto W = findWinners({A, B}, {});
  ASSERT_EQ(W.size(), 1u);
  EXPECT_FALSE(W[0].Best);
  EXPECT_NE(W[0].Why.find("nothing has passed the gate"), std::string::npos);
  W = findWinners({A, B}, {makeEvidence(A, "rejected")});
  EXPECT_FALSE(W[0].Best);
  EXPECT_NE(W[0].Why.find("did not pass"), std::string::npos);
  W = findWinners({A, B},
                  {makeEvidence(A, "rejected"), makeEvidence(B, "strong")});
  ASSERT_TRUE(W[0].Best);
  EXPECT_EQ(W[0].Best->Change.Pipeline, "b");
  EXPECT_EQ(W[0].Found.Level, "strong");
}

TEST(WinnerTest, EvidenceOfOtherRecordingsOrToolsDoesNotCount) {
  Evaluation Old = makeEvaluation("a", 1.5);
  Old.Setting = "s1";
  auto W = findWinners({Old, makeEvaluation("a", 1.5)},
                       {makeEvidence(Old, "strong")});
  EXPECT_FALSE(W[0].Best);
}

TEST(WinnerTest, ChoosesForEachDevice) {
  Evaluation Other = makeEvaluation("b", 1.5);
  Other.Device = "d2";
  EXPECT_EQ(findWinners({makeEvaluation("a", 1.1), Other}, {}).size(), 2u);
}

TEST(WinnerTest, FindsAVariantByItsId) {
  std::vector<Evaluation> Made = {makeEvaluation("", 1),
                                  makeEvaluation("a", 0.5),
                                  makeEvaluation("w", 5, Outcome::Wrong)};
  std::string Id = Made[1].Change.id().hex();
  auto Found = findVariant(Made, Id.substr(0, 8));
  ASSERT_TRUE(Found) << Found.error().message();
  EXPECT_EQ(Found->Change.Pipeline, "a");
  EXPECT_TRUE(failsWith(findVariant(Made, "xyz"), "no variant xyz"));
  EXPECT_TRUE(failsWith(findVariant(Made, ""), "one of 2"));
  auto Wrong = findVariant(Made, Made[2].Change.id().hex());
  EXPECT_TRUE(failsWith(Wrong, "is not right: wrong"));
  EXPECT_EQ(Wrong.error().code(), ErrorCode::Wrong);
}

} // namespace
