// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is removed from a store, and that it may end anywhere.
#include "wrapper/r3/Garbage.h"

#include "TestStore.h"
#include "unittests/support/TestFolder.h"
#include "wrapper/r3/Catalogue.h"

#include "runtime/support/Files.h"
#include "runtime/support/Pack.h"
#include "runtime/support/StoreLock.h"

#include <algorithm>
#include <atomic>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fs = std::filesystem;

using namespace r3;

namespace {

constexpr int64_t Always = INT64_MAX;

class GarbageTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(makeTestStore(Folder / "store", "cpu"));
    // It began at the same time as the first, which counts.
    ASSERT_FALSE(
        makeTestStore(Folder / "store", "cpu", "20260201-142501-4711"));
  }

  Store store() { return *Store::open(Folder / "store", /*Create=*/true); }

  void write(const std::string &Name, const std::string &Text = "x") {
    ASSERT_FALSE(writeFileAtomically(Folder / "store/" + Name, Text));
  }

  /// A pack with one chunk of these bytes.
  void pack(const std::vector<uint8_t> &Bytes) {
    auto W = PackWriter::create(store().packDirectory());
    ASSERT_TRUE(W);
    EXPECT_FALSE((*W)->add(chunkDigest(Bytes), Bytes));
    EXPECT_FALSE((*W)->sync());
  }

  std::vector<std::string> packs() {
    std::vector<std::string> Names;
    for (const auto &E : fs::directory_iterator(store().packDirectory()))
      Names.push_back(E.path().filename().string());
    std::sort(Names.begin(), Names.end());
    return Names;
  }

  /// Kind -> names, of what would go.
  std::map<std::string, std::vector<std::string>>
  found(int64_t Since = Always) {
    std::map<std::string, std::vector<std::string>> Result;
    auto G = findGarbage(store(), Since);
    EXPECT_TRUE(G) << (G ? "" : G.error().message());
    if (G)
      for (const GarbageFile &F : G->Files)
        Result[F.Kind].push_back(fs::path(F.Path).filename().string());
    return Result;
  }

  static size_t collect(const Store &From) {
    std::atomic<bool> Stop{false};
    size_t Count = 0;
    auto G = findGarbage(From, Always);
    EXPECT_TRUE(G);
    EXPECT_FALSE(
        removeGarbage(*G, Stop, [&](const GarbageFile &) { ++Count; }));
    return Count;
  }

  /// Everything that the store promises: manifests, and each of their chunks
  /// that was there before.
  static std::set<std::string> promised(const Store &From) {
    std::set<std::string> All;
    auto Packs = PackSet::open(From.packDirectory());
    EXPECT_TRUE(Packs);
    for (const std::string &Path : From.listRecordings()) {
      auto R = Recording::parse(*readFile(Path), Path);
      EXPECT_TRUE(R);
      All.insert(Path);
      for (const RecordedAllocation &A : R->Allocations)
        for (const Digest &Chunk : A.Before)
          if ((*Packs)->read(Chunk))
            All.insert(Chunk.hex());
    }
    return All;
  }

  TestFolder Folder;
};

TEST_F(GarbageTest, LeavesWhatIsReferredTo) {
  const auto Before = promised(store());
  collect(store());
  EXPECT_EQ(promised(store()), Before);
  // Nothing is left to do.
  EXPECT_TRUE(found().empty());
  const Catalogue All = Catalogue::read(store());
  EXPECT_EQ(All.Kernels.size(), 3u);
  EXPECT_FALSE(All.Kernels[0].Units.empty());
}

TEST_F(GarbageTest, FindsWhatNothingRefersTo) {
  collect(store());
  write("modules/" + std::string(32, '1') + ".bc");
  write("images/" + std::string(32, '2') + ".fatbin");
  write("cache/derived.bc");
  write("cache/a.h");
  write("cache/clang-r3.log");
  write("tmp/left-over");
  pack({1, 2, 3});
  const auto G = found();
  EXPECT_EQ(G.at("modules"),
            std::vector<std::string>{std::string(32, '1') + ".bc"});
  EXPECT_EQ(G.at("images"),
            std::vector<std::string>{std::string(32, '2') + ".fatbin"});
  EXPECT_EQ(G.at("derived"), std::vector<std::string>{"derived.bc"});
  EXPECT_EQ(G.at("temporary"), std::vector<std::string>{"left-over"});
  ASSERT_EQ(G.at("packs").size(), 2u);
  EXPECT_TRUE(G.at("packs")[0].ends_with(".idx")); // before its pack
  EXPECT_TRUE(G.at("packs")[1].ends_with(".pack"));
  EXPECT_EQ(G.size(), 5u);
}

TEST_F(GarbageTest, KeepsTheLatestRunAndTheUnitsOfItsKernels) {
  EXPECT_EQ(found().at("runs"),
            std::vector<std::string>{"20260201-142501-4711.stats"});
  fs::remove_all(store().path() + "/recordings");
  // The kernels are in the latest run.
  EXPECT_FALSE(found().count("units"));
  fs::remove_all(store().path() + "/runs");
  EXPECT_EQ(found().at("units").size(), store().listUnits().size());
}

TEST_F(GarbageTest, LeavesWhatIsYoungerThanAsked) {
  collect(store());
  write("modules/" + std::string(32, '1') + ".bc");
  write("modules/" + std::string(32, '2') + ".bc");
  const std::string Old =
      store().path() + "/modules/" + std::string(32, '2') + ".bc";
  const timespec Times[2] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, Old.c_str(), Times, 0), 0);
  EXPECT_EQ(found(/*Since=*/2000).at("modules"),
            std::vector<std::string>{std::string(32, '2') + ".bc"});
}

TEST_F(GarbageTest, LeavesTemporaryFilesOfTheLiving) {
  collect(store());
  const pid_t Dead = fork();
  if (!Dead)
    _exit(0);
  waitpid(Dead, nullptr, 0);
  write("tmp/a." + std::to_string(getpid()) + ".0.tmp");
  write("tmp/b." + std::to_string(Dead) + ".0.tmp");
  write("cache/c.h." + std::to_string(Dead) + ".12.tmp");
  write("cache/d.h." + std::to_string(getpid()) + ".12.tmp");
  auto G = found();
  std::sort(G["temporary"].begin(), G["temporary"].end());
  EXPECT_EQ(G["temporary"], (std::vector<std::string>{
                                "b." + std::to_string(Dead) + ".0.tmp",
                                "c.h." + std::to_string(Dead) + ".12.tmp"}));
  EXPECT_EQ(G.size(), 1u);
}

TEST_F(GarbageTest, TakesPacksThatLostTheirIndex) {
  collect(store());
  pack({1, 2, 3});
  for (const std::string &Name : packs())
    if (Name.ends_with(".idx") && found().count("packs") &&
        found().at("packs")[0] == Name)
      fs::remove(store().packDirectory() + "/" + Name);
  ASSERT_EQ(found().at("packs").size(), 1u);
  EXPECT_TRUE(found().at("packs")[0].ends_with(".pack"));
}

TEST_F(GarbageTest, RemovesNothingWhereAManifestIsDamaged) {
  const std::string Path = store().listRecordings().front();
  ASSERT_EQ(truncate(Path.c_str(), 100), 0);
  EXPECT_FALSE(findGarbage(store(), Always));
}

TEST_F(GarbageTest, LosesNothingWhereverItIsKilled) {
  collect(store());
  const auto Before = promised(store());
  const size_t Packs = packs().size();
  for (size_t KillAfter = 0;; ++KillAfter) {
    for (uint8_t I = 1; I < 4; ++I)
      pack({I, I, I});
    write("modules/" + std::string(32, '1') + ".bc");
    write("tmp/left-over");
    const pid_t Child = fork();
    if (!Child) {
      std::atomic<bool> Stop{false};
      size_t Count = 0;
      auto G = findGarbage(store(), Always);
      if (!KillAfter)
        raise(SIGKILL);
      (void)removeGarbage(*G, Stop, [&](const GarbageFile &) {
        if (++Count == KillAfter)
          raise(SIGKILL);
      });
      _exit(0);
    }
    int Status = 0;
    waitpid(Child, &Status, 0);
    EXPECT_EQ(promised(store()), Before);
    collect(store()); // what is left goes
    EXPECT_EQ(packs().size(), Packs);
    EXPECT_TRUE(found().empty());
    if (WIFEXITED(Status))
      break;
    ASSERT_LT(KillAfter, 100u);
  }
}

TEST(StoreLockTest, KeepsUsersAndRemoversApart) {
  TestFolder Folder;
  auto S = Store::open(Folder / "store", /*Create=*/true);
  ASSERT_TRUE(S);
  {
    auto One = StoreLock::share(*S), Two = StoreLock::share(*S);
    EXPECT_TRUE(One);
    EXPECT_TRUE(Two);
    auto Own = StoreLock::own(*S);
    ASSERT_FALSE(Own);
    EXPECT_NE(Own.error().message().find("in use"), std::string::npos);
  }
  EXPECT_TRUE(StoreLock::own(*S));
}

} // namespace
