// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variants as JSON. Reading is a table of members, each with the function that
// checks and takes its value; what the table does not name is refused.
#include "runtime/support/Variant.h"

#include "runtime/support/BlockShape.h"
#include "runtime/support/Expression.h"
#include "runtime/support/Json.h"
#include "runtime/support/LlvmOptions.h"

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

static void writeMember(json::Writer &Out, const char *Name, uint32_t Value) {
  if (!Value)
    return;
  Out.Key(Name);
  Out.Uint(Value);
}

static void writeCodegen(json::Writer &Out, const Variant &V) {
  if (!V.MaxRegisters && V.PtxasLevel.empty() && !V.MaxThreads &&
      !V.MinBlocks && V.Loads.empty() && V.Stores.empty() && V.Arch.empty())
    return;
  Out.Key("codegen");
  Out.StartObject();
  writeMember(Out, "maxnreg", V.MaxRegisters);
  writeMember(Out, "ptxas", V.PtxasLevel);
  writeMember(Out, "maxthreads", V.MaxThreads);
  writeMember(Out, "minblocks", V.MinBlocks);
  writeMember(Out, "loads", V.Loads);
  writeMember(Out, "stores", V.Stores);
  writeMember(Out, "arch", V.Arch);
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

static void writeNumbers(json::Writer &Out, const char *Member,
                         const std::map<std::string, int64_t> &Numbers) {
  if (Numbers.empty())
    return;
  Out.Key(Member);
  Out.StartObject();
  for (const auto &[Name, Value] : Numbers) {
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
  writeNumbers(Out, "options", Options);
  writeCodegen(Out, *this);
  writeMember(Out, "remap", Remap);
  writeLaunch(Out, *this);
  writeNumbers(Out, "specialise", Specialise);
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

bool Variant::needsCompiler() const {
  return !Patch.empty() || !Pipeline.empty() || !Level.empty() ||
         !Options.empty() || MaxRegisters || MaxThreads || MinBlocks ||
         !Loads.empty() || !Stores.empty() || !Arch.empty() || !Remap.empty() ||
         !Specialise.empty();
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

static Error takeNumber(const json::Value &Value, unsigned Most,
                        uint32_t &Into) {
  if (!Value.IsUint() || Value.GetUint() > Most)
    return fail(ErrorCode::Damaged, "a number up to %u expected", Most);
  Into = Value.GetUint();
  return Error::success();
}

static Error takeOneOf(const json::Value &Value,
                       std::initializer_list<const char *> Words,
                       std::string &Into) {
  if (Error E = takeText(Value, Into))
    return E;
  std::string Known;
  for (const char *Word : Words) {
    if (Into == Word)
      return Error::success();
    Known += (Known.empty() ? "" : ", ") + std::string(Word);
  }
  return fail(ErrorCode::Damaged, "'%s' is not one of %s", Into.c_str(),
              Known.c_str());
}

/// "sm_90", "sm_90a": digits, and a letter for what only this one has.
static Error takeArch(const json::Value &Value, Variant &Into) {
  if (Error E = takeText(Value, Into.Arch))
    return E;
  std::string_view Text = Into.Arch;
  if (Text.starts_with("sm_")) {
    Text.remove_prefix(3);
    size_t Digits = std::min(Text.find_first_not_of("0123456789"), Text.size());
    std::string_view Rest = Text.substr(Digits);
    if (Digits && Digits <= 4 && (Rest.empty() || Rest == "a" || Rest == "f"))
      return Error::success();
  }
  return fail(ErrorCode::Damaged, "'%s' is no architecture", Into.Arch.c_str());
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
  // 255 is what an instruction can name on every architecture, 1024 the
  // threads of a block and 32 the blocks of a multiprocessor at a time.
  static constexpr Member Members[] = {
      {"maxnreg",
       [](const json::Value &Value, Variant &Into) {
         return takeNumber(Value, 255, Into.MaxRegisters);
       }},
      {"ptxas",
       [](const json::Value &Value, Variant &Into) {
         return takeLevel(Value, Into.PtxasLevel);
       }},
      {"maxthreads",
       [](const json::Value &Value, Variant &Into) {
         return takeNumber(Value, 1024, Into.MaxThreads);
       }},
      {"minblocks",
       [](const json::Value &Value, Variant &Into) {
         return takeNumber(Value, 32, Into.MinBlocks);
       }},
      {"loads",
       [](const json::Value &Value, Variant &Into) {
         return takeOneOf(Value, {"ca", "cg", "cs"}, Into.Loads);
       }},
      {"stores",
       [](const json::Value &Value, Variant &Into) {
         return takeOneOf(Value, {"wb", "cg", "cs", "wt"}, Into.Stores);
       }},
      {"arch", takeArch}};
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

static Error takeNumbers(const json::Value &Value,
                         std::map<std::string, int64_t> &Into) {
  if (!Value.IsObject())
    return wrongType("an object");
  for (const auto &Entry : Value.GetObject()) {
    std::string Name(Entry.name.GetString(), Entry.name.GetStringLength());
    if (!Entry.value.IsInt64())
      return wrongType("an integer").in(Name);
    if (!Into.emplace(Name, Entry.value.GetInt64()).second)
      return fail(ErrorCode::Damaged, "'%s' occurs twice", Name.c_str());
  }
  return Error::success();
}

static Error takeOptions(const json::Value &Value, Variant &Into) {
  if (Error E = takeNumbers(Value, Into.Options))
    return E;
  for (const auto &[Name, Number] : Into.Options)
    if (Error E = checkLlvmOption(Name, Number))
      return E;
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
      {"options", takeOptions},
      {"codegen", takeCodegen},
      {"remap", [](const json::Value &Value,
                   Variant &Into) { return takeText(Value, Into.Remap); }},
      {"launch", takeLaunch},
      {"specialise",
       [](const json::Value &Value, Variant &Into) {
         return takeNumbers(Value, Into.Specialise);
       }},
      {"guards", takeGuards}};
  Expected<json::Document> Document = json::parse(Json, "variant");
  if (!Document)
    return Document.error();
  Variant Result;
  if (Error E = takeMembers(*Document, Members, Result))
    return E.in("variant");
  if (!Result.Ptx.empty() && Result.needsCompiler())
    return fail(ErrorCode::Damaged,
                "variant: PTX is not compiled again: only ptxas, launch and "
                "guards can be beside it");
  if (Error E = checkRemap(Result))
    return E.in("variant");
  return Result;
}

} // namespace r3
