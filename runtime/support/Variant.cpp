// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variants as JSON. Reading is a table of members, each with the function that
// checks and takes its value; what the table does not name is refused.
#include "runtime/support/Variant.h"

#include "runtime/support/Expression.h"
#include "runtime/support/Json.h"

#include <algorithm>
#include <set>

namespace r3 {

bool Variant::isOriginal() const { return canonicalJson() == "{}"; }

static void writeMember(json::Writer &Out, const char *Name,
                        const std::string &Value) {
  if (Value.empty())
    return;
  Out.Key(Name);
  Out.String(Value);
}

static void writeCodegen(json::Writer &Out, const Variant &V) {
  if (!V.MaxRegisters && V.PtxasLevel.empty())
    return;
  Out.Key("codegen");
  Out.StartObject();
  if (V.MaxRegisters) {
    Out.Key("maxnreg");
    Out.Uint(V.MaxRegisters);
  }
  writeMember(Out, "ptxas", V.PtxasLevel);
  Out.EndObject();
}

static void writeLaunch(json::Writer &Out, const Variant &V) {
  if (V.Launch.empty())
    return;
  Out.Key("launch");
  Out.StartArray();
  for (const LaunchRule &Rule : V.Launch) {
    Out.StartObject();
    writeMember(Out, "target", Rule.Target);
    writeMember(Out, "value", Rule.Value);
    Out.EndObject();
  }
  Out.EndArray();
}

static void writeSpecialise(json::Writer &Out, const Variant &V) {
  if (V.Specialise.empty())
    return;
  Out.Key("specialise");
  Out.StartObject();
  for (const auto &[Name, Value] : V.Specialise) {
    Out.Key(Name.data(), rapidjson::SizeType(Name.size()));
    Out.Int64(Value);
  }
  Out.EndObject();
}

std::string Variant::canonicalJson() const {
  rapidjson::StringBuffer Buffer;
  json::Writer Out(Buffer);
  Out.StartObject();
  writeMember(Out, "patch", Patch);
  writeMember(Out, "ptx", Ptx);
  writeMember(Out, "pipeline", Pipeline);
  writeMember(Out, "level", Level);
  writeCodegen(Out, *this);
  writeLaunch(Out, *this);
  writeSpecialise(Out, *this);
  if (!Guards.empty()) {
    Out.Key("guards");
    Out.StartArray();
    for (const std::string &Text : Guards)
      Out.String(Text);
    Out.EndArray();
  }
  Out.EndObject();
  return {Buffer.GetString(), Buffer.GetSize()};
}

Digest Variant::id() const { return contentDigest(canonicalJson()); }

//===-- Reading -----------------------------------------------------------===//

static Error wrongType(const char *Wanted) {
  return fail(ErrorCode::Damaged, "%s expected", Wanted);
}

static Error takeText(const json::Value &Value, std::string &Into) {
  if (!Value.IsString())
    return wrongType("a string");
  Into.assign(Value.GetString(), Value.GetStringLength());
  if (Into.find('\0') != std::string::npos)
    return fail(ErrorCode::Damaged, "zero byte in a string");
  return Error::success();
}

static Error takeLevel(const json::Value &Value, std::string &Into) {
  if (Error E = takeText(Value, Into))
    return E;
  for (const char *Level : {"", "O0", "O1", "O2", "O3"})
    if (Into == Level)
      return Error::success();
  return fail(ErrorCode::Damaged, "'%s' is not one of O0, O1, O2, O3",
              Into.c_str());
}

static Error takeRegisters(const json::Value &Value, Variant &Into) {
  // 255 is what an instruction can name on every architecture.
  if (!Value.IsUint() || Value.GetUint() > 255)
    return wrongType("a number up to 255");
  Into.MaxRegisters = Value.GetUint();
  return Error::success();
}

namespace {
/// A member of an object and who takes it.
struct Member {
  const char *Name;
  Error (*Take)(const json::Value &Value, Variant &Into);
};
} // namespace

static Error takeMembers(const json::Value &Object,
                         std::span<const Member> Members, Variant &Into) {
  if (!Object.IsObject())
    return wrongType("an object");
  std::set<std::string> Seen;
  for (const auto &Entry : Object.GetObject()) {
    std::string Name(Entry.name.GetString(), Entry.name.GetStringLength());
    if (!Seen.insert(Name).second)
      return fail(ErrorCode::Damaged, "member '%s' occurs twice", Name.c_str());
    auto Found = std::find_if(Members.begin(), Members.end(),
                              [&](const Member &M) { return Name == M.Name; });
    if (Found == Members.end())
      return fail(ErrorCode::Damaged, "unknown member '%s'", Name.c_str());
    if (Error E = Found->Take(Entry.value, Into))
      return E.in(Name);
  }
  return Error::success();
}

static Error takeCodegen(const json::Value &Value, Variant &Into) {
  static constexpr Member Members[] = {
      {"maxnreg", takeRegisters},
      {"ptxas", [](const json::Value &Value, Variant &Into) {
         return takeLevel(Value, Into.PtxasLevel);
       }}};
  return takeMembers(Value, Members, Into);
}

static Error takeRule(const json::Value &Value, LaunchRule &Rule) {
  if (!Value.IsObject() || Value.MemberCount() != 2)
    return wrongType("{target, value}");
  for (const auto &Entry : Value.GetObject()) {
    std::string Name(Entry.name.GetString(), Entry.name.GetStringLength());
    if (Name != "target" && Name != "value")
      return fail(ErrorCode::Damaged, "unknown member '%s'", Name.c_str());
    if (Error E =
            takeText(Entry.value, Name == "target" ? Rule.Target : Rule.Value))
      return E.in(Name);
  }
  for (const char *Target : {"grid.x", "grid.y", "grid.z", "block.x", "block.y",
                             "block.z", "shared"})
    if (Rule.Target == Target)
      return checkExpression(Rule.Value);
  return fail(ErrorCode::Damaged, "'%s' is no target of a launch",
              Rule.Target.c_str());
}

static Error takeLaunch(const json::Value &Value, Variant &Into) {
  if (!Value.IsArray())
    return wrongType("an array");
  std::set<std::string> Targets;
  for (const json::Value &Item : Value.GetArray()) {
    LaunchRule Rule;
    if (Error E = takeRule(Item, Rule))
      return E;
    if (!Targets.insert(Rule.Target).second)
      return fail(ErrorCode::Damaged, "target '%s' occurs twice",
                  Rule.Target.c_str());
    Into.Launch.push_back(std::move(Rule));
  }
  return Error::success();
}

static Error takeSpecialise(const json::Value &Value, Variant &Into) {
  if (!Value.IsObject())
    return wrongType("an object");
  for (const auto &Entry : Value.GetObject()) {
    std::string Name(Entry.name.GetString(), Entry.name.GetStringLength());
    if (!Entry.value.IsInt64())
      return wrongType("an integer").in(Name);
    if (!Into.Specialise.emplace(Name, Entry.value.GetInt64()).second)
      return fail(ErrorCode::Damaged, "scalar '%s' occurs twice", Name.c_str());
  }
  return Error::success();
}

static Error takeGuards(const json::Value &Value, Variant &Into) {
  if (!Value.IsArray())
    return wrongType("an array");
  for (const json::Value &Item : Value.GetArray()) {
    std::string Text;
    if (Error E = takeText(Item, Text))
      return E;
    Expected<Guard> Parsed = Guard::parse(Text);
    if (!Parsed)
      return Parsed.error();
    Into.Guards.push_back(Parsed->text());
  }
  return Error::success();
}

Expected<Variant> Variant::parse(std::string_view Json) {
  static constexpr Member Members[] = {
      {"patch", [](const json::Value &Value,
                   Variant &Into) { return takeText(Value, Into.Patch); }},
      {"ptx", [](const json::Value &Value,
                 Variant &Into) { return takeText(Value, Into.Ptx); }},
      {"pipeline",
       [](const json::Value &Value, Variant &Into) {
         return takeText(Value, Into.Pipeline);
       }},
      {"level", [](const json::Value &Value,
                   Variant &Into) { return takeLevel(Value, Into.Level); }},
      {"codegen", takeCodegen},
      {"launch", takeLaunch},
      {"specialise", takeSpecialise},
      {"guards", takeGuards}};
  Expected<json::Document> Document = json::parse(Json, "variant");
  if (!Document)
    return Document.error();
  Variant Result;
  if (Error E = takeMembers(*Document, Members, Result))
    return E.in("variant");
  if (!Result.Ptx.empty() &&
      !(Result.Patch.empty() && Result.Pipeline.empty() &&
        Result.Level.empty() && !Result.MaxRegisters &&
        Result.Specialise.empty()))
    return fail(ErrorCode::Damaged,
                "variant: PTX is not compiled again: there is no patch, "
                "pipeline, level, maxnreg or specialise beside it");
  return Result;
}

} // namespace r3
