// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The committed text. It is written by hand, since order and layout are part
// of the format, and read with toml++, built without exceptions: this code
// runs inside clang.
#include "runtime/support/Profile.h"

#include "runtime/support/Digest.h"
#include "runtime/support/Expression.h"
#include "runtime/support/Toml.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>

namespace r3 {

static bool isNameCharacter(char C) {
  return (C >= 'a' && C <= 'z') || (C >= 'A' && C <= 'Z') ||
         (C >= '0' && C <= '9') || C == '_' || C == '-';
}

std::string KernelProfile::folder() const {
  std::string Short =
      Name.substr(0, std::min(Name.find_first_of("<("), size_t(60)));
  for (char &C : Short)
    if (!isNameCharacter(C))
      C = '_';
  return (Short.empty() ? "kernel" : Short) + "-" + Key.substr(0, 8);
}

//===-- Writing -----------------------------------------------------------===//

/// Takes one character of UTF-8 from the front; U+FFFD for what is none.
static uint32_t takeCharacter(std::string_view &Text) {
  auto Byte = [&](size_t I) { return uint8_t(Text[I]); };
  static constexpr uint32_t Smallest[] = {0, 0x80, 0x800, 0x10000};
  size_t More = Byte(0) < 0x80                      ? 0
                : Byte(0) >= 0xc2 && Byte(0) < 0xe0 ? 1
                : Byte(0) >= 0xe0 && Byte(0) < 0xf0 ? 2
                : Byte(0) >= 0xf0 && Byte(0) < 0xf5 ? 3
                                                    : 4; // begins none
  uint32_t Value = More ? Byte(0) & (0x3fu >> More) : Byte(0);
  bool Right = More < 4 && More < Text.size();
  for (size_t I = 1; Right && I <= More; ++I) {
    Right = (Byte(I) & 0xc0) == 0x80;
    Value = Value << 6 | (Byte(I) & 0x3fu);
  }
  Right = Right && Value >= Smallest[More] && Value <= 0x10ffff &&
          (Value < 0xd800 || Value > 0xdfff);
  Text.remove_prefix(Right ? More + 1 : 1);
  return Right ? Value : 0xfffd;
}

/// A basic string of TOML, in ASCII.
static std::string quote(std::string_view Text) {
  std::string Result = "\"";
  while (!Text.empty()) {
    uint32_t C = takeCharacter(Text);
    if (C == '"' || C == '\\')
      (Result += '\\') += char(C);
    else if (C == '\n')
      Result += "\\n";
    else if (C == '\t')
      Result += "\\t";
    else if (C >= 0x20 && C < 0x7f)
      Result += char(C);
    else
      Result += C < 0x10000 ? format("\\u%04x", C) : format("\\U%08x", C);
  }
  return Result + "\"";
}

static std::string quoteList(const std::vector<std::string> &List) {
  std::string Result = "[";
  for (const std::string &Text : List)
    Result += (Result.size() > 1 ? ", " : "") + quote(Text);
  return Result + "]";
}

/// The shortest text that reads back as the same number, with a point.
static std::string number(double Value) {
  char Buffer[64];
  auto Done = std::to_chars(Buffer, Buffer + sizeof(Buffer), Value);
  std::string Text(Buffer, Done.ptr);
  if (Text.find_first_of(".en") == std::string::npos)
    Text += ".0";
  return Text;
}

static void putText(std::string &Out, const char *Name,
                    const std::string &Value) {
  if (!Value.empty())
    Out += std::string(Name) + " = " + quote(Value) + "\n";
}

static void putLaunch(std::string &Out, const Variant &Change) {
  if (Change.Launch.empty())
    return;
  Out += "launch = [";
  for (const LaunchRule &Rule : Change.Launch)
    Out += (&Rule == &Change.Launch.front() ? "{ target = " : ", { target = ") +
           quote(Rule.Target) + ", value = " + quote(Rule.Value) + " }";
  Out += "]\n";
}

static void putNumbers(std::string &Out, const std::string &Member,
                       const std::map<std::string, int64_t> &Numbers) {
  if (Numbers.empty())
    return;
  std::string Members;
  for (const auto &[Name, Value] : Numbers)
    Members += (Members.empty() ? " " : ", ") + quote(Name) + " = " +
               std::to_string(Value);
  Out += Member + " = {" + Members + " }\n";
}

static void putEntry(std::string &Out, const ProfileEntry &Entry) {
  const Variant &Change = Entry.Change;
  Out += "\n[[entry]]\n";
  Out += "device = " + quote(Entry.Device) + "\n";
  Out += "class = " + quote(Entry.Class) + "\n";
  putText(Out, "pipeline", Change.Pipeline);
  putText(Out, "level", Change.Level);
  putNumbers(Out, "options", Change.Options);
  if (Change.MaxRegisters)
    Out += format("maxnreg = %u\n", Change.MaxRegisters);
  putText(Out, "ptxas", Change.PtxasLevel);
  if (Change.MaxThreads)
    Out += format("maxthreads = %u\n", Change.MaxThreads);
  if (Change.MinBlocks)
    Out += format("minblocks = %u\n", Change.MinBlocks);
  putText(Out, "loads", Change.Loads);
  putText(Out, "stores", Change.Stores);
  putText(Out, "arch", Change.Arch);
  putText(Out, "remap", Change.Remap);
  putLaunch(Out, Change);
  putNumbers(Out, "specialise", Change.Specialise);
  if (!Change.Guards.empty())
    Out += "guards = " + quoteList(Change.Guards) + "\n";
  Out += "gain = " + number(Entry.Gain) + "\n";
  Out += "low = " + number(Entry.Low) + "\n";
  Out += "high = " + number(Entry.High) + "\n";
  putText(Out, "evidence", Entry.Evidence);
  putText(Out, "origin", Entry.Origin);
  Out += "variant = " + quote(Change.id().hex()) + "\n";
  putText(Out, "versions", Entry.Versions);
  putText(Out, "code", Entry.Code);
}

std::string KernelProfile::toml() const {
  std::string Out = "format = 1\n";
  Out += "key = " + quote(Key) + "\n";
  Out += "name = " + quote(Name) + "\n";
  Out += "home = " + quote(Home) + "\n";
  Out += "units = " + quoteList(Units) + "\n";
  if (!Fingerprints.empty())
    Out += "\n[fingerprint]\n";
  for (const auto &[Arch, Fingerprint] : Fingerprints)
    Out += quote(Arch) + " = " + quote(Fingerprint) + "\n";
  std::vector<ProfileEntry> Sorted = Entries;
  std::stable_sort(Sorted.begin(), Sorted.end(),
                   [](const ProfileEntry &A, const ProfileEntry &B) {
                     return std::tie(A.Device, A.Class) <
                            std::tie(B.Device, B.Class);
                   });
  for (const ProfileEntry &Entry : Sorted)
    putEntry(Out, Entry);
  return Out;
}

//===-- Reading -----------------------------------------------------------===//

namespace {

/// Takes values of a table; the first error sticks, with its line.
class Taker {
public:
  Taker(const toml::table &Table, Error &Failure)
      : Table(Table), Failure(Failure) {}

  bool failed() const { return static_cast<bool>(Failure); }
  void reject(const toml::node &Where, const std::string &Why) {
    if (!Failure)
      Failure = fail(ErrorCode::Damaged, "line %u: %s",
                     unsigned(Where.source().begin.line), Why.c_str());
  }

  /// Everything that is not in Names is a mistake of somebody's.
  void allow(std::initializer_list<std::string_view> Names) {
    for (const auto &[Key, Value] : Table)
      if (std::find(Names.begin(), Names.end(), Key.str()) == Names.end())
        reject(Value, "unknown key '" + std::string(Key.str()) + "'");
  }

  const toml::node *find(std::string_view Name) const {
    return failed() ? nullptr : Table.get(Name);
  }
  void text(std::string_view Name, std::string &Into, bool Needed = false) {
    const toml::node *Found = find(Name);
    if (Found)
      takeText(*Found, Name, Into);
    else if (Needed && !failed())
      reject(Table, "key '" + std::string(Name) + "' is missing");
  }
  void real(std::string_view Name, double &Into) {
    const toml::node *Found = find(Name);
    if (Found && !Found->is_number())
      reject(*Found, "'" + std::string(Name) + "' is not a number");
    else if (Found)
      Into = Found->value<double>().value_or(0);
  }
  void integer(std::string_view Name, uint32_t &Into, int64_t Limit) {
    const toml::node *Found = find(Name);
    if (!Found)
      return;
    const toml::value<int64_t> *Value = Found->as_integer();
    if (!Value || Value->get() < 0 || Value->get() > Limit)
      reject(*Found, "'" + std::string(Name) + "' is no number up to " +
                         std::to_string(Limit));
    else
      Into = uint32_t(Value->get());
  }
  void texts(std::string_view Name, std::vector<std::string> &Into) {
    each(Name, [&](const toml::node &Item) {
      takeText(Item, Name, Into.emplace_back());
    });
  }
  template <typename Function> void each(std::string_view Name, Function Take) {
    const toml::node *Found = find(Name);
    if (!Found)
      return;
    const toml::array *Array = Found->as_array();
    if (!Array)
      return reject(*Found, "'" + std::string(Name) + "' is not an array");
    for (const toml::node &Item : *Array)
      if (!failed())
        Take(Item);
  }
  void takeText(const toml::node &Value, std::string_view Name,
                std::string &Into) {
    if (const toml::value<std::string> *Text = Value.as_string())
      Into = Text->get();
    else
      reject(Value, "'" + std::string(Name) + "' is not a string");
  }

private:
  const toml::table &Table;
  Error &Failure;
};

} // namespace

static void takeLaunch(Taker &In, Error &Failure, Variant &Change) {
  In.each("launch", [&](const toml::node &Item) {
    const toml::table *Table = Item.as_table();
    if (!Table)
      return In.reject(Item, "a launch rule is not a table");
    Taker Rule(*Table, Failure);
    LaunchRule &Into = Change.Launch.emplace_back();
    Rule.allow({"target", "value"});
    Rule.text("target", Into.Target, /*Needed=*/true);
    Rule.text("value", Into.Value, /*Needed=*/true);
  });
}

static void takeNumbers(Taker &In, const std::string &Member,
                        std::map<std::string, int64_t> &Into) {
  const toml::node *Found = In.find(Member);
  if (!Found)
    return;
  const toml::table *Table = Found->as_table();
  if (!Table)
    return In.reject(*Found, "'" + Member + "' is not a table");
  for (const auto &[Name, Value] : *Table)
    if (const toml::value<int64_t> *Number = Value.as_integer())
      Into[std::string(Name.str())] = Number->get();
    else
      In.reject(Value, "'" + Member + "' holds integers");
}

static ProfileEntry takeEntry(const toml::table &Table, Error &Failure) {
  ProfileEntry Entry;
  Variant Change;
  Taker In(Table, Failure);
  In.allow({"device", "class",      "pipeline",  "level",  "maxnreg",
            "ptxas",  "maxthreads", "minblocks", "loads",  "stores",
            "arch",   "remap",      "options",   "launch", "specialise",
            "guards", "gain",       "low",       "high",   "evidence",
            "origin", "variant",    "versions",  "code"});
  In.text("device", Entry.Device, /*Needed=*/true);
  In.text("class", Entry.Class);
  In.text("pipeline", Change.Pipeline);
  In.text("level", Change.Level);
  takeNumbers(In, "options", Change.Options);
  In.integer("maxnreg", Change.MaxRegisters, 255);
  In.text("ptxas", Change.PtxasLevel);
  In.integer("maxthreads", Change.MaxThreads, 1024);
  In.integer("minblocks", Change.MinBlocks, 32);
  In.text("loads", Change.Loads);
  In.text("stores", Change.Stores);
  In.text("arch", Change.Arch);
  In.text("remap", Change.Remap);
  takeLaunch(In, Failure, Change);
  takeNumbers(In, "specialise", Change.Specialise);
  In.texts("guards", Change.Guards);
  In.real("gain", Entry.Gain);
  In.real("low", Entry.Low);
  In.real("high", Entry.High);
  In.text("evidence", Entry.Evidence);
  In.text("origin", Entry.Origin);
  std::string Id;
  In.text("variant", Id, /*Needed=*/true);
  In.text("versions", Entry.Versions);
  In.text("code", Entry.Code);
  // One place says what a variant may hold: its own reader.
  Expected<Variant> Checked = Variant::parse(Change.canonicalJson());
  if (!Checked) {
    In.reject(Table, Checked.error().message());
    return Entry;
  }
  Entry.Change = std::move(*Checked);
  if (Entry.Change.id().hex() != Id)
    Entry.Evidence = "none";
  return Entry;
}

static void takeFingerprints(Taker &In, KernelProfile &Into) {
  const toml::node *Found = In.find("fingerprint");
  if (!Found)
    return;
  const toml::table *Table = Found->as_table();
  if (!Table)
    return In.reject(*Found, "'fingerprint' is not a table");
  for (const auto &[Arch, Value] : *Table)
    In.takeText(Value, "fingerprint",
                Into.Fingerprints[std::string(Arch.str())]);
}

Expected<KernelProfile> KernelProfile::parse(const std::string &Toml,
                                             const std::string &Name) {
  // toml++ 3.3 runs into undefined behaviour at some characters outside of
  // strings; what R3 writes is ASCII, and so is what it reads.
  for (size_t I = 0; I != Toml.size(); ++I)
    if (uint8_t(Toml[I]) >= 0x80)
      return fail(
          ErrorCode::Damaged,
          "%s: line %u: a character that is not ASCII (in strings: "
          "\\uXXXX)",
          Name.c_str(),
          unsigned(1 + std::count(Toml.begin(), Toml.begin() + long(I), '\n')));
  toml::parse_result Parsed = toml::parse(std::string_view(Toml));
  if (!Parsed)
    return fail(ErrorCode::Damaged, "%s: line %u: %s", Name.c_str(),
                unsigned(Parsed.error().source().begin.line),
                std::string(Parsed.error().description()).c_str());
  const toml::table &Table = Parsed.table();
  KernelProfile Result;
  Error Failure;
  Taker In(Table, Failure);
  uint32_t Format = 0;
  In.integer("format", Format, INT32_MAX);
  if (!Failure && Format != 1)
    In.reject(Table, format("format %u, this r3 reads 1", Format));
  In.allow({"format", "key", "name", "home", "units", "fingerprint", "entry"});
  In.text("key", Result.Key, /*Needed=*/true);
  In.text("name", Result.Name, /*Needed=*/true);
  In.text("home", Result.Home);
  In.texts("units", Result.Units);
  takeFingerprints(In, Result);
  In.each("entry", [&](const toml::node &Item) {
    if (const toml::table *Entry = Item.as_table())
      Result.Entries.push_back(takeEntry(*Entry, Failure));
    else
      In.reject(Item, "an entry is not a table");
  });
  if (Failure)
    return Failure.in(Name);
  return Result;
}

} // namespace r3
