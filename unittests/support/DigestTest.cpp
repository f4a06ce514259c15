// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Known answers come from the published test values of xxHash 0.8.
#include "runtime/support/Digest.h"
#include "unittests/support/TestFolder.h"

using namespace r3;

TEST(Digest, KnownAnswers) {
  EXPECT_EQ(contentDigest("").hex(), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(checksum({}), 0x2d06800538d394c2u);
  LeafHash Empty = leafHash({});
  EXPECT_EQ(Empty.Seed0, 0xef46db3751d8e999u);
}

TEST(Digest, HexRoundTrip) {
  Digest D{0x0123456789abcdef, 0xfedcba9876543210};
  EXPECT_EQ(D.hex(), "fedcba98765432100123456789abcdef");
  Expected<Digest> Parsed = Digest::parse(D.hex());
  ASSERT_TRUE(Parsed);
  EXPECT_EQ(*Parsed, D);
}

TEST(Digest, ParseIsStrict) {
  EXPECT_TRUE(failsWith(Digest::parse("12"), "32 hex digits, not 2"));
  EXPECT_TRUE(failsWith(Digest::parse(std::string(32, 'A')), "lower-case"));
  EXPECT_TRUE(
      failsWith(Digest::parse(std::string(31, '0') + "g"), "lower-case"));
}

TEST(Digest, ChunkIsBuiltFromLeaves) {
  std::vector<uint8_t> Bytes(3 * LeafBytes + 100);
  for (size_t I = 0; I != Bytes.size(); ++I)
    Bytes[I] = uint8_t(I * 31 + I / 4096);
  std::vector<LeafHash> Leaves;
  std::span<const uint8_t> All = Bytes;
  for (size_t At = 0; At < Bytes.size(); At += LeafBytes)
    Leaves.push_back(
        leafHash(All.subspan(At, std::min(LeafBytes, Bytes.size() - At))));
  ASSERT_EQ(Leaves.size(), 4u);
  EXPECT_EQ(chunkDigest(Bytes), combineLeaves(Leaves));
  Bytes.back() ^= 1;
  EXPECT_NE(chunkDigest(Bytes), combineLeaves(Leaves));
}

TEST(Digest, WholeChunk) {
  std::vector<uint8_t> Bytes(ChunkBytes, 7);
  std::vector<LeafHash> Leaves(ChunkBytes / LeafBytes,
                               leafHash({Bytes.data(), LeafBytes}));
  EXPECT_EQ(chunkDigest(Bytes), combineLeaves(Leaves));
}
