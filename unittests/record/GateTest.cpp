// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/record/Gate.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

using namespace r3::record;
using namespace std::chrono_literals;

namespace {

TEST(Gate, ClosesAfterEverybodyHasLeft) {
  Gate G(5000);
  G.enter();
  std::atomic<bool> Closed{false};
  std::thread Closer([&] {
    EXPECT_TRUE(G.close());
    Closed = true;
    G.open();
  });
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(Closed);
  G.leave();
  Closer.join();
  EXPECT_TRUE(Closed);
}

TEST(Gate, GivesUpOnSomebodyWhoStays) {
  Gate G(20);
  G.enter();
  EXPECT_FALSE(G.close());
  // And is open again for the others.
  std::thread Other([&] { GatePass Pass(G); });
  Other.join();
  G.leave();
}

TEST(Gate, OthersWaitOutside) {
  Gate G(5000);
  ASSERT_TRUE(G.close());
  std::atomic<bool> Entered{false};
  std::thread Other([&] {
    GatePass Pass(G);
    Entered = true;
  });
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(Entered);
  EXPECT_FALSE(G.wasDisturbed());
  G.open();
  Other.join();
  EXPECT_TRUE(Entered);
}

TEST(Gate, NobodyWaitsForEver) {
  Gate G(20);
  ASSERT_TRUE(G.close());
  std::thread Other([&] { GatePass Pass(G); });
  Other.join();
  EXPECT_TRUE(G.wasDisturbed());
  G.open();
}

TEST(Gate, NobodyIsInsideWhileItIsClosed) {
  Gate G(5000);
  std::atomic<int> Inside{0}, Wrong{0};
  std::atomic<bool> Stop{false};
  std::vector<std::thread> Others;
  for (int I = 0; I < 3; ++I)
    Others.emplace_back([&] {
      while (!Stop) {
        GatePass Pass(G);
        ++Inside;
        std::this_thread::yield();
        --Inside;
      }
    });
  for (int I = 0; I < 200; ++I) {
    ASSERT_TRUE(G.close());
    Wrong += Inside.load();
    G.open();
  }
  Stop = true;
  for (auto &T : Others)
    T.join();
  EXPECT_EQ(Wrong, 0);
}

} // namespace
