// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compile worker whose binaries are the variants' pipeline texts. Some of
// them are for itself: "die", "sleep", and "kernel", which is built as the name
// of the kernel that is loaded.
#include "wrapper/replay/Message.h"

#include "runtime/support/Protocol.h"
#include "runtime/support/Variant.h"

#include <csignal>
#include <cstdlib>
#include <unistd.h>

using namespace r3;
using namespace r3::replay;

static std::string Kernel;

static std::string load(const json::Value &Request) {
  Kernel = json::text(Request, "kernel", "");
  return Message("reply").json();
}

static std::string build(const json::Value &Request, Frame &Reply) {
  const json::Value *V = json::object(Request, "variant");
  std::string Word = V ? json::text(*V, "pipeline", "") : "";
  if (Word == "kernel")
    Word = Kernel;
  if (Word == "die") {
    ::write(2, "LLVM ERROR: planted\n", 20);
    ::abort();
  }
  if (Word == "sleep")
    ::pause();
  // No kernel has shared memory or waits, but this one.
  if (json::text(Request, "instrument", "") == "ptx")
    Word = Word == "slow" ? ".shared .b8 s[4];\nbar.sync 0;\n" : "";
  Reply.Blob.assign(Word.begin(), Word.end());
  return Message("reply")
      .outcome(Outcome::Ok, "")
      .text("code", contentDigest(Word).hex())
      .number("registers", 40)
      .json();
}

int main(int, char **Arguments) {
  const int Fd = std::atoi(Arguments[1]);
  Channel Link(Fd, Fd);
  for (;;) {
    auto Request = Link.receive(-1);
    if (!Request)
      return 0;
    auto Parsed = json::parse(Request->Json, "request");
    const std::string Verb = json::text(*Parsed, "verb", "");
    Frame Reply;
    Reply.Id = Request->Id;
    Reply.Json = Verb == "pipelines"
                     ? R"({"verb":"reply","pipelines":{"O2":"saxpy"}})"
                 : Verb == "load"  ? load(*Parsed)
                 : Verb == "build" ? build(*Parsed, Reply)
                                   : Message("reply").json();
    if (Link.send(Reply))
      return 1;
  }
}
