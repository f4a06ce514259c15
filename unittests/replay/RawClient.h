// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A supervisor with fake children whose requests the test writes itself.
#pragma once

#include "runtime/support/Options.h"
#include "runtime/support/Process.h"
#include "runtime/support/Protocol.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <optional>
#include <string>
#include <unistd.h>

namespace r3::testing {

inline std::string quote(const std::string &Text) { return "\"" + Text + "\""; }

struct RawClient {
  std::optional<Process> Child;
  std::optional<Channel> Link;

  RawClient() {
    const std::string Binaries = R3_TEST_BINARIES;
    SpawnOptions S;
    S.Arguments = {Binaries + "/fake-supervisor", Binaries + "/fake-device",
                   Binaries + "/fake-compile"};
    int In[2], Out[2];
    EXPECT_EQ(pipe2(In, O_CLOEXEC) + pipe2(Out, O_CLOEXEC), 0);
    S.Stdin = In[0];
    S.Stdout = Out[1];
    auto Started = Process::spawn(S);
    EXPECT_TRUE(Started);
    Child.emplace(std::move(*Started));
    Link.emplace(Out[0], In[1]);
    ::close(In[0]);
    ::close(Out[1]);
    EXPECT_FALSE(Link->greet(buildId()));
    EXPECT_FALSE(Link->expectGreeting(buildId(), 10000));
  }
  void send(uint64_t Id, const std::string &Json) {
    Frame F;
    F.Id = Id;
    F.Json = Json;
    EXPECT_FALSE(Link->send(F));
  }
  std::string receive(uint64_t Id) {
    auto F = Link->receive(20000);
    if (!F) {
      ADD_FAILURE() << F.error().message();
      return {};
    }
    EXPECT_EQ(F->Id, Id);
    return F->Json;
  }
};

} // namespace r3::testing
