// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/record/Saver.h"

#include "unittests/support/TestFolder.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <sys/resource.h>

using namespace r3;
using namespace r3::record;

namespace {

class SaverTest : public testing::Test {
protected:
  void SetUp() override { open(4); }
  void open(unsigned Writers) {
    Out.reset();
    auto Made = Saver::open(Folder / "store", Writers);
    ASSERT_TRUE(Made) << Made.error().message();
    Out = std::move(*Made);
  }

  /// Queues Count chunks that differ by Seed; their names.
  std::vector<Digest> write(unsigned Count, unsigned Seed) {
    auto Memory = std::make_shared<std::vector<std::vector<uint8_t>>>();
    std::vector<Digest> Names;
    for (unsigned I = 0; I < Count; ++I) {
      std::vector<uint8_t> Bytes(ChunkBytes, uint8_t(Seed));
      std::memcpy(Bytes.data(), &I, sizeof(I));
      Memory->push_back(Bytes);
      Names.push_back(chunkDigest(Memory->back()));
      Out->write({{Names.back(), Memory->back().data(), ChunkBytes}},
                 [Memory, this] { ++Freed; });
    }
    return Names;
  }
  Saver::Ending ending() {
    return {[this] {
              ++Published;
              return Error::success();
            },
            [this](const Error &E) { Failure = E.message(); }};
  }
  size_t inStore(const std::vector<Digest> &Names) {
    auto Packs = PackSet::open(Out->store().packDirectory());
    EXPECT_TRUE(Packs);
    size_t Found = 0;
    for (const Digest &N : Names)
      Found += (*Packs)->contains(N) && (*Packs)->read(N);
    return Found;
  }

  TestFolder Folder;
  std::unique_ptr<Saver> Out;
  std::atomic<unsigned> Freed{0};
  unsigned Published = 0;
  std::string Failure;
};

TEST_F(SaverTest, ARecordIsPublishedAfterItsChunks) {
  Out->begin();
  auto Names = write(3, 1);
  size_t AtPublish = 0;
  Out->finish({[&] {
                 AtPublish = inStore(Names);
                 return Error::success();
               },
               nullptr});
  Out->drain();
  EXPECT_EQ(AtPublish, 3u);
  EXPECT_EQ(Freed, 3u);
}

TEST_F(SaverTest, LargeRecordsUseSeveralPacks) {
  Out->begin();
  auto Names = write(200, 1);
  Out->finish(ending());
  Out->drain();
  EXPECT_EQ(Published, 1u);
  EXPECT_EQ(inStore(Names), 200u);
  auto Packs = PackSet::open(Out->store().packDirectory());
  EXPECT_EQ((*Packs)->files().size(), 4u);
}

TEST_F(SaverTest, AnAbandonedRecordLeavesNothing) {
  Out->begin();
  auto Gone = write(5, 1);
  Out->abandon();
  EXPECT_FALSE(Out->knows(Gone[0]));
  EXPECT_EQ(Out->bytesQueued(), 0u);
  Out->begin();
  auto Names = write(2, 2);
  Out->finish(ending());
  Out->drain();
  EXPECT_EQ(inStore(Gone), 0u);
  EXPECT_EQ(inStore(Names), 2u);
}

TEST_F(SaverTest, ChunksOfEarlierRunsAreKnown) {
  Out->begin();
  auto Names = write(2, 1);
  Out->finish(ending());
  Out->drain();
  open(1);
  EXPECT_TRUE(Out->knows(Names[1]));
}

TEST_F(SaverTest, EmptyPacksGo) {
  Out->begin();
  Out->finish(ending());
  Out->close();
  EXPECT_EQ(Published, 1u);
  EXPECT_TRUE(std::filesystem::is_empty(Out->store().packDirectory()));
}

/// Files of this process may not grow beyond Bytes, as on a full disk.
class FileSizeLimit {
public:
  explicit FileSizeLimit(uint64_t Bytes) {
    getrlimit(RLIMIT_FSIZE, &Old);
    rlimit New = Old;
    New.rlim_cur = Bytes;
    setrlimit(RLIMIT_FSIZE, &New);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &Old); }

private:
  rlimit Old;
};

TEST_F(SaverTest, AFullDiskRollsBackAndIsSaidOnce) {
  Out->begin();
  auto First = write(2, 1);
  Out->finish(ending());
  Out->drain();
  {
    FileSizeLimit Limit(4 * ChunkBytes);
    Out->begin();
    auto Second = write(300, 2); // over all writers
    Out->finish(ending());
    Out->begin();
    write(1, 3);
    Out->finish(ending());
    Out->drain();
    EXPECT_EQ(inStore(Second), 0u);
  }
  EXPECT_TRUE(Out->broken());
  EXPECT_EQ(Published, 1u);
  EXPECT_NE(Failure.find("cannot write"), std::string::npos) << Failure;
  EXPECT_EQ(inStore(First), 2u);
  for (const auto &F :
       std::filesystem::directory_iterator(Out->store().packDirectory()))
    EXPECT_LE(F.file_size(), 3 * ChunkBytes) << F.path();
}

TEST_F(SaverTest, AManifestThatCannotBeWrittenIsAFailure) {
  Out->begin();
  write(1, 1);
  Out->finish({[] { return fail(ErrorCode::NoSpace, "no room"); },
               [this](const Error &E) { Failure = E.message(); }});
  Out->drain();
  EXPECT_TRUE(Out->broken());
  EXPECT_EQ(Failure, "no room");
}

TEST(Saver, AnUnwritableStoreIsAnError) {
  TestFolder Folder;
  ASSERT_FALSE(writeFileAtomically(Folder / "file", std::string_view("x")));
  auto Made = Saver::open(Folder / "file/store", 1);
  ASSERT_FALSE(Made);
  EXPECT_NE(Made.error().message().find("file"), std::string::npos);
}

} // namespace
