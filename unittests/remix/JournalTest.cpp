// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The journal: round trip, one writer, migrations, sessions, and SIGKILL.
#include "wrapper/remix/Journal.h"
#include "unittests/support/TestFolder.h"
#include "wrapper/remix/Schema.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace r3;
using testing::HasSubstr;

namespace {

Evaluation makeEvaluation(const std::string &Pipeline) {
  Evaluation E;
  E.Key = "k1";
  E.Setting = "s1";
  E.Backend = "cpu";
  E.Device = "fake cpu";
  E.Tools = "fake 1";
  E.Change.Pipeline = Pipeline;
  E.Origin = Pipeline.empty() ? "original" : "passes";
  E.Note = "note";
  E.Code = "c-" + Pipeline;
  E.OriginalNs = {1000, 1010.5};
  E.VariantNs = {500, 505.25};
  E.Ms = {{"build", 1.5}};
  E.Gain = {2, 1.9, 2.1};
  E.Registers = 32;
  E.FinishedAt = 77;
  return E;
}

class JournalTest : public testing::Test {
protected:
  std::unique_ptr<Journal> open() {
    auto J = Journal::openForWriting(Path, "a test");
    EXPECT_TRUE(J) << J.error().message();
    return J ? std::move(*J) : nullptr;
  }
  Session session(Journal &J, uint64_t BudgetMs = 1000) {
    EXPECT_FALSE(J.noteKernel({"k1", "stencil", "a.cu:main"}, {}));
    SessionSpec Spec;
    Spec.Identity = "i1";
    Spec.BudgetMs = BudgetMs;
    auto S = J.openSession(Spec);
    EXPECT_TRUE(S) << S.error().message();
    return *S;
  }
  void add(Journal &J, Session &S, Evaluation E) {
    E.Session = S.Id;
    Error Failure = J.add({&E, 1}, S);
    EXPECT_FALSE(Failure) << Failure.message();
  }

  TestFolder Folder;
  std::string Path = Folder / "journal.db";
};

TEST_F(JournalTest, KeepsWhatItIsGiven) {
  {
    auto J = open();
    Session S = session(*J);
    add(*J, S, makeEvaluation("licm"));
  }
  auto J = Journal::openForReading(Path);
  ASSERT_TRUE(J) << J.error().message();
  auto All = (*J)->evaluations({"k1", "cpu", "s1", 0});
  ASSERT_TRUE(All) << All.error().message();
  ASSERT_EQ(All->size(), 1u);
  const Evaluation &E = (*All)[0];
  EXPECT_EQ(E.Name, "stencil");
  EXPECT_EQ(E.Change.Pipeline, "licm");
  EXPECT_EQ(E.OriginalNs, (std::vector<double>{1000, 1010.5}));
  EXPECT_EQ(E.VariantNs, (std::vector<double>{500, 505.25}));
  EXPECT_EQ(E.Ms.at("build"), 1.5);
  EXPECT_EQ(E.Gain.Low, 1.9);
  EXPECT_EQ(E.Registers, 32u);
  EXPECT_EQ(E.FinishedAt, 77u);
  EXPECT_EQ(E.Result, Outcome::Ok);
}

TEST_F(JournalTest, RefusesToEvaluateTwice) {
  auto J = open();
  Session S = session(*J);
  add(*J, S, makeEvaluation("licm"));
  Evaluation Again = makeEvaluation("licm");
  Again.Session = S.Id;
  EXPECT_TRUE(failsWith(J->add({&Again, 1}, S), "UNIQUE"));
}

TEST_F(JournalTest, FindsByVariantAndByBinary) {
  auto J = open();
  Session S = session(*J);
  Evaluation E = makeEvaluation("licm");
  add(*J, S, E);
  auto Found = J->find("k1", "s1", E.Change.id().hex());
  ASSERT_TRUE(Found && *Found);
  EXPECT_FALSE(*J->find("k1", "s2", E.Change.id().hex()));
  Evaluation Same = makeEvaluation("gvn");
  Same.Code = E.Code;
  Same.SameAs = (*Found)->Id;
  add(*J, S, Same);
  auto First = J->findSame(Same);
  ASSERT_TRUE(First && *First);
  EXPECT_EQ((*First)->Change.Pipeline, "licm");

  Evaluation Otherwise = makeEvaluation("sroa");
  Otherwise.Code = E.Code;
  Otherwise.Change.Launch = {{"block.x", "64"}};
  auto None = J->findSame(Otherwise);
  ASSERT_TRUE(None);
  EXPECT_FALSE(*None);
  add(*J, S, Otherwise);
  First = J->findSame(Otherwise);
  ASSERT_TRUE(First && *First);
  EXPECT_EQ((*First)->Change.Pipeline, "sroa");
}

TEST_F(JournalTest, HasOneWriterAndSaysWho) {
  auto J = open();
  auto Second = Journal::openForWriting(Path, "another");
  EXPECT_TRUE(failsWith(Second, "held by pid " + std::to_string(getpid())));
  EXPECT_TRUE(failsWith(Second, "a test"));
  // A reader is not in the way.
  EXPECT_TRUE(Journal::openForReading(Path));
  J.reset();
  EXPECT_TRUE(Journal::openForWriting(Path, "another"));
}

TEST_F(JournalTest, ContinuesASession) {
  {
    auto J = open();
    Session S = session(*J, 1000);
    EXPECT_FALSE(S.Resumed);
    S.SpentMs = 400;
    add(*J, S, makeEvaluation("licm"));
    add(*J, S, makeEvaluation("")); // the original counts as no variant
  }
  auto J = open();
  Session S = session(*J, 5000);
  EXPECT_TRUE(S.Resumed);
  EXPECT_EQ(S.SpentMs, 400u);
  EXPECT_EQ(S.BudgetMs, 5000u);
  EXPECT_EQ(S.Evaluations, 1u);
  // A smaller budget does not take back what was granted.
  EXPECT_EQ(session(*J, 10).BudgetMs, 5000u);
}

TEST_F(JournalTest, RefusesANewerVersion) {
  open().reset();
  {
    auto D = Database::open(Path, Database::Mode::Write);
    ASSERT_TRUE(D);
    ASSERT_FALSE(D->execute("PRAGMA user_version = 99"));
  }
  auto J = Journal::openForWriting(Path, "a test");
  EXPECT_TRUE(failsWith(J, "journal of version 99"));
  EXPECT_EQ(J.error().code(), ErrorCode::Stale);
  EXPECT_TRUE(failsWith(Journal::openForReading(Path), "version 99"));
}

TEST_F(JournalTest, MigratesAnEmptyDatabase) {
  {
    auto D = Database::open(Path, Database::Mode::Write);
    ASSERT_TRUE(D);
    ASSERT_FALSE(D->execute("CREATE TABLE unrelated(x)"));
  }
  EXPECT_TRUE(failsWith(Journal::openForReading(Path), "version 0"));
  auto J = open();
  ASSERT_TRUE(J);
  J.reset();
  auto D = Database::open(Path, Database::Mode::Read);
  ASSERT_TRUE(D);
  EXPECT_EQ(*readJournalVersion(*D), journalVersion());
}

TEST_F(JournalTest, FailedMigrationLeavesTheVersion) {
  {
    auto D = Database::open(Path, Database::Mode::Write);
    ASSERT_TRUE(D);
    ASSERT_FALSE(D->execute("CREATE TABLE session(x)"));
  }
  EXPECT_TRUE(failsWith(Journal::openForWriting(Path, "a test"),
                        "migration to version 1"));
  auto D = Database::open(Path, Database::Mode::Read);
  ASSERT_TRUE(D);
  EXPECT_EQ(*readJournalVersion(*D), 0);
  // Nothing of the failed step is there.
  EXPECT_TRUE(failsWith(D->prepare("SELECT * FROM kernel"), "no such table"));
}

TEST_F(JournalTest, NamesDamageAndAbsence) {
  auto Missing = Journal::openForReading(Path);
  ASSERT_FALSE(Missing);
  EXPECT_EQ(Missing.error().code(), ErrorCode::NotFound);
  ASSERT_FALSE(writeFileAtomically(
      Path, std::string_view("this is no database, though it is long enough to "
                             "look like a file")));
  auto Damaged = Journal::openForReading(Path);
  ASSERT_FALSE(Damaged);
  EXPECT_EQ(Damaged.error().code(), ErrorCode::Damaged);
  EXPECT_THAT(Damaged.error().message(), HasSubstr("journal.db"));
}

TEST_F(JournalTest, SurvivesSigkill) {
  open().reset();
  pid_t Child = fork();
  if (Child == 0) {
    // No gtest here: the child only writes and dies.
    auto J = Journal::openForWriting(Path, "a child");
    if (!J || (*J)->noteKernel({"k1", "stencil", ""}, {}))
      _exit(1);
    SessionSpec Spec;
    Spec.Identity = "i1";
    auto S = (*J)->openSession(Spec);
    for (int I = 0; I < 10; ++I) {
      Evaluation E = makeEvaluation("p" + std::to_string(I));
      E.Session = S->Id;
      if ((*J)->add({&E, 1}, *S))
        _exit(1);
    }
    raise(SIGKILL);
  }
  int Status = 0;
  waitpid(Child, &Status, 0);
  ASSERT_TRUE(WIFSIGNALED(Status));
  // The lock of the dead is free, and everything committed is there.
  auto J = open();
  ASSERT_TRUE(J);
  EXPECT_EQ(J->evaluations({})->size(), 10u);
}

TEST_F(JournalTest, AFullDiskIsAnErrorAndWhatWasKeptStays) {
  auto J = open();
  Session S = session(*J);
  // Files of this process may not grow on: as a disk is full, but without it.
  signal(SIGXFSZ, SIG_IGN);
  rlimit Old;
  getrlimit(RLIMIT_FSIZE, &Old);
  rlimit Full = Old;
  Full.rlim_cur = 1 << 16;
  for (const auto &File : std::filesystem::directory_iterator(Folder.Path))
    Full.rlim_cur =
        std::max<rlim_t>(Full.rlim_cur, File.file_size() + (1 << 16));
  setrlimit(RLIMIT_FSIZE, &Full);
  size_t Kept = 0;
  Error Failure;
  for (; !Failure && Kept < 1000; Kept += !Failure) {
    Evaluation E = makeEvaluation("p" + std::to_string(Kept));
    E.Session = S.Id;
    Failure = J->add({&E, 1}, S);
  }
  setrlimit(RLIMIT_FSIZE, &Old);
  signal(SIGXFSZ, SIG_DFL);
  EXPECT_TRUE(Failure);
  EXPECT_THAT(Failure.message(), HasSubstr("journal.db"));
  EXPECT_GT(Kept, 0u);
  EXPECT_EQ(J->evaluations({})->size(), Kept);
  add(*J, S, makeEvaluation("there is room again"));
  EXPECT_EQ(J->evaluations({})->size(), Kept + 1);
}

TEST_F(JournalTest, AppendsEvidence) {
  auto J = open();
  Session S = session(*J);
  Evaluation E = makeEvaluation("licm");
  add(*J, S, E);
  Evidence Found{"k1",   "fake cpu", "s1",   E.Change.id().hex(),
                 "weak", 1,          E.Gain, "{}"};
  EXPECT_FALSE(J->addEvidence(Found));
  Found.Level = "strong";
  EXPECT_FALSE(J->addEvidence(Found));
  auto All = J->evidence("k1");
  ASSERT_TRUE(All) << All.error().message();
  ASSERT_EQ(All->size(), 2u);
  EXPECT_EQ((*All)[0].Level, "weak");
  EXPECT_EQ((*All)[1].Level, "strong");
  EXPECT_EQ((*All)[1].Setting, "s1");
  EXPECT_EQ((*All)[1].VariantId, E.Change.id().hex());
  EXPECT_EQ((*All)[1].Detail, "{}");
  EXPECT_GT((*All)[1].At, 0u);
  EXPECT_TRUE(J->evidence("unknown")->empty());
  Found.Key = "unknown";
  EXPECT_TRUE(failsWith(J->addEvidence(Found), "no kernel unknown"));
}

} // namespace
