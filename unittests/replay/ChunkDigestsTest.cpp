// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/replay/ChunkDigests.h"
#include "unittests/replay/FakeDevice.h"

#include <gtest/gtest.h>
#include <random>

using namespace r3;
using namespace r3::replay;

namespace {

/// Pieces that a device hashes, and between them such as are copied: in the
/// order in which they were added each has the digests of its own chunks.
TEST(ChunkDigests, EqualThoseOfTheHost) {
  auto D = fake::openFakeDevice({});
  ASSERT_TRUE(D) << D.error().message();
  std::vector<uint64_t> Storage(4 * ChunkBytes / 8 + 8);
  std::mt19937_64 Random(1);
  for (uint64_t &Word : Storage)
    Word = Random();
  Address Base = reinterpret_cast<Address>(Storage.data());
  Base += -Base % GuardAlignment;
  const AddressRange Pieces[] = {{Base + 3, 5},
                                 {Base, 2 * ChunkBytes + 17},
                                 {Base + 8, ChunkBytes + 8},
                                 {Base + ChunkBytes, ChunkBytes},
                                 {Base + 16, 15},
                                 {Base + 32, 4097}};
  ChunkDigests Digests;
  for (size_t I = 0; I < std::size(Pieces); ++I)
    EXPECT_EQ(Digests.add(Pieces[I]), I);
  std::vector<uint64_t> Buffer(Digests.bytes() / 8 + 1, 0x5555555555555555);
  auto *Bytes = reinterpret_cast<uint8_t *>(Buffer.data());
  auto Stream = (*D)->createStream();
  ASSERT_TRUE(Stream) << Stream.error().message();
  if (Error E = Digests.queue(**D, Bytes, *Stream))
    FAIL() << E.message();
  EXPECT_EQ(Bytes[Digests.bytes()], 0x55);
  for (size_t I = 0; I < std::size(Pieces); ++I) {
    std::vector<Digest> Have, Want;
    Digests.append(Have, I, Bytes);
    for (uint64_t At = 0; At < Pieces[I].Size; At += ChunkBytes)
      Want.push_back(
          chunkDigest({reinterpret_cast<const uint8_t *>(Pieces[I].Begin + At),
                       std::min<uint64_t>(ChunkBytes, Pieces[I].Size - At)}));
    EXPECT_EQ(Have, Want) << "piece " << I;
  }
}

} // namespace
