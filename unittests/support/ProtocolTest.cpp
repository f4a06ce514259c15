// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Frames that are short, long, out of order, damaged or not there.
#include "runtime/support/Protocol.h"
#include "unittests/support/TestFolder.h"

#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

using namespace r3;

namespace {
/// A channel whose other end the test feeds and reads by hand.
struct Wire {
  int Feed = -1, Drain = -1;
  Channel End{-1, -1};
  Wire() {
    int In[2], Out[2];
    EXPECT_FALSE(pipe2(In, O_CLOEXEC) || pipe2(Out, O_CLOEXEC));
    Feed = In[1];
    Drain = Out[0];
    End = Channel(In[0], Out[1]);
  }
  ~Wire() {
    hangUp();
    if (Drain >= 0)
      close(Drain);
  }
  void feed(const void *Bytes, size_t Size) {
    EXPECT_EQ(write(Feed, Bytes, Size), ssize_t(Size));
  }
  void feed(const std::string &Text) { feed(Text.data(), Text.size()); }
  void feed(const std::vector<uint8_t> &Bytes) {
    feed(Bytes.data(), Bytes.size());
  }
  void hangUp() {
    if (Feed >= 0)
      close(Feed);
    Feed = -1;
  }
};
} // namespace

static Frame example(uint64_t Id = 7) {
  return {Id, R"({"verb":"hello"})", {1, 2, 3, 0, 255}};
}

static void expectEqual(const Frame &A, const Frame &B) {
  EXPECT_EQ(A.Id, B.Id);
  EXPECT_EQ(A.Json, B.Json);
  EXPECT_EQ(A.Blob, B.Blob);
}

TEST(Frame, RoundTrip) {
  Expected<Frame> Decoded = decodeFrame(encodeFrame(example()));
  ASSERT_TRUE(Decoded) << Decoded.error().message();
  expectEqual(*Decoded, example());
}

TEST(Frame, CutAndChangedAtEveryByte) {
  std::vector<uint8_t> Bytes = encodeFrame(example());
  for (size_t I = 0; I != Bytes.size(); ++I) {
    EXPECT_FALSE(decodeFrame({Bytes.data(), I})) << I;
    std::vector<uint8_t> Changed = Bytes;
    Changed[I] ^= 0x10;
    EXPECT_FALSE(decodeFrame(Changed)) << I;
  }
  Bytes.push_back(0);
  EXPECT_TRUE(failsWith(decodeFrame(Bytes), "1 bytes too many"));
}

TEST(Channel, SeveralFramesThenClosed) {
  Wire W;
  for (uint64_t Id : {3, 1, 2})
    W.feed(encodeFrame(example(Id)));
  W.hangUp();
  for (uint64_t Id : {3, 1, 2}) {
    Expected<Frame> F = W.End.receive(1000);
    ASSERT_TRUE(F) << F.error().message();
    EXPECT_EQ(F->Id, Id);
  }
  Expected<Frame> End = W.End.receive(1000);
  ASSERT_FALSE(End);
  EXPECT_EQ(End.error().code(), ErrorCode::NotFound);
  EXPECT_EQ(End.error().message(), "closed");
}

TEST(Channel, ByteByByteAndLarge) {
  Wire W;
  Frame Large = example();
  Large.Blob.assign(3 << 20, 9);
  std::vector<uint8_t> Small = encodeFrame(example());
  std::vector<uint8_t> Bytes = encodeFrame(Large);
  std::thread Feeder([&] {
    for (uint8_t Byte : Small)
      W.feed(&Byte, 1);
    W.feed(Bytes);
  });
  Expected<Frame> First = W.End.receive(5000), Second = W.End.receive(5000);
  Feeder.join();
  ASSERT_TRUE(First && Second);
  expectEqual(*First, example());
  expectEqual(*Second, Large);
}

TEST(Channel, Timeouts) {
  Wire W;
  Expected<Frame> Silent = W.End.receive(20);
  ASSERT_FALSE(Silent);
  EXPECT_EQ(Silent.error().code(), ErrorCode::Timeout);
  std::vector<uint8_t> Bytes = encodeFrame(example());
  W.feed(Bytes.data(), Bytes.size() - 1);
  Expected<Frame> Half = W.End.receive(20);
  ASSERT_FALSE(Half);
  EXPECT_EQ(Half.error().code(), ErrorCode::Timeout);
}

TEST(Channel, ClosedWithinAFrame) {
  std::vector<uint8_t> Bytes = encodeFrame(example());
  for (size_t Size = 1; Size != Bytes.size(); ++Size) {
    Wire W;
    W.feed(Bytes.data(), Size);
    W.hangUp();
    Expected<Frame> F = W.End.receive(1000);
    ASSERT_FALSE(F) << Size;
    EXPECT_EQ(F.error().code(), ErrorCode::Damaged) << Size;
  }
}

TEST(Channel, GarbageAndForgedSizes) {
  {
    Wire W;
    W.feed("Segmentation fault (core dumped)\n");
    EXPECT_TRUE(failsWith(W.End.receive(1000), "not a frame"));
  }
  for (size_t Byte : {7, 15}) { // the highest bytes of the two sizes
    Wire W;
    std::vector<uint8_t> Bytes = encodeFrame(example());
    Bytes[Byte] = 0x7f;
    W.feed(Bytes);
    EXPECT_TRUE(failsWith(W.End.receive(1000), "over the limit"));
  }
  // A size within the limit that never comes costs no memory, only time.
  Wire W;
  std::vector<uint8_t> Bytes = encodeFrame(example());
  Bytes[8 + 3] = 0x20; // 512 MiB of blob
  W.feed(Bytes);
  W.hangUp();
  EXPECT_TRUE(failsWith(W.End.receive(1000), "closed within a message"));
}

TEST(Channel, SendingToTheDead) {
  Wire W;
  close(W.Drain);
  W.Drain = -1;
  Error E = W.End.send(example());
  ASSERT_TRUE(E);
  EXPECT_EQ(E.code(), ErrorCode::NotFound);
  sigset_t Pending;
  sigpending(&Pending);
  EXPECT_FALSE(sigismember(&Pending, SIGPIPE));
}

TEST(Greeting, AfterAMessageOfTheDay) {
  Wire W;
  W.feed("Welcome to node17!\nR3PROTO R3PROTR3PROTO1");
  uint32_t Length = 3;
  W.feed(&Length, 4);
  W.feed("abc");
  W.feed(encodeFrame(example()));
  Error E = W.End.expectGreeting("abc", 1000);
  ASSERT_FALSE(E) << E.message();
  Expected<Frame> F = W.End.receive(1000);
  ASSERT_TRUE(F) << F.error().message();
  expectEqual(*F, example());
}

TEST(Greeting, OwnGreetingIsUnderstood) {
  int Both[2];
  ASSERT_FALSE(pipe2(Both, O_CLOEXEC));
  Channel Loop(Both[0], Both[1]);
  ASSERT_FALSE(Loop.greet(buildId()));
  EXPECT_FALSE(Loop.expectGreeting(buildId(), 1000));
  ASSERT_FALSE(Loop.greet("another"));
  Error E = Loop.expectGreeting(buildId(), 1000);
  EXPECT_EQ(E.code(), ErrorCode::Stale) << E.message();
}

TEST(Greeting, NeverComes) {
  {
    Wire W;
    EXPECT_EQ(W.End.expectGreeting("abc", 20).code(), ErrorCode::Timeout);
  }
  {
    Wire W;
    W.feed("bash: r3: command not found\n");
    W.hangUp();
    EXPECT_EQ(W.End.expectGreeting("abc", 1000).code(), ErrorCode::NotFound);
  }
  {
    Wire W;
    std::thread Feeder([&] {
      std::string Noise(1 << 16, 'x');
      for (int I = 0; I != 17; ++I)
        W.feed(Noise);
    });
    Error E = W.End.expectGreeting("abc", 20000);
    EXPECT_TRUE(failsWith(E, "no greeting in the first 1048576 bytes"));
    char Rest[1 << 16];
    fcntl(W.End.readFd(), F_SETFL, O_NONBLOCK);
    while (read(W.End.readFd(), Rest, sizeof(Rest)) > 0)
      ;
    Feeder.join();
  }
  Wire W;
  W.feed("R3PROTO1\xff\xff\xff\x7f");
  EXPECT_TRUE(failsWith(W.End.expectGreeting("abc", 1000), "a build id of"));
}

TEST(BuildId, NamesVersionAndSources) {
  EXPECT_EQ(buildId(), buildId());
  EXPECT_NE(buildId().find('-'), std::string::npos);
  EXPECT_GE(buildId().size(), 14u);
}
