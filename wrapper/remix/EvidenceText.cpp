// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/remix/EvidenceText.h"

#include "runtime/support/Json.h"

#include <algorithm>

namespace r3 {

namespace {

class Writer {
public:
  std::string write(const GateReport &Found);

private:
  void text(const char *Name, const std::string &Value) {
    W.Key(Name);
    W.String(Value);
  }
  void number(const char *Name, double Value) {
    W.Key(Name);
    W.Double(Value);
  }
  void count(const char *Name, uint64_t Value) {
    W.Key(Name);
    W.Uint64(Value);
  }
  void flag(const char *Name, bool Value) {
    W.Key(Name);
    W.Bool(Value);
  }
  void texts(const char *Name, const std::vector<std::string> &Values) {
    W.Key(Name);
    W.StartArray();
    for (const std::string &Value : Values)
      W.String(Value);
    W.EndArray();
  }
  /// An array of objects, each written by One.
  template <typename List, typename Function>
  void objects(const char *Name, const List &All, Function One) {
    W.Key(Name);
    W.StartArray();
    for (const auto &Each : All) {
      W.StartObject();
      One(Each);
      W.EndObject();
    }
    W.EndArray();
  }
  void binary(const char *Name, const EvaluationReport &Of);
  void times(const RecordingGain &G);

  rapidjson::StringBuffer Buffer;
  json::Writer W{Buffer};
};

void Writer::binary(const char *Name, const EvaluationReport &Of) {
  W.Key(Name);
  W.StartObject();
  text("code", Of.Code);
  count("registers", Of.Registers);
  count("shared", Of.Shared);
  count("spills", Of.Spills);
  W.EndObject();
}

void Writer::times(const RecordingGain &G) {
  count("recording", G.Recording);
  text("mode", G.Mode == CacheMode::Cold ? "cold" : "warm");
  flag("accepted", G.Judged.Accepted);
  text("message", G.TooShort.empty() ? G.Judged.Message : G.TooShort);
  number("ratio", G.Judged.Ratio);
  number("atLeast", G.Judged.AtLeast);
  number("atMost", G.AtMost.value_or(0));
  number("otherRatio", G.Judged.OtherRatio);
  number("needed", G.Judged.Needed);
  number("error", G.Judged.Error);
  count("steady", G.Judged.Steady);
  count("dropped", G.Judged.Dropped);
  count("processes", G.Processes);
  number("originalUs", G.OriginalUs);
  number("variantUs", G.VariantUs);
  number("floorUs", G.FloorUs);
  text("floorBy", G.FloorBy);
  count("readBytes", G.Floor.ReadBytes);
  count("writtenBytes", G.Floor.WrittenBytes);
  count("floatOperations", G.Floor.Counted.Float);
  count("doubleOperations", G.Floor.Counted.Double);
  count("halfOperations", G.Floor.Counted.Half);
  text("uncounted", G.Floor.Uncounted);
  W.Key("aa");
  W.StartArray();
  for (double Ratio : G.AaRatios)
    W.Double(Ratio);
  W.EndArray();
  texts("warnings", G.Warnings);
}

std::string Writer::write(const GateReport &Found) {
  W.StartObject();
  text("outcome", std::string(outcomeName(Found.Result)));
  text("message", Found.Message);
  flag("accepted", Found.Accepted);
  text("level", evidenceLevel(Found));
  text("weakness", Found.Weakness);
  texts("onlyClasses", Found.OnlyClasses);
  text("device", Found.Device.Key);
  text("tools", Found.Device.Tools);
  text("tolerance", Found.Variant.Tolerance);
  objects("recordings", Found.Recordings, [&](const SearchRecording &R) {
    text("id", R.About.Digest);
    text("class", R.About.Class);
    flag("held", R.Held);
    number("programUs", double(R.About.ProgramNs) / 1e3);
  });
  texts("leftOut", Found.LeftOut);
  objects("checks", Found.Variant.Checks, [&](const CheckResult &C) {
    text("check", std::string(checkName(C.What)));
    flag("made", C.Made);
    text("outcome", std::string(outcomeName(C.Result)));
    text("message", C.Message);
    number("milliseconds", C.Ms);
  });
  W.Key("milliseconds"); // of the verification, by step
  W.StartObject();
  for (const auto &[Step, Ms] : Found.Variant.Ms)
    number(Step.c_str(), Ms);
  W.EndObject();
  binary("original", Found.Original);
  binary("variant", Found.Variant);
  objects("times", Found.Gains, [&](const RecordingGain &G) { times(G); });
  objects("baselines", Found.Baselines, [&](const Baseline &B) {
    text("name", B.Name);
    text("message", B.Message);
    number("ratio", B.Ratio);
    number("atLeast", B.AtLeast);
    number("atMost", B.AtMost);
  });
  W.EndObject();
  return Buffer.GetString();
}

} // namespace

std::string evidenceLevel(const GateReport &Found) {
  return !Found.Accepted          ? "rejected"
         : Found.Weakness.empty() ? "strong"
                                  : "weak";
}

std::string evidenceJson(const GateReport &Found) {
  return Writer().write(Found);
}

std::vector<std::string> evidenceWarnings(const Evidence &Of) {
  std::vector<std::string> Result;
  auto Read = json::parse(Of.Detail, "evidence");
  const json::Value *Times = Read ? json::array(*Read, "times") : nullptr;
  if (!Times)
    return Result;
  for (const json::Value &T : Times->GetArray())
    if (const json::Value *Warnings = json::array(T, "warnings"))
      for (const json::Value &Text : Warnings->GetArray())
        if (Text.IsString() && std::find(Result.begin(), Result.end(),
                                         Text.GetString()) == Result.end())
          Result.push_back(Text.GetString());
  return Result;
}

} // namespace r3
