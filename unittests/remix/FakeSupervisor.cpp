// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A supervisor without a device, for tests of what starts workers: it speaks
// the protocol and makes everything up from the digest of a variant. It is put
// in front of the real one as a launcher:
//   FakeSupervisor [log=FILE] [slow=MS] [OUTCOME=TEXT]... SUPERVISOR
// A variant whose JSON contains TEXT ends in OUTCOME: "lose" dies without an
// answer, "hang" gives none, "unsteady" makes prepare fail, "torn" makes
// batches of it lack a time, anything else is a name of Outcome.def. "floor"
// makes a kernel whose recordings' paths contain TEXT as fast as memory,
// "below" gives variants that contain TEXT a floor of ten times what they take.
// log= gets the JSON of every variant that was run; scatter makes gains vary by
// up to a tenth, "fast" variants that contain TEXT the fastest.
#include "runtime/support/Json.h"
#include "runtime/support/Options.h"
#include "runtime/support/Protocol.h"
#include "runtime/support/Variant.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <unistd.h>

using namespace r3;

namespace {

const char *const Pipelines =
    "module-pass,function(sroa<modify-cfg>,loop-mssa(licm<allowspeculation>),"
    "instcombine<max-iterations=1;no-verify-fixpoint>,gvn<>),globaldce";

class Fake {
public:
  explicit Fake(std::map<std::string, std::string> Rules)
      : Rules(std::move(Rules)), Link(0, 1) {}

  int serve() {
    if (Link.greet(buildId()) || Link.expectGreeting(buildId(), 10000))
      return 1;
    while (true) {
      auto Request = Link.receive(-1);
      if (!Request)
        return 0;
      auto Json = json::parse(Request->Json, "request");
      std::string Verb = Json ? json::text(*Json, "verb", "") : "";
      if (Verb == "bye")
        return 0;
      Frame Reply;
      Reply.Id = Request->Id;
      Reply.Json = answer(Verb, *Json);
      if (Link.send(Reply))
        return 1;
    }
  }

private:
  std::string answer(const std::string &Verb, const json::Value &Request) {
    if (Verb == "hello") {
      std::string Backend = json::text(Request, "backend", "");
      return R"({"verb":"reply","identity":{"backend":")" + Backend +
             R"(","name":"fake","key":"fake )" + Backend +
             R"(","tools":"fake 1"},"pipelines":{"O3":")" + Pipelines +
             R"("}})";
    }
    if (Verb == "load") {
      noteLoad(Request);
      Once.clear();
      return R"({"verb":"reply","recordings":[]})";
    }
    if (Verb == "know") {
      if (const json::Value *List = json::array(Request, "binaries"))
        for (const json::Value &One : List->GetArray())
          Once.insert(json::text(One, "code", ""));
      return R"({"verb":"reply"})";
    }
    if (Verb == "prepare")
      return prepared();
    if (Verb == "evaluate")
      return evaluated(Request);
    if (Verb == "measure")
      return measured(Request);
    if (Verb == "rates")
      return R"({"verb":"reply","emptyLaunchUs":0.1})";
    return R"({"verb":"reply","error":"unknown verb )" + Verb + "\"}";
  }

  void noteLoad(const json::Value &Request) {
    const json::Value *Paths = json::array(Request, "recordings");
    AtFloor = Rules.count("floor") && Paths && !Paths->Empty() &&
              std::string((*Paths)[0].GetString()).find(Rules["floor"]) !=
                  std::string::npos;
  }

  std::string prepared() const {
    if (Rules.count("floor"))
      return R"({"verb":"reply","outcome":"ok","bitExact":true,"buffers":[],)"
             R"("originalNs":[1000,1010,990],"programNs":1000,"floor":{"coldUs":)" +
             std::string(AtFloor ? "0.97}}" : "0.4}}");
    if (Rules.count("unsteady"))
      return R"({"verb":"reply","outcome":"not-verifiable","message":"made up",)"
             R"("bitExact":false,"buffers":[{"name":"out","address":4096,)"
             R"("size":1024,"type":7,"changedBytes":12,"maxDifference":0.5,)"
             R"("rms":2.0}],"originalNs":[1000,1000],"programNs":900})";
    return R"({"verb":"reply","outcome":"ok","bitExact":true,"buffers":[],)"
           R"("originalNs":[1000,1010,990],"programNs":900})";
  }

  static std::string variantOf(const json::Value &Request) {
    const json::Value *Change = json::object(Request, "variant");
    rapidjson::StringBuffer Buffer;
    json::Writer W(Buffer);
    Change->Accept(W);
    return Buffer.GetString();
  }

  /// A third of all variants share a binary with others.
  double gainOf(const std::string &Text) const {
    const auto Fast = Rules.find("fast");
    const bool IsFast =
        Fast != Rules.end() && Text.find(Fast->second) != std::string::npos;
    return Text == "{}" ? 1.0
                        : (IsFast ? 1.5 : 0.9) +
                              double(contentDigest(Text).Low % 30) / 50;
  }

  std::string measured(const json::Value &Request) const {
    std::string Batches;
    const double Us = 1000 / gainOf(variantOf(Request));
    for (uint64_t I = 0; I < json::number(Request, "batches", 0); ++I)
      Batches +=
          (I ? "," : "") + std::string(R"({"originalUs":[1000,1001],)") +
          R"("variantUs":[)" + std::to_string(Us) +
          (Rules.count("torn") ? "" : ",") +
          (Rules.count("torn") ? "" : std::to_string(Us + double(I % 2))) +
          "]}";
    return R"({"verb":"reply","outcome":"ok","batches":[)" + Batches + "]}";
  }

  std::string evaluated(const json::Value &Request) {
    const std::string Text = variantOf(Request);
    if (Rules.count("slow"))
      usleep(useconds_t(std::atoi(Rules["slow"].c_str())) * 1000);
    uint64_t Number = contentDigest(Text).Low;
    std::string Code =
        contentDigest(Text == "{}" ? "original" : std::to_string(Number % 30))
            .hex();
    for (const auto &[Result, Part] : Rules) {
      if (isSetting(Result) || Text.find(Part) == std::string::npos)
        continue;
      note(Text);
      if (Result == "lose")
        std::_Exit(9);
      if (Result == "hang")
        hang();
      return R"({"verb":"reply","outcome":")" + Result +
             R"(","message":"made up","code":""})";
    }
    std::set<std::string> Skipped = texts(Request, "known");
    if (json::boolean(Request, "once", false)) {
      Skipped.insert(Once.begin(), Once.end());
      Once.insert(Code);
    }
    if (Skipped.count(Code))
      return R"({"verb":"reply","outcome":"duplicate","code":")" + Code + "\"}";
    note(Text);
    return times(gainOf(Text), Code, floors(Request, Text));
  }

  std::string floors(const json::Value &Request, const std::string &Text) {
    const bool IsBelow =
        Rules.count("below") && Text.find(Rules["below"]) != std::string::npos;
    const double Us = IsBelow ? 1e4 / gainOf(Text) : 0.5;
    std::string All;
    const json::Value *List = json::array(Request, "recordings");
    if (List && json::boolean(Request, "floors", false))
      for (size_t I = 0; I < List->Size(); ++I)
        All += (I ? "," : "") +
               std::string(R"({"coldUs":)" + std::to_string(Us) +
                           R"(,"warmUs":)" + std::to_string(Us / 2) +
                           R"(,"coldBy":"memory","warmBy":"float arithmetic",)"
                           R"("readBytes":1024,)"
                           R"("writtenBytes":2048,"operations":{"float":4812,)"
                           R"("double":7},"uncounted":"made up"})");
    return All;
  }

  /// Until the client is gone, however it went.
  [[noreturn]] static void hang() {
    char Bytes[4096];
    while (read(0, Bytes, sizeof(Bytes)) > 0) {
    }
    std::_Exit(9);
  }

  void note(const std::string &Text) {
    if (Rules.count("log"))
      std::ofstream(Rules["log"], std::ios::app) << Text << "\n";
  }

  /// Rules that are no outcomes.
  static bool isSetting(const std::string &Name) {
    for (const char *One : {"below", "fast", "floor", "log", "scatter", "slow",
                            "torn", "unsteady"})
      if (Name == One)
        return true;
    return false;
  }

  std::string times(double Gain, const std::string &Code,
                    const std::string &Floors) const {
    std::string Original, Changed;
    if (Rules.count("scatter"))
      Gain *= 1 + double(std::random_device()() % 1000) / 1e4;
    for (int I = 0; I < 8; ++I) {
      Original += (I ? "," : "") + std::to_string(1000 + I % 3);
      Changed += (I ? "," : "") + std::to_string(1000 / Gain + I % 2);
    }
    return R"({"verb":"reply","outcome":"ok","code":")" + Code +
           R"(","registers":32,"originalNs":[)" + Original +
           R"(],"variantNs":[)" + Changed + R"(],"floors":[)" + Floors +
           R"(],"ms":{"build":1.5}})";
  }

  static std::set<std::string> texts(const json::Value &Request,
                                     const char *Member) {
    std::set<std::string> All;
    if (const json::Value *List = json::array(Request, Member))
      for (const json::Value &One : List->GetArray())
        All.insert(One.IsString() ? One.GetString() : "");
    return All;
  }

  std::map<std::string, std::string> Rules;
  std::set<std::string> Once; // binaries that are not run again
  bool AtFloor = false;       // what is loaded
  Channel Link;
};

} // namespace

int main(int Count, char **Arguments) {
  std::map<std::string, std::string> Rules;
  for (int I = 1; I < Count; ++I) {
    std::string Word = Arguments[I];
    size_t Equal = Word.find('=');
    if (Equal != std::string::npos)
      Rules[Word.substr(0, Equal)] = Word.substr(Equal + 1);
  }
  return Fake(std::move(Rules)).serve();
}
