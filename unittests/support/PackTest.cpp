// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/support/Pack.h"
#include "runtime/support/Bytes.h"
#include "unittests/support/TestFolder.h"

#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

using namespace r3;

static std::vector<uint8_t> chunk(size_t Size, uint8_t Seed) {
  std::vector<uint8_t> Bytes(Size);
  for (size_t I = 0; I != Size; ++I)
    Bytes[I] = uint8_t(I * Seed + I / 256);
  return Bytes;
}

static Digest put(PackWriter &Writer, const std::vector<uint8_t> &Bytes) {
  Digest Name = chunkDigest(Bytes);
  Error E = Writer.add(Name, Bytes);
  EXPECT_FALSE(E) << E.message();
  return Name;
}

TEST(Pack, TwoWritersOneSet) {
  TestFolder Folder;
  auto A = PackWriter::create(Folder.Path), B = PackWriter::create(Folder.Path);
  ASSERT_TRUE(A && B);
  Digest First = put(**A, chunk(ChunkBytes, 1)), Second = put(**B, chunk(5, 2));
  uint64_t Size = (*A)->size();
  put(**A, chunk(ChunkBytes, 1));
  EXPECT_EQ((*A)->size(), Size) << "a chunk was written twice";
  ASSERT_FALSE((*A)->sync());
  ASSERT_FALSE((*B)->sync());

  auto Set = PackSet::open(Folder.Path);
  ASSERT_TRUE(Set) << Set.error().message();
  EXPECT_EQ((*Set)->files().size(), 2u);
  EXPECT_EQ(*(*Set)->read(First), chunk(ChunkBytes, 1));
  EXPECT_EQ(*(*Set)->read(Second), chunk(5, 2));
  Expected<std::vector<uint8_t>> None = (*Set)->read(Digest{1, 2});
  ASSERT_FALSE(None);
  EXPECT_EQ(None.error().code(), ErrorCode::NotFound);
}

TEST(Pack, OnlySyncedChunksAreSeen) {
  TestFolder Folder;
  auto Writer = PackWriter::create(Folder.Path);
  ASSERT_TRUE(Writer);
  Digest Kept = put(**Writer, chunk(100, 1));
  ASSERT_FALSE((*Writer)->sync());
  uint64_t Size = (*Writer)->size();
  Digest Dropped = put(**Writer, chunk(1000, 2));
  EXPECT_TRUE((*Writer)->contains(Dropped));
  ASSERT_FALSE((*Writer)->rollback());
  EXPECT_FALSE((*Writer)->contains(Dropped));
  EXPECT_TRUE((*Writer)->contains(Kept));
  EXPECT_EQ((*Writer)->size(), Size);
  Digest Later = put(**Writer, chunk(10, 3));
  ASSERT_FALSE((*Writer)->sync());
  auto Set = PackSet::open(Folder.Path);
  ASSERT_TRUE(Set);
  EXPECT_FALSE((*Set)->contains(Dropped));
  EXPECT_EQ(*(*Set)->read(Later), chunk(10, 3));
  EXPECT_EQ(*(*Set)->read(Kept), chunk(100, 1));
}

TEST(Pack, NothingKeptLeavesNothing) {
  TestFolder Folder;
  {
    auto Writer = PackWriter::create(Folder.Path);
    ASSERT_TRUE(Writer);
    put(**Writer, chunk(100, 1));
  }
  EXPECT_TRUE(std::filesystem::is_empty(Folder.Path));
}

TEST(Pack, ForkedCopyLeavesTheFilesAlone) {
  TestFolder Folder;
  auto Writer = PackWriter::create(Folder.Path);
  ASSERT_TRUE(Writer);
  Digest Name = put(**Writer, chunk(100, 1));
  pid_t Child = fork();
  if (Child == 0) {
    Writer->reset();
    _exit(0);
  }
  waitpid(Child, nullptr, 0);
  ASSERT_FALSE((*Writer)->sync());
  auto Set = PackSet::open(Folder.Path);
  ASSERT_TRUE(Set);
  EXPECT_EQ(*(*Set)->read(Name), chunk(100, 1));
}

namespace {
/// The bytes of the only pair of files.
struct Files {
  std::string Pack, Index;
  explicit Files(const TestFolder &Folder) {
    for (const auto &Entry : std::filesystem::directory_iterator(Folder.Path))
      (Entry.path().extension() == ".idx" ? Index : Pack) =
          Entry.path().string();
  }
};
} // namespace

TEST(Pack, IndexCutAtEveryLength) {
  TestFolder Folder;
  auto Writer = PackWriter::create(Folder.Path);
  ASSERT_TRUE(Writer);
  for (uint8_t I = 1; I != 4; ++I)
    put(**Writer, chunk(I * 10, I));
  ASSERT_FALSE((*Writer)->sync());
  std::vector<uint8_t> Index = *readFile(Files(Folder).Index);
  ASSERT_EQ(Index.size(), 16u + 3 * 48);
  for (size_t Size = 0; Size <= Index.size(); ++Size) {
    auto Entries = parsePackIndex({Index.data(), Size}, "cut");
    ASSERT_TRUE(Entries) << Size << ": " << Entries.error().message();
    EXPECT_EQ(Entries->size(), Size < 16 ? 0 : (Size - 16) / 48);
  }
  // A torn entry in the middle ends the list as well.
  std::vector<uint8_t> Torn = Index;
  Torn[16 + 48 + 3] ^= 1;
  EXPECT_EQ(parsePackIndex(Torn, "torn")->size(), 1u);
  Torn = Index;
  Torn[8] = 9;
  EXPECT_TRUE(failsWith(parsePackIndex(Torn, "x.idx"), "version 9"));
  Torn[0] = 'X';
  EXPECT_TRUE(failsWith(parsePackIndex(Torn, "x.idx"), "not a pack index"));
}

TEST(Pack, DamagedChunksAreSaid) {
  TestFolder Folder;
  auto Writer = PackWriter::create(Folder.Path);
  ASSERT_TRUE(Writer);
  Digest Name = put(**Writer, chunk(1000, 1));
  ASSERT_FALSE((*Writer)->sync());
  std::string Path = Files(Folder).Pack;
  std::vector<uint8_t> Bytes = *readFile(Path);
  Bytes[500] ^= 1;
  ASSERT_FALSE(writeFileAtomically(Path, Bytes));
  auto Set = PackSet::open(Folder.Path);
  ASSERT_TRUE(Set);
  EXPECT_TRUE(failsWith((*Set)->read(Name), "are not chunk " + Name.hex()));
  Bytes.resize(300);
  ASSERT_FALSE(writeFileAtomically(Path, Bytes));
  EXPECT_TRUE(failsWith((*Set)->read(Name), "284 bytes left, 1000 needed"));
}

// Packs are compressed later, by somebody else: the reader knows the codec.
TEST(Pack, CompressedChunk) {
  TestFolder Folder;
  std::vector<uint8_t> Raw(5000, 3), Stored(ZSTD_compressBound(5000));
  Stored.resize(
      ZSTD_compress(Stored.data(), Stored.size(), Raw.data(), Raw.size(), 1));
  ByteWriter Entry;
  Entry.digest(chunkDigest(Raw));
  Entry.u64(0);
  Entry.u32(uint32_t(Stored.size()));
  Entry.u32(5000);
  Entry.u64(1);
  uint64_t Sum = checksum(Entry.data());
  ByteWriter Index;
  Index.raw({reinterpret_cast<const uint8_t *>("R3INDEX"), 8});
  Index.u32(1);
  Index.u32(0);
  Index.raw(Entry.data());
  Index.u64(Sum);
  ASSERT_FALSE(writeFileAtomically(Folder / "a.idx", Index.data()));
  ASSERT_FALSE(writeFileAtomically(Folder / "a.pack", Stored));
  auto Set = PackSet::open(Folder.Path);
  ASSERT_TRUE(Set) << Set.error().message();
  Expected<std::vector<uint8_t>> Read = (*Set)->read(chunkDigest(Raw));
  ASSERT_TRUE(Read) << Read.error().message();
  EXPECT_EQ(*Read, Raw);
}

TEST(Pack, NoFolder) {
  TestFolder Folder;
  auto Set = PackSet::open(Folder / "none");
  ASSERT_FALSE(Set);
  EXPECT_EQ(Set.error().code(), ErrorCode::NotFound);
  EXPECT_TRUE(failsWith(PackWriter::create(Folder / "none"), "create"));
}
