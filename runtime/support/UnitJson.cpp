// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The descriptor of a unit as JSON. Members that are missing have their
// default; members of another type are errors, and unknown ones are left for
// later versions.
#include "runtime/support/Json.h"
#include "runtime/support/Unit.h"

#include <charconv>

namespace r3 {

//===-- Writing -----------------------------------------------------------===//

static void put(json::Writer &Out, const char *Name, const std::string &Text) {
  Out.Key(Name);
  Out.String(Text);
}

static void put(json::Writer &Out, const char *Name, uint64_t Number) {
  Out.Key(Name);
  Out.Uint64(Number);
}

static void put(json::Writer &Out, const char *Name, ValueType Type) {
  std::string_view Text = valueTypeName(Type);
  Out.Key(Name);
  Out.String(Text.data(), rapidjson::SizeType(Text.size()));
}

static void put(json::Writer &Out, const char *Name,
                const std::vector<std::string> &List) {
  Out.Key(Name);
  Out.StartArray();
  for (const std::string &Text : List)
    Out.String(Text);
  Out.EndArray();
}

static void putParameters(json::Writer &Out, const UnitKernel &Kernel) {
  Out.Key("parameters");
  Out.StartArray();
  for (const UnitParameter &Parameter : Kernel.Parameters) {
    Out.StartArray();
    Out.Uint(Parameter.Offset);
    Out.Uint(Parameter.Size);
    Out.EndArray();
  }
  Out.EndArray();
}

static void putFields(json::Writer &Out, const UnitKernel &Kernel) {
  Out.Key("fields");
  Out.StartArray();
  for (const ArgumentField &Field : Kernel.Fields) {
    Out.StartObject();
    put(Out, "offset", Field.Offset);
    put(Out, "size", Field.Size);
    put(Out, "type", Field.Type);
    put(Out, "name", Field.Name);
    Out.EndObject();
  }
  Out.EndArray();
  Out.Key("written");
  Out.StartObject();
  for (const auto &[Field, Type] : Kernel.Written)
    put(Out, std::to_string(Field).c_str(), Type);
  Out.EndObject();
}

static void putCode(json::Writer &Out, const UnitKernel &Kernel) {
  Out.Key("code");
  Out.StartObject();
  for (const auto &[Arch, Code] : Kernel.Code) {
    Out.Key(Arch.c_str());
    Out.StartObject();
    put(Out, "key", Code.Key);
    put(Out, "fingerprint", Code.Fingerprint);
    put(Out, "reason", Code.Reason);
    put(Out, "detail", Code.Detail);
    put(Out, "globals", Code.Globals);
    Out.EndObject();
  }
  Out.EndObject();
}

static void putKernel(json::Writer &Out, const UnitKernel &Kernel) {
  Out.StartObject();
  put(Out, "name", Kernel.Name);
  put(Out, "display", Kernel.Display);
  put(Out, "home", Kernel.Home);
  put(Out, "line", Kernel.Line);
  put(Out, "argumentBytes", Kernel.ArgumentBytes);
  putParameters(Out, Kernel);
  putFields(Out, Kernel);
  putCode(Out, Kernel);
  Out.EndObject();
}

static void putGlobal(json::Writer &Out, const UnitGlobal &Global) {
  Out.StartObject();
  put(Out, "name", Global.Name);
  put(Out, "display", Global.Display);
  put(Out, "size", Global.Size);
  Out.Key("constant");
  Out.Bool(Global.Constant);
  Out.Key("hostVisible");
  Out.Bool(Global.HostVisible);
  put(Out, "element", Global.Element);
  Out.EndObject();
}

static void putModule(json::Writer &Out, const UnitModule &Module) {
  Out.StartObject();
  put(Out, "arch", Module.Arch);
  put(Out, "content", Module.Content.hex());
  Out.EndObject();
}

template <typename T>
static void putList(json::Writer &Out, const char *Name,
                    const std::vector<T> &List,
                    void (*Put)(json::Writer &, const T &)) {
  Out.Key(Name);
  Out.StartArray();
  for (const T &Item : List)
    Put(Out, Item);
  Out.EndArray();
}

std::string Unit::json() const {
  rapidjson::StringBuffer Buffer;
  json::Writer Out(Buffer);
  Out.StartObject();
  put(Out, "source", Source);
  put(Out, "level", Level);
  put(Out, "compiler", Compiler);
  put(Out, "plugin", Plugin);
  put(Out, "profileHeader", ProfileHeader);
  Out.Key("commands");
  Out.StartObject();
  for (const auto &[Arch, Command] : Commands)
    put(Out, Arch.c_str(), Command);
  Out.EndObject();
  putList(Out, "kernels", Kernels, putKernel);
  putList(Out, "globals", Globals, putGlobal);
  putList(Out, "modules", Modules, putModule);
  Out.EndObject();
  return {Buffer.GetString(), Buffer.GetSize()};
}

//===-- Reading -----------------------------------------------------------===//

namespace {

/// Takes members of one object; the first error sticks.
class Taker {
public:
  Taker(const json::Value &Object, Error &Failure)
      : Object(Object), Failure(Failure) {
    if (!Object.IsObject())
      reject("an object expected");
  }

  bool failed() const { return static_cast<bool>(Failure); }
  void reject(const std::string &Why) {
    if (!Failure)
      Failure = Error(ErrorCode::Damaged, Why);
  }

  void take(const char *Name, std::string &Into) {
    if (const json::Value *Found = find(Name))
      text(*Found, Name, Into);
  }
  void take(const char *Name, uint64_t &Into, uint64_t Limit) {
    const json::Value *Found = find(Name);
    if (!Found)
      return;
    if (!Found->IsUint64() || Found->GetUint64() > Limit)
      reject(format("member '%s' is no number up to %llu", Name,
                    (unsigned long long)Limit));
    else
      Into = Found->GetUint64();
  }
  void take(const char *Name, uint32_t &Into) {
    uint64_t Wide = Into;
    take(Name, Wide, UINT32_MAX);
    Into = uint32_t(Wide);
  }
  void take(const char *Name, bool &Into) {
    const json::Value *Found = find(Name);
    if (Found && !Found->IsBool())
      reject(format("member '%s' is neither true nor false", Name));
    else if (Found)
      Into = Found->GetBool();
  }
  void take(const char *Name, ValueType &Into) {
    std::string Text(valueTypeName(Into));
    take(Name, Text);
    type(Text, Into);
  }
  void take(const char *Name, std::vector<std::string> &Into) {
    each(Name, [&](const json::Value &Item) {
      text(Item, Name, Into.emplace_back());
    });
  }
  void take(const char *Name, Digest &Into) {
    std::string Text;
    take(Name, Text);
    if (failed())
      return;
    if (Expected<Digest> Parsed = Digest::parse(Text))
      Into = *Parsed;
    else
      reject(Parsed.error().message());
  }

  /// Calls Take for each item of an array.
  template <typename Function> void each(const char *Name, Function Take) {
    const json::Value *Found = find(Name);
    if (Found && !Found->IsArray())
      reject(format("member '%s' is not an array", Name));
    else if (Found)
      for (const json::Value &Item : Found->GetArray())
        if (!failed())
          Take(Item);
  }
  /// Calls Take(name, value) for each member of an object.
  template <typename Function> void members(const char *Name, Function Take) {
    const json::Value *Found = find(Name);
    if (Found && !Found->IsObject())
      reject(format("member '%s' is not an object", Name));
    else if (Found)
      for (const auto &Entry : Found->GetObject())
        if (!failed())
          Take(
              std::string(Entry.name.GetString(), Entry.name.GetStringLength()),
              Entry.value);
  }

  void text(const json::Value &Value, const char *Name, std::string &Into) {
    if (Value.IsString())
      Into.assign(Value.GetString(), Value.GetStringLength());
    else
      reject(format("member '%s' is not a string", Name));
  }
  void type(const std::string &Text, ValueType &Into) {
    if (Expected<ValueType> Parsed = parseValueType(Text))
      Into = *Parsed;
    else
      reject(Parsed.error().message());
  }

private:
  const json::Value *find(const char *Name) {
    if (failed())
      return nullptr;
    auto Found = Object.FindMember(Name);
    return Found == Object.MemberEnd() ? nullptr : &Found->value;
  }
  const json::Value &Object;
  Error &Failure;
};

} // namespace

static ArgumentField takeField(const json::Value &Value, Error &Failure) {
  ArgumentField Field;
  Taker In(Value, Failure);
  In.take("offset", Field.Offset);
  In.take("size", Field.Size);
  In.take("type", Field.Type);
  In.take("name", Field.Name);
  return Field;
}

static KernelCode takeCode(const json::Value &Value, Error &Failure) {
  KernelCode Code;
  Taker In(Value, Failure);
  In.take("key", Code.Key);
  In.take("fingerprint", Code.Fingerprint);
  In.take("reason", Code.Reason);
  In.take("detail", Code.Detail);
  In.take("globals", Code.Globals);
  return Code;
}

static void takeWritten(Taker &In, UnitKernel &Kernel) {
  In.members("written", [&](const std::string &Name, const json::Value &Value) {
    uint32_t Field = 0;
    const char *End = Name.data() + Name.size();
    auto Parsed = std::from_chars(Name.data(), End, Field);
    if (Parsed.ec != std::errc() || Parsed.ptr != End ||
        Field >= Kernel.Fields.size())
      In.reject("written: '" + Name + "' is no field");
    std::string Text;
    In.text(Value, "written", Text);
    if (!In.failed())
      In.type(Text, Kernel.Written[Field]);
  });
}

static void takeParameters(Taker &In, UnitKernel &Kernel) {
  In.each("parameters", [&](const json::Value &Item) {
    if (!Item.IsArray() || Item.Size() != 2 || !Item[0].IsUint() ||
        !Item[1].IsUint())
      return In.reject("a parameter is not [offset, size]");
    UnitParameter Parameter{Item[0].GetUint(), Item[1].GetUint()};
    if (Parameter.Offset > Kernel.ArgumentBytes ||
        Parameter.Size > Kernel.ArgumentBytes - Parameter.Offset)
      return In.reject("a parameter lies outside the arguments");
    Kernel.Parameters.push_back(Parameter);
  });
}

static UnitKernel takeKernel(const json::Value &Value, Error &Failure) {
  UnitKernel Kernel;
  Taker In(Value, Failure);
  In.take("name", Kernel.Name);
  In.take("display", Kernel.Display);
  In.take("home", Kernel.Home);
  In.take("line", Kernel.Line);
  In.take("argumentBytes", Kernel.ArgumentBytes);
  takeParameters(In, Kernel);
  In.each("fields", [&](const json::Value &Item) {
    ArgumentField Field = takeField(Item, Failure);
    if (Field.Offset > Kernel.ArgumentBytes ||
        Field.Size > Kernel.ArgumentBytes - Field.Offset)
      In.reject("field '" + Field.Name + "' lies outside the arguments");
    Kernel.Fields.push_back(std::move(Field));
  });
  takeWritten(In, Kernel);
  In.members("code", [&](const std::string &Arch, const json::Value &Item) {
    Kernel.Code[Arch] = takeCode(Item, Failure);
  });
  return Kernel;
}

static UnitGlobal takeGlobal(const json::Value &Value, Error &Failure) {
  UnitGlobal Global;
  Taker In(Value, Failure);
  In.take("name", Global.Name);
  In.take("display", Global.Display);
  In.take("size", Global.Size, UINT64_MAX);
  In.take("constant", Global.Constant);
  In.take("hostVisible", Global.HostVisible);
  In.take("element", Global.Element);
  return Global;
}

static UnitModule takeModule(const json::Value &Value, Error &Failure) {
  UnitModule Module;
  Taker In(Value, Failure);
  In.take("arch", Module.Arch);
  In.take("content", Module.Content);
  return Module;
}

Expected<Unit> Unit::parseJson(std::string_view Json) {
  Expected<json::Document> Document = json::parse(Json, "unit");
  if (!Document)
    return Document.error();
  Unit Result;
  Error Failure;
  Taker In(*Document, Failure);
  In.take("source", Result.Source);
  In.take("level", Result.Level);
  In.take("compiler", Result.Compiler);
  In.take("plugin", Result.Plugin);
  In.take("profileHeader", Result.ProfileHeader);
  In.members("commands", [&](const std::string &Arch, const json::Value &Item) {
    std::vector<std::string> &Command = Result.Commands[Arch];
    if (!Item.IsArray())
      return In.reject("a command is not an array");
    for (const json::Value &Word : Item.GetArray())
      In.text(Word, "commands", Command.emplace_back());
  });
  In.each("kernels", [&](const json::Value &Item) {
    Result.Kernels.push_back(takeKernel(Item, Failure));
  });
  In.each("globals", [&](const json::Value &Item) {
    Result.Globals.push_back(takeGlobal(Item, Failure));
  });
  In.each("modules", [&](const json::Value &Item) {
    Result.Modules.push_back(takeModule(Item, Failure));
  });
  if (Failure)
    return Failure.in("unit");
  return Result;
}

} // namespace r3
