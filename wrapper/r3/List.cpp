// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3 list: kernels by share of time, what was recorded of them, and why what
// cannot be replayed cannot.
#include "runtime/support/Json.h"
#include "wrapper/r3/Catalogue.h"
#include "wrapper/r3/Command.h"
#include "wrapper/r3/Text.h"
#include "wrapper/remix/Journal.h"

#include <map>
#include <set>

namespace r3 {

namespace {

void writeRecording(json::PrettyWriter &W, const CatalogueRecording &R) {
  const Recording &M = R.Manifest;
  W.StartObject();
  W.Key("id");
  W.String(R.Id);
  W.Key("class");
  W.String(M.Class);
  W.Key("footprint");
  W.Uint64(M.footprint());
  W.Key("ordinal");
  W.Uint64(M.Ordinal);
  W.Key("durationNs");
  W.Uint64(M.DurationNs);
  W.Key("reason");
  W.String(M.Reason);
  W.Key("detail");
  W.String(M.Detail);
  W.EndObject();
}

void writeKernel(json::PrettyWriter &W, const CatalogueKernel &K) {
  W.StartObject();
  W.Key("key");
  W.String(K.Key);
  W.Key("name");
  W.String(K.Display);
  W.Key("symbol");
  W.String(K.Name);
  W.Key("home");
  W.String(K.Home);
  W.Key("device");
  W.String(K.Backend);
  W.Key("timeKind");
  W.String(K.Backend == "cpu" ? "CPU time" : "time");
  W.Key("share");
  W.Double(K.Share);
  W.Key("totalNs");
  W.Double(K.TotalNs);
  W.Key("launches");
  W.Uint64(K.Launches);
  W.Key("replayable");
  W.Uint64(K.replayable());
  W.Key("reason");
  W.String(K.reason());
  W.Key("state");
  W.String(K.state());
  W.Key("recordings");
  W.StartArray();
  for (const CatalogueRecording &R : K.Recordings)
    writeRecording(W, R);
  W.EndArray();
  W.EndObject();
}

std::string jsonText(const Store &From, const Catalogue &All) {
  rapidjson::StringBuffer Buffer;
  json::PrettyWriter W(Buffer);
  W.StartObject();
  W.Key("store");
  W.String(From.path());
  W.Key("kernels");
  W.StartArray();
  for (const CatalogueKernel &K : All.Kernels)
    writeKernel(W, K);
  W.EndArray();
  W.Key("damaged");
  W.StartArray();
  for (const std::string &Message : All.Damaged)
    W.String(Message);
  W.EndArray();
  W.EndObject();
  return std::string(Buffer.GetString()) + "\n";
}

class List : public Command {
public:
  void declare(Flags &Options) override {
    Options.flag("--json", Json, "print JSON");
    Options.flag("--classes", Classes,
                 "print the argument classes that were recorded");
    Options.flag("--outcomes", Outcomes,
                 "print how the evaluations of the journal ended");
  }

  Expected<int> run(Context &Given) override {
    auto From = Given.openStore();
    if (!From)
      return From.error();
    if (Outcomes)
      return listOutcomes(Given, *From);
    Catalogue All = Catalogue::read(*From);
    if (Given.NamesDevice)
      std::erase_if(All.Kernels, [&](const CatalogueKernel &K) {
        return K.Backend != Given.Backend;
      });
    if (Json) {
      Given.Out.print(jsonText(*From, All));
      return 0;
    }
    for (const std::string &Message : All.Damaged)
      Given.warn(Message);
    if (All.Kernels.empty())
      return fail(
          ErrorCode::NotFound,
          "%s: nothing was recorded%s; `r3 record -- PROGRAM` does, with "
          "a program that clang-r3 built",
          From->path().c_str(), Given.NamesDevice ? " on this device" : "");
    for (const char *Backend : {"cuda", "cpu"})
      printDevice(Given, All, Backend);
    return 0;
  }

private:
  /// Kernel -> outcome -> how often.
  using Counts = std::map<std::string, std::map<Outcome, size_t>>;

  Expected<int> listOutcomes(Context &Given, const Store &From) const {
    auto Log = Journal::openForReading(From.journalPath());
    if (!Log)
      return Log.error();
    auto Made = (*Log)->evaluations(
        {"", Given.NamesDevice ? Given.Backend : "", "", 0});
    if (!Made)
      return Made.error();
    Counts All;
    for (const Evaluation &E : *Made)
      if (!E.Change.isOriginal())
        ++All[E.Name][E.Result];
    if (Json) {
      Given.Out.print(outcomesJson(All));
      return 0;
    }
    Table Lines({"KERNEL", "OUTCOME", ">COUNT", "MEANING"});
    for (const auto &[Name, Own] : All)
      for (const auto &[Result, Count] : Own)
        Lines.add({shortened(printable(Name), 48),
                   std::string(outcomeName(Result)), countText(Count),
                   std::string(outcomeDescription(Result))});
    Given.Out.print(Lines.text());
    return 0;
  }

  static std::string outcomesJson(const Counts &All) {
    rapidjson::StringBuffer Buffer;
    json::PrettyWriter W(Buffer);
    W.StartObject();
    for (const auto &[Name, Own] : All) {
      W.Key(Name);
      W.StartObject();
      for (const auto &[Result, Count] : Own) {
        W.Key(std::string(outcomeName(Result)));
        W.Uint64(Count);
      }
      W.EndObject();
    }
    W.EndObject();
    return std::string(Buffer.GetString()) + "\n";
  }

  void printDevice(Context &Given, const Catalogue &All,
                   const std::string &Backend) {
    bool Cpu = Backend == "cpu";
    Table Lines({"KERNEL", ">SHARE", Cpu ? ">CPU TIME" : ">TIME", ">LAUNCHES",
                 ">RECORDED", ">SIZE", "STATE"});
    for (const CatalogueKernel &K : All.Kernels)
      if (K.Backend == Backend)
        Lines.add(row(Given, K));
    if (Lines.empty())
      return;
    if (Cpu)
      Given.Out.print("device cpu: times are CPU times, not a GPU's\n");
    Given.Out.print(Lines.text());
    if (!Classes)
      return;
    for (const CatalogueKernel &K : All.Kernels)
      if (K.Backend == Backend)
        printClasses(Given, K);
  }

  static std::vector<std::string> row(Context &Given,
                                      const CatalogueKernel &K) {
    std::string State = K.state();
    return {shortened(printable(K.Display), 48),
            K.Sampled ? percentText(K.Share) : "-",
            K.Sampled ? durationText(K.TotalNs) : "-",
            K.Launches ? countText(K.Launches) : "-",
            countText(K.Recordings.size()),
            K.Recordings.empty() ? "-" : bytesText(K.footprint()),
            K.replayable() ? Given.Out.good(State) : Given.Out.bad(State)};
  }

  static void printClasses(Context &Given, const CatalogueKernel &K) {
    std::set<std::string> Seen;
    for (const CatalogueRecording &R : K.Recordings) {
      const std::string &Class = R.Manifest.Class;
      if (!Seen.insert(Class).second)
        continue;
      size_t Count = 0;
      for (const CatalogueRecording &Other : K.Recordings)
        Count += Other.Manifest.Class == Class;
      Given.Out.print("\n" + Given.Out.bold(printable(K.Display)) + ", " +
                      plural(Count, "recording") + ": " + printable(Class) +
                      "\n");
      for (const CatalogueRecording &Other : K.Recordings)
        if (Other.Manifest.Class == Class)
          Given.Out.print(
              format("  %s  launch %llu  %s\n", Other.Id.substr(0, 12).c_str(),
                     static_cast<unsigned long long>(Other.Manifest.Ordinal),
                     bytesText(Other.Manifest.footprint()).c_str()));
    }
  }

  bool Json = false;
  bool Classes = false, Outcomes = false;
};

} // namespace

std::unique_ptr<Command> makeList() { return std::make_unique<List>(); }

} // namespace r3
