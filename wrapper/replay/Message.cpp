// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writing with RapidJSON's writer. Numbers that are not finite cannot be JSON:
// they become null, which readers see as the default.
#include "wrapper/replay/Message.h"

#include <cmath>

namespace r3::replay {

/// Length of the UTF-8 sequence that begins at Text, 0 where there is none.
static size_t sequenceLength(std::string_view Text) {
  const auto Lead = static_cast<uint8_t>(Text[0]);
  const size_t Length = Lead < 0x80                   ? 1
                        : Lead >= 0xC2 && Lead < 0xE0 ? 2
                        : Lead >= 0xE1 && Lead < 0xED ? 3
                                                      : 0;
  if (Length > Text.size())
    return 0;
  for (size_t I = 1; I < Length; ++I)
    if ((static_cast<uint8_t>(Text[I]) & 0xC0) != 0x80)
      return 0;
  return Length;
}

static std::string toUtf8(std::string_view Text) {
  std::string Result;
  while (!Text.empty()) {
    const size_t Length = sequenceLength(Text);
    Result += Length ? Text.substr(0, Length) : std::string_view("?");
    Text.remove_prefix(Length ? Length : 1);
  }
  return Result;
}

Message::Message() : Writer(Buffer) { Writer.StartObject(); }

Message::Message(std::string_view Verb) : Message() { text("verb", Verb); }

Message &Message::text(const char *Name, std::string_view Value) {
  Writer.Key(Name);
  Writer.String(toUtf8(Value));
  return *this;
}

Message &Message::number(const char *Name, uint64_t Value) {
  Writer.Key(Name);
  Writer.Uint64(Value);
  return *this;
}

Message &Message::real(const char *Name, double Value) {
  Writer.Key(Name);
  if (std::isfinite(Value))
    Writer.Double(Value);
  else
    Writer.Null();
  return *this;
}

Message &Message::flag(const char *Name, bool Value) {
  Writer.Key(Name);
  Writer.Bool(Value);
  return *this;
}

Message &Message::reals(const char *Name, const std::vector<double> &Values) {
  Writer.Key(Name);
  Writer.StartArray();
  for (double Value : Values)
    Writer.Double(std::isfinite(Value) ? Value : 0);
  Writer.EndArray();
  return *this;
}

Message &Message::texts(const char *Name,
                        const std::vector<std::string> &Values) {
  Writer.Key(Name);
  Writer.StartArray();
  for (const std::string &Value : Values)
    Writer.String(toUtf8(Value));
  Writer.EndArray();
  return *this;
}

Message &Message::numbers(const char *Name,
                          const std::vector<uint64_t> &Values) {
  Writer.Key(Name);
  Writer.StartArray();
  for (uint64_t Value : Values)
    Writer.Uint64(Value);
  Writer.EndArray();
  return *this;
}

Message &
Message::numbersIf(const char *Name,
                   const std::optional<std::vector<uint64_t>> &Values) {
  return Values ? numbers(Name, *Values) : *this;
}

Message &Message::raw(const char *Name, std::string_view Json) {
  Writer.Key(Name);
  Writer.RawValue(Json.data(), Json.size(), rapidjson::kObjectType);
  return *this;
}

Message &Message::raws(const char *Name, const std::vector<std::string> &Json) {
  Writer.Key(Name);
  Writer.StartArray();
  for (const std::string &Each : Json)
    Writer.RawValue(Each.data(), Each.size(), rapidjson::kObjectType);
  Writer.EndArray();
  return *this;
}

Message &Message::times(const std::map<std::string, double> &Ms) {
  Writer.Key("ms");
  Writer.StartObject();
  for (const auto &[Step, Value] : Ms) {
    Writer.Key(Step.c_str());
    Writer.Double(Value);
  }
  Writer.EndObject();
  return *this;
}

Message &Message::outcome(Outcome Value, std::string_view Text) {
  return text("outcome", outcomeName(Value)).text("message", Text);
}

std::string Message::json() {
  Writer.EndObject();
  return {Buffer.GetString(), Buffer.GetSize()};
}

std::string launchJson(const LaunchConfig &L) {
  return Message()
      .numbers("grid", {L.Grid.begin(), L.Grid.end()})
      .numbers("block", {L.Block.begin(), L.Block.end()})
      .number("shared", L.DynamicShared)
      .number("maxShared", L.MaxDynamicShared)
      .json();
}

static void readDim(const json::Value &Object, const char *Name, Dim3 &Into) {
  const json::Value *List = json::array(Object, Name);
  for (unsigned I = 0; List && I < 3 && I < List->Size(); ++I)
    if ((*List)[I].IsUint())
      Into[I] = (*List)[I].GetUint();
}

static uint32_t readWord(const json::Value &Object, const char *Name,
                         uint32_t Default) {
  return static_cast<uint32_t>(json::number(Object, Name, Default));
}

LaunchConfig readLaunch(const json::Value &Object) {
  LaunchConfig L;
  readDim(Object, "grid", L.Grid);
  readDim(Object, "block", L.Block);
  L.DynamicShared = readWord(Object, "shared", 0);
  L.MaxDynamicShared = readWord(Object, "maxShared", 0);
  return L;
}

std::string limitsJson(const LaunchLimits &L) {
  return Message()
      .numbers("grid", {L.Grid.begin(), L.Grid.end()})
      .numbers("block", {L.Block.begin(), L.Block.end()})
      .number("threads", L.Threads)
      .number("shared", L.Shared)
      .json();
}

LaunchLimits readLimits(const json::Value &Object) {
  LaunchLimits L;
  readDim(Object, "grid", L.Grid);
  readDim(Object, "block", L.Block);
  L.Threads = readWord(Object, "threads", L.Threads);
  L.Shared = readWord(Object, "shared", L.Shared);
  return L;
}

std::string identityJson(const DeviceIdentity &D) {
  return Message()
      .text("backend", D.Backend)
      .text("name", D.Name)
      .text("arch", D.Arch)
      .text("key", D.Key)
      .text("driver", D.Driver)
      .text("tools", D.Tools)
      .number("multiprocessors", D.Multiprocessors)
      .number("l2Bytes", D.L2Bytes)
      .number("memoryBytes", D.MemoryBytes)
      .json();
}

DeviceIdentity readIdentity(const json::Value &Object) {
  DeviceIdentity D;
  D.Backend = json::text(Object, "backend", "");
  D.Name = json::text(Object, "name", "");
  D.Arch = json::text(Object, "arch", "");
  D.Key = json::text(Object, "key", "");
  D.Driver = json::text(Object, "driver", "");
  D.Tools = json::text(Object, "tools", "");
  D.Multiprocessors =
      static_cast<uint32_t>(json::number(Object, "multiprocessors", 0));
  D.L2Bytes = json::number(Object, "l2Bytes", 0);
  D.MemoryBytes = json::number(Object, "memoryBytes", 0);
  return D;
}

std::string ratesJson(const RatesReport &Rates) {
  return Message("reply")
      .real("emptyLaunchUs", Rates.EmptyLaunchUs)
      .real("memoryBytesPerUs", Rates.MemoryBytesPerUs)
      .real("l2BytesPerUs", Rates.L2BytesPerUs)
      .real("floatFlopsPerUs", Rates.FloatFlopsPerUs)
      .real("doubleFlopsPerUs", Rates.DoubleFlopsPerUs)
      .real("halfFlopsPerUs", Rates.HalfFlopsPerUs)
      .number("l2Bytes", Rates.L2Bytes)
      .json();
}

RatesReport readRates(const json::Value &Object) {
  RatesReport R;
  R.EmptyLaunchUs = json::real(Object, "emptyLaunchUs", 0);
  R.MemoryBytesPerUs = json::real(Object, "memoryBytesPerUs", 0);
  R.L2BytesPerUs = json::real(Object, "l2BytesPerUs", 0);
  R.FloatFlopsPerUs = json::real(Object, "floatFlopsPerUs", 0);
  R.DoubleFlopsPerUs = json::real(Object, "doubleFlopsPerUs", 0);
  R.HalfFlopsPerUs = json::real(Object, "halfFlopsPerUs", 0);
  R.L2Bytes = json::number(Object, "l2Bytes", 0);
  return R;
}

std::string operationsJson(const Operations &Of) {
  return Message()
      .number("float", Of.Float)
      .number("double", Of.Double)
      .number("half", Of.Half)
      .json();
}

Operations readOperations(const json::Value &Object) {
  return {json::number(Object, "float", 0), json::number(Object, "double", 0),
          json::number(Object, "half", 0)};
}

std::string floorJson(const FloorReport &Floor) {
  return Message()
      .real("coldUs", Floor.ColdUs)
      .real("warmUs", Floor.WarmUs)
      .text("coldBy", Floor.ColdBy)
      .text("warmBy", Floor.WarmBy)
      .number("readBytes", Floor.ReadBytes)
      .number("writtenBytes", Floor.WrittenBytes)
      .raw("operations", operationsJson(Floor.Counted))
      .text("uncounted", Floor.Uncounted)
      .json();
}

std::string errorReply(const Error &E) {
  return Message("reply")
      .text("error", E.message())
      .number("code", static_cast<uint64_t>(E.code()))
      .json();
}

Error replyError(const json::Value &Reply) {
  const std::string Text = json::text(Reply, "error", "");
  if (Text.empty())
    return {};
  const uint64_t Code =
      json::number(Reply, "code", static_cast<uint64_t>(ErrorCode::Failed));
  if (!Code || Code > static_cast<uint64_t>(ErrorCode::Interrupted))
    return {ErrorCode::Failed, Text};
  return {static_cast<ErrorCode>(Code), Text};
}

std::vector<std::string> readTexts(const json::Value &Object,
                                   const char *Name) {
  std::vector<std::string> Result;
  if (const json::Value *List = json::array(Object, Name))
    for (const json::Value &Item : List->GetArray())
      Result.emplace_back(Item.IsString() ? Item.GetString() : "");
  return Result;
}

std::optional<std::vector<uint64_t>> readNumbers(const json::Value &Object,
                                                 const char *Name) {
  const json::Value *List = json::array(Object, Name);
  if (!List)
    return std::nullopt;
  std::vector<uint64_t> Result;
  for (const json::Value &Item : List->GetArray())
    Result.push_back(Item.IsUint64() ? Item.GetUint64() : 0);
  return Result;
}

std::vector<double> readReals(const json::Value &Object, const char *Name) {
  std::vector<double> Result;
  if (const json::Value *List = json::array(Object, Name))
    for (const json::Value &Item : List->GetArray())
      Result.push_back(Item.IsNumber() ? Item.GetDouble() : 0);
  return Result;
}

std::map<std::string, double> readTimes(const json::Value &Reply) {
  std::map<std::string, double> Result;
  if (const json::Value *Ms = json::object(Reply, "ms"))
    for (const auto &Member : Ms->GetObject())
      if (Member.value.IsNumber())
        Result[Member.name.GetString()] = Member.value.GetDouble();
  return Result;
}

} // namespace r3::replay
