// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the dimensions of a kernel, restricts them, and knows the limits.
#include "wrapper/remix/space/Dimensions.h"

#include "runtime/support/Applicable.h"
#include "runtime/support/LaunchMap.h"
#include "runtime/support/LlvmOptions.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace r3 {

namespace {

/// Values of a scalar, and shapes, that are taken from recordings.
constexpr size_t MostRecorded = 3;
/// Registers of a multiprocessor, on every architecture that CUDA 13 has.
constexpr uint32_t RegisterFile = 65536;

constexpr uint32_t RegisterLimits[] = {32, 40, 48, 64, 80, 96, 128, 168, 255};
constexpr int64_t Divisors[] = {2, 4, 8, 16, 32, 64, 128};
constexpr uint64_t Alignments[] = {8, 16, 32};
constexpr uint32_t BlocksAtATime[] = {1, 2, 3, 4, 6, 8, 12, 16};
/// On a multiprocessor; some have room for fewer, and take the wish as one.
constexpr uint32_t ThreadsAtATime = 2048;
const std::vector<std::string> LoadOperators = {"ca", "cg", "cs"};
const std::vector<std::string> StoreOperators = {"wb", "cg", "cs", "wt"};
const std::vector<std::string> ShapeFactors = {"/2", "/4", "/8",
                                               "*2", "*4", "*8"};

Dimension dimension(std::string Name, std::string Key, bool IsOrdered) {
  Dimension D;
  D.Name = std::move(Name);
  D.Key = std::move(Key);
  D.IsOrdered = IsOrdered;
  D.Values.push_back({"-", 0, [](Variant &) {}});
  return D;
}

/// The levels of code generation and of ptxas that go with a unit's level.
bool isOwn(const SpaceInput &Input, const std::string &Level) {
  const bool ForSize = Input.Level == "Os" || Input.Level == "Oz";
  return Level == (ForSize ? "O2" : Input.Level);
}

void addLevels(const SpaceInput &Input, std::vector<Dimension> &All) {
  Dimension Level = dimension("level", "level", false);
  for (const char *L : {"O1", "O2", "O3"})
    if (!isOwn(Input, L))
      Level.Values.push_back({L, 0, [L](Variant &V) { V.Level = L; }});
  All.push_back(std::move(Level));
  if (Input.Backend != "cuda")
    return;
  Dimension Ptxas = dimension("ptxas", "ptxas", false);
  for (const char *L : {"O1", "O2", "O3"})
    if (!isOwn(Input, L))
      Ptxas.Values.push_back({L, 0, [L](Variant &V) { V.PtxasLevel = L; }});
  All.push_back(std::move(Ptxas));
}

void addRegisters(std::vector<Dimension> &All) {
  Dimension D = dimension("maxnreg", "maxnreg", true);
  for (uint32_t Limit : RegisterLimits)
    D.Values.push_back({std::to_string(Limit), std::log2(double(Limit)),
                        [Limit](Variant &V) { V.MaxRegisters = Limit; }});
  All.push_back(std::move(D));
}

/// Blocks of a multiprocessor at a time, with a promise that blocks are as
/// large as the recorded ones, for which there is a guard.
void addBounds(const SpaceInput &Input, std::vector<Dimension> &All) {
  const Dim3 Block = Input.Launches[0].Launch.Block;
  for (const SpaceLaunch &L : Input.Launches)
    if (L.Launch.Block != Block)
      return;
  const uint32_t Threads = Block[0] * Block[1] * Block[2];
  Dimension D = dimension("bounds", "bounds", true);
  D.Excludes = "maxnreg";
  for (uint32_t Blocks : BlocksAtATime)
    if (Blocks * Threads <= ThreadsAtATime)
      D.Values.push_back(
          {std::to_string(Blocks), std::log2(1. + Blocks), [=](Variant &V) {
             V.MaxThreads = Threads;
             V.MinBlocks = Blocks;
             for (size_t Axis = 0; Axis < 3; ++Axis)
               V.Guards.push_back(
                   format("block.%c==%u", 'x' + int(Axis), Block[Axis]));
           }});
  All.push_back(std::move(D));
}

void addWords(const std::string &Name, const std::vector<std::string> &Words,
              std::string Variant::*Member, std::vector<Dimension> &All) {
  Dimension D = dimension(Name, Name, false);
  for (const std::string &Word : Words)
    D.Values.push_back({Word, 0, [=](Variant &V) { V.*Member = Word; }});
  All.push_back(std::move(D));
}

/// Architectures that come in a variety of their own, with what later ones do
/// not have.
std::vector<std::string> varietiesOf(const std::string &Arch) {
  for (const char *Number : {"90", "100", "101", "103", "110", "120", "121"})
    if (Arch == std::string("sm_") + Number)
      return {Arch + "a"};
  return {};
}

void addCuda(const SpaceInput &Input, std::vector<Dimension> &All) {
  if (Input.Backend != "cuda")
    return;
  addRegisters(All);
  if (!Input.Launches.empty())
    addBounds(Input, All);
  addWords("loads", LoadOperators, &Variant::Loads, All);
  addWords("stores", StoreOperators, &Variant::Stores, All);
  addWords("arch", varietiesOf(Input.Arch), &Variant::Arch, All);
}

/// Blocks of another shape, where a recorded launch can have it.
void addBlockShapes(const SpaceInput &Input, std::vector<Dimension> &All) {
  for (size_t Axis = 0; Axis < 3; ++Axis) {
    const char Letter = char('x' + Axis);
    Dimension D = dimension(std::string("shape ") + Letter, "shape", false);
    D.Excludes = "bounds";
    for (const std::string &Text : ShapeFactors) {
      const bool IsSplit = Text[0] == '/';
      const auto Factor = uint32_t(std::stoul(Text.substr(1)));
      const bool Fits =
          std::any_of(Input.Launches.begin(), Input.Launches.end(),
                      [&](const SpaceLaunch &L) {
                        const Dim3 &Size =
                            IsSplit ? L.Launch.Block : L.Launch.Grid;
                        return Size[Axis] % Factor == 0;
                      });
      if (Fits)
        D.Values.push_back({Text, 0, [=](Variant &V) {
                              V.Remap += V.Remap.empty() ? "" : ";";
                              V.Remap += format("%s-%c=%u",
                                                IsSplit ? "split" : "merge",
                                                Letter, Factor);
                            }});
    }
    All.push_back(std::move(D));
  }
}

void addOptions(std::vector<Dimension> &All) {
  for (const LlvmOption &Option : llvmOptions()) {
    std::string Name(Option.Name);
    Dimension D = dimension(Name, Name, !Option.isFlag());
    for (int64_t Value : Option.Values)
      D.Values.push_back(
          {std::to_string(Value),
           std::copysign(std::log2(1 + std::abs(double(Value))), Value),
           [Name, Value](Variant &V) { V.Options[Name] = Value; }});
    All.push_back(std::move(D));
  }
}

/// Divisors that a scalar had in every launch, and the values that it had.
void addScalars(const SpaceInput &Input, std::vector<Dimension> &All) {
  for (const auto &[Found, First] : Input.Launches[0].Scalars) {
    const std::string Name = Found;
    Dimension D = dimension("scalar " + Name, "scalars", false);
    std::set<int64_t> Seen;
    for (const SpaceLaunch &L : Input.Launches)
      if (auto Value = L.Scalars.find(Name); Value != L.Scalars.end())
        Seen.insert(Value->second);
    auto Divides = [&](int64_t N) {
      return std::all_of(Seen.begin(), Seen.end(),
                         [N](int64_t Value) { return Value % N == 0; });
    };
    for (int64_t N : Divisors)
      if (Divides(N))
        D.Values.push_back({"/" + std::to_string(N), 0, [Name, N](Variant &V) {
                              V.Guards.push_back(format(
                                  "divides(%lld,%s)", static_cast<long long>(N),
                                  Name.c_str()));
                            }});
    for (int64_t Value : Seen)
      if (Seen.size() <= MostRecorded)
        D.Values.push_back(
            {"=" + std::to_string(Value), 0,
             [Name, Value](Variant &V) { V.Specialise[Name] = Value; }});
    All.push_back(std::move(D));
  }
}

void addPointers(const SpaceInput &Input, std::vector<Dimension> &All) {
  for (const auto &[Found, First] : Input.Launches[0].Pointers) {
    const std::string Name = Found;
    Dimension D = dimension("pointer " + Name, "pointers", true);
    uint64_t Least = First;
    for (const SpaceLaunch &L : Input.Launches)
      if (auto Here = L.Pointers.find(Name); Here != L.Pointers.end())
        Least = std::min(Least, Here->second);
    for (uint64_t N : Alignments)
      if (N <= Least)
        D.Values.push_back(
            {std::to_string(N), std::log2(double(N)), [Name, N](Variant &V) {
               V.Guards.push_back(format("align(%s,%llu)", Name.c_str(),
                                         static_cast<unsigned long long>(N)));
             }});
    All.push_back(std::move(D));
  }
}

/// The recorded grids, or blocks, as constants.
void addShapes(const SpaceInput &Input, const std::string &Name,
               Dim3 LaunchConfig::*Member, std::vector<Dimension> &All) {
  std::set<Dim3> Seen;
  for (const SpaceLaunch &L : Input.Launches)
    Seen.insert(L.Launch.*Member);
  if (Seen.size() > MostRecorded)
    return;
  Dimension D = dimension(Name, Name, false);
  for (const Dim3 &Shape : Seen)
    D.Values.push_back({format("%ux%ux%u", Shape[0], Shape[1], Shape[2]), 0,
                        [Name, Shape](Variant &V) {
                          for (size_t Axis = 0; Axis < 3; ++Axis)
                            V.Specialise[Name + "." + "xyz"[Axis]] =
                                Shape[Axis];
                        }});
  All.push_back(std::move(D));
}

const std::vector<std::string> *allowed(const SpaceLimits &Limits,
                                        const std::string &Key) {
  auto Found = Limits.Values.find(Key);
  return Found == Limits.Values.end() ? nullptr : &Found->second;
}

bool contains(const std::vector<std::string> &List, const std::string &Text) {
  return std::find(List.begin(), List.end(), Text) != List.end();
}

/// Parameters are limited by their names, and launch shapes by "recorded".
void restrict(Dimension &D, const SpaceLimits &Limits) {
  const auto *Only = allowed(Limits, D.Key);
  if (!Only)
    return;
  if (D.Key == "scalars" || D.Key == "pointers") {
    if (!contains(*Only, D.Name.substr(D.Name.find(' ') + 1)))
      D.Values.resize(1);
  } else if (D.Key == "block" || D.Key == "grid") {
    if (!contains(*Only, "recorded"))
      D.Values.resize(1);
  } else {
    std::erase_if(D.Values, [&](const DimensionValue &V) {
      return V.Text != "-" && !contains(*Only, V.Text);
    });
  }
}

SpaceKey numbersKey(std::string Name, std::string Help,
                    const std::vector<int64_t> &Values) {
  SpaceKey Key{std::move(Name), std::move(Help), {}};
  for (int64_t Value : Values)
    Key.Values.push_back(std::to_string(Value));
  return Key;
}

std::vector<SpaceKey> makeKeys() {
  const std::vector<std::string> Levels = {"O1", "O2", "O3"};
  std::vector<SpaceKey> Keys = {
      {"edits", "edits of a pipeline, at most (0 to 12)", {}},
      {"base", "default pipelines", {"O1", "O2", "O3", "Os"}},
      {"passes", "passes that are inserted", {}},
      {"level", "levels of LLVM's code generation", Levels},
      {"ptxas", "levels of ptxas", Levels},
      numbersKey("maxnreg", "register limits",
                 {std::begin(RegisterLimits), std::end(RegisterLimits)}),
      numbersKey("bounds", "blocks of a multiprocessor at a time, at least",
                 {std::begin(BlocksAtATime), std::end(BlocksAtATime)}),
      {"loads", "cache operators of loads", LoadOperators},
      {"stores", "cache operators of stores", StoreOperators},
      {"arch", "varieties of the architecture, as sm_90a", {}},
      {"shape", "blocks split or merged along an axis", ShapeFactors},
      {"scalars", "integer parameters that become constants or divisible", {}},
      {"pointers", "pointer parameters that are taken to be aligned", {}},
      {"block", "block sizes that become constants", {"recorded"}},
      {"grid", "grid sizes that become constants", {"recorded"}}};
  for (const LlvmOption &Option : llvmOptions())
    Keys.push_back(numbersKey(std::string(Option.Name), "an option of LLVM",
                              Option.Values));
  return Keys;
}

std::string joined(const std::vector<std::string> &Words) {
  std::string Text;
  for (const std::string &Word : Words)
    Text += (Text.empty() ? "" : ", ") + Word;
  return Text;
}

/// Whether a variant is for this launch, by the guards that it can have here.
bool isFor(const Variant &V, const SpaceLaunch &L) {
  for (const auto &[Name, Value] : V.Specialise) {
    auto Part = launchPart(L.Launch, Name);
    auto Scalar = L.Scalars.find(Name);
    if (Part ? int64_t(*Part) != Value
             : Scalar == L.Scalars.end() || Scalar->second != Value)
      return false;
  }
  return std::none_of(
      V.Guards.begin(), V.Guards.end(), [&](const std::string &Text) {
        auto G = Guard::parse(Text);
        auto Part = G ? launchPart(L.Launch, G->Name) : std::nullopt;
        return Part && (G->What == Guard::Kind::Divides
                            ? int64_t(*Part) % G->Number != 0
                            : int64_t(*Part) != G->Number);
      });
}

std::string launchLimit(const Variant &V, const SpaceLaunch &L) {
  Recording Plain;
  Plain.Launch = L.Launch;
  auto Mapped = mapLaunch(V.Launch, LaunchView(Plain));
  if (!Mapped)
    return Mapped.error().message();
  LaunchLimits Device;
  Device.StaticShared = L.Launch.StaticShared;
  Device.Shared =
      std::max(Device.Shared, L.Launch.StaticShared + L.Launch.DynamicShared);
  if (Error E = checkLimits(V.Launch, *Mapped, Device))
    return E.message();
  const Dim3 &Block = Mapped->Block;
  const uint32_t Threads = Block[0] * Block[1] * Block[2];
  // Registers are given out by the warp, 8 for a thread at a time.
  const uint32_t Whole = (Threads + 31) / 32 * 32;
  const uint32_t Registers = (V.MaxRegisters + 7) / 8 * 8;
  if (Registers && uint64_t(Registers) * Whole > RegisterFile)
    return format("a block of %u threads with %u registers each does not fit",
                  Threads, V.MaxRegisters);
  return {};
}

} // namespace

const std::vector<SpaceKey> &spaceKeys() {
  static const std::vector<SpaceKey> Keys = makeKeys();
  return Keys;
}

Error checkLimits(const SpaceLimits &Limits) {
  for (const auto &[Name, Values] : Limits.Values) {
    auto Key = std::find_if(spaceKeys().begin(), spaceKeys().end(),
                            [&](const SpaceKey &K) { return K.Name == Name; });
    if (Key == spaceKeys().end()) {
      std::vector<std::string> Names;
      for (const SpaceKey &K : spaceKeys())
        Names.push_back(K.Name);
      return fail(ErrorCode::Usage, "the search space has no '%s'; it has %s",
                  Name.c_str(), joined(Names).c_str());
    }
    for (const std::string &Value : Values)
      if (!Key->Values.empty() && !contains(Key->Values, Value))
        return fail(ErrorCode::Usage, "%s: '%s' is none of %s", Name.c_str(),
                    Value.c_str(), joined(Key->Values).c_str());
  }
  return Error::success();
}

std::vector<Dimension> dimensionsOf(const SpaceInput &Input,
                                    const SpaceLimits &Limits) {
  std::vector<Dimension> All;
  addLevels(Input, All);
  addCuda(Input, All);
  addOptions(All);
  if (!Input.Launches.empty()) {
    addScalars(Input, All);
    addPointers(Input, All);
    addShapes(Input, "block", &LaunchConfig::Block, All);
    addShapes(Input, "grid", &LaunchConfig::Grid, All);
    addBlockShapes(Input, All);
  }
  for (Dimension &D : All) {
    restrict(D, Limits);
    if (Limits.Applicable)
      std::erase_if(D.Values, [](const DimensionValue &Value) {
        Variant Made;
        Value.Make(Made);
        return !notApplicable(Made).empty();
      });
  }
  std::erase_if(All, [](const Dimension &D) { return D.Values.size() < 2; });
  return All;
}

std::string knownLimit(const Variant &V, const SpaceInput &Input) {
  if (Input.Launches.empty())
    return {};
  bool Any = false;
  for (const SpaceLaunch &L : Input.Launches) {
    if (!isFor(V, L))
      continue;
    Any = true;
    if (std::string Why = launchLimit(V, L); !Why.empty())
      return Why;
  }
  return Any ? std::string() : "no recorded launch is one that it is for";
}

} // namespace r3
