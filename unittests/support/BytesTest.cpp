// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/support/Bytes.h"
#include "unittests/support/TestFolder.h"

using namespace r3;

TEST(Bytes, RoundTrip) {
  ByteWriter Out;
  Out.u8(0xab);
  Out.u32(0x01020304);
  Out.u64(0x1122334455667788);
  Out.digest({1, 2});
  Out.string("text");
  std::vector<uint8_t> Bytes = Out.take();
  EXPECT_EQ(Bytes[1], 4) << "not little-endian";

  ByteReader In(Bytes, "k");
  EXPECT_EQ(In.u8(), 0xab);
  EXPECT_EQ(In.u32(), 0x01020304u);
  EXPECT_EQ(In.u64(), 0x1122334455667788u);
  EXPECT_EQ(In.digest(), (Digest{1, 2}));
  EXPECT_EQ(In.string(), "text");
  EXPECT_FALSE(In.finish());
}

TEST(Bytes, FirstFailureSticks) {
  std::vector<uint8_t> Bytes(104);
  ByteReader In(Bytes, "k.r3rec");
  In.raw(64);
  In.raw(64);
  EXPECT_EQ(In.u32(), 0u);
  In.reject("later");
  EXPECT_EQ(In.error().message(),
            "k.r3rec: offset 64: 40 bytes left, 64 needed");
  EXPECT_EQ(In.error().code(), ErrorCode::Damaged);
}

TEST(Bytes, RestIsAnError) {
  std::vector<uint8_t> Bytes(3);
  ByteReader In(Bytes, "k");
  In.u8();
  EXPECT_TRUE(failsWith(In.finish(), "offset 1: 2 bytes too many"));
}

TEST(Bytes, ForgedCountIsRefusedBeforeAllocation) {
  ByteWriter Out;
  Out.u64(1ull << 60);
  Out.u64(0);
  for (size_t Minimum : {size_t(0), size_t(1), size_t(24)}) {
    ByteReader In(Out.data(), "k");
    EXPECT_EQ(In.count(Minimum), 0u);
    EXPECT_TRUE(failsWith(In.error(), "1152921504606846976 elements"));
  }
  ByteReader In(Out.data(), "k");
  EXPECT_TRUE(In.bytes().empty());
  EXPECT_TRUE(In.failed());
}
