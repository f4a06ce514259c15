// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/support/LaunchMap.h"

#include <algorithm>
#include <cstring>

namespace r3 {

namespace {

/// A part of a configuration by its name; null where there is none.
template <typename Config>
auto partOf(Config &Launch, std::string_view Name)
    -> decltype(&Launch.DynamicShared) {
  if (Name == "shared")
    return &Launch.DynamicShared;
  const bool Grid = Name.starts_with("grid."),
             Block = Name.starts_with("block.");
  if ((!Grid && !Block) || Name.back() < 'x' || Name.back() > 'z' ||
      Name.size() != (Grid ? 6u : 7u))
    return nullptr;
  return &(Grid ? Launch.Grid : Launch.Block)[Name.back() - 'x'];
}

bool isInteger(ValueType Type) {
  return Type == ValueType::I8 || Type == ValueType::I16 ||
         Type == ValueType::I32 || Type == ValueType::I64;
}

const ArgumentField *findField(const LaunchView &Launch,
                               std::string_view Name) {
  for (const ArgumentField &F : Launch.Fields)
    if (F.Name == Name)
      return &F;
  return nullptr;
}

std::string listOf(const LaunchView &Launch, bool (*Wanted)(ValueType)) {
  std::string List;
  for (const ArgumentField &F : Launch.Fields)
    if (Wanted(F.Type))
      List += (List.empty() ? "" : ", ") + F.Name;
  return List.empty() ? "none" : List;
}

bool isPointer(ValueType Type) { return Type == ValueType::Pointer; }

Expected<uint64_t> pointerOf(const std::string &Name,
                             const LaunchView &Launch) {
  const ArgumentField *F = findField(Launch, Name);
  auto Bits = Launch.bitsOf(Name);
  if (F && Bits && F->Type == ValueType::Pointer)
    return *Bits;
  return fail(ErrorCode::Usage, "'%s' is no pointer of this kernel (%s)",
              Name.c_str(), listOf(Launch, isPointer).c_str());
}

Expected<int64_t> integerOf(const std::string &Name, const LaunchView &Launch) {
  if (auto Value = Launch.numberOf(Name))
    return *Value;
  return fail(ErrorCode::Usage, "'%s' is no integer of this kernel (%s)",
              Name.c_str(), listOf(Launch, isInteger).c_str());
}

/// An integer field may be meant as signed or unsigned.
bool equals(const Guard &G, int64_t Value, const LaunchView &Launch) {
  if (Value == G.Number)
    return true;
  auto Bits = Launch.bitsOf(G.Name);
  return Bits && G.Number >= 0 && *Bits == uint64_t(G.Number);
}

/// The allocation that an address lies in; else the one that ends there.
const RecordedAllocation *allocationOf(uint64_t Address,
                                       const LaunchView &Launch) {
  const RecordedAllocation *EndsThere = nullptr;
  for (const RecordedAllocation &R : Launch.Allocations) {
    if (Address < R.Address || Address - R.Address > R.Size)
      continue;
    if (Address - R.Address < R.Size)
      return &R;
    EndsThere = &R;
  }
  return EndsThere;
}

bool areDistinct(uint64_t A, uint64_t B, const LaunchView &Launch) {
  if (!A || !B)
    return true;
  const RecordedAllocation *OfA = allocationOf(A, Launch);
  const RecordedAllocation *OfB = allocationOf(B, Launch);
  return OfA && OfB && OfA != OfB;
}

/// "grid.x = 'n / 100' gives 0".
std::string sentence(const LaunchRule &Rule, int64_t Value) {
  return format("launch map: %s = '%s' gives %lld", Rule.Target.c_str(),
                Rule.Value.c_str(), static_cast<long long>(Value));
}

/// The rules for any of Targets, for a message; what they gave is in Mapped.
std::string rulesFor(std::string_view Prefix, std::span<const LaunchRule> Rules,
                     const LaunchConfig &Mapped) {
  std::string List;
  for (const LaunchRule &R : Rules)
    if (R.Target.starts_with(Prefix))
      List += (List.empty() ? "" : ", ") +
              format("%s = '%s' gives %u", R.Target.c_str(), R.Value.c_str(),
                     *partOf(Mapped, R.Target));
  return List.empty() ? "as recorded" : List;
}

} // namespace

std::optional<uint32_t> launchPart(const LaunchConfig &Launch,
                                   std::string_view Name) {
  const uint32_t *Part = partOf(Launch, Name);
  return Part ? std::optional(*Part) : std::nullopt;
}

std::optional<uint64_t> LaunchView::bitsOf(std::string_view Field) const {
  const ArgumentField *F = findField(*this, Field);
  if (!F || !F->Size || F->Size > 8 || F->Offset > Arguments.size() ||
      F->Size > Arguments.size() - F->Offset)
    return std::nullopt;
  uint64_t Bits = 0;
  std::memcpy(&Bits, Arguments.data() + F->Offset, F->Size);
  return Bits;
}

std::optional<int64_t> LaunchView::numberOf(std::string_view Name) const {
  if (const uint32_t *Part = partOf(Launch, Name))
    return *Part;
  const ArgumentField *F = findField(*this, Name);
  auto Bits = bitsOf(Name);
  if (!F || !Bits || !isInteger(F->Type))
    return std::nullopt;
  const unsigned Shift = 64 - 8 * F->Size;
  return static_cast<int64_t>(*Bits << Shift) >> Shift;
}

Expected<LaunchConfig> mapLaunch(std::span<const LaunchRule> Rules,
                                 const LaunchView &Launch) {
  LaunchConfig Mapped = Launch.Launch;
  for (const LaunchRule &Rule : Rules) {
    auto Value = evaluateExpression(Rule.Value, [&](std::string_view Name) {
      return Launch.numberOf(Name);
    });
    if (!Value)
      return Value.error().in("launch map: " + Rule.Target);
    const int64_t Least = Rule.Target == "shared" ? 0 : 1;
    if (*Value < Least || *Value > UINT32_MAX)
      return fail(ErrorCode::Usage, "%s: %s", sentence(Rule, *Value).c_str(),
                  *Value >= Least         ? "no launch is so large"
                  : Rule.Target[0] == 'g' ? "a launch without blocks"
                  : Rule.Target[0] == 'b' ? "a block without threads"
                                          : "no size of memory");
    *partOf(Mapped, Rule.Target) = static_cast<uint32_t>(*Value);
  }
  // Whoever launches it raises the kernel's own limit, as a program would.
  Mapped.MaxDynamicShared =
      std::max(Mapped.MaxDynamicShared, Mapped.DynamicShared);
  return Mapped;
}

Error checkLimits(std::span<const LaunchRule> Rules, const LaunchConfig &Mapped,
                  const LaunchLimits &Limits) {
  for (const LaunchRule &Rule : Rules) {
    if (Rule.Target == "shared")
      continue;
    const Dim3 &Most = Rule.Target[0] == 'g' ? Limits.Grid : Limits.Block;
    const uint32_t Value = *partOf(Mapped, Rule.Target);
    if (const uint32_t Limit = Most[Rule.Target.back() - 'x']; Value > Limit)
      return fail(ErrorCode::Usage, "%s: the device takes at most %u",
                  sentence(Rule, Value).c_str(), Limit);
  }
  const uint64_t Threads =
      uint64_t(Mapped.Block[0]) * Mapped.Block[1] * Mapped.Block[2];
  if (Threads > Limits.Threads)
    return fail(ErrorCode::Usage,
                "launch map: a block of %u x %u x %u threads (%s): the kernel "
                "takes at most %u",
                Mapped.Block[0], Mapped.Block[1], Mapped.Block[2],
                rulesFor("block", Rules, Mapped).c_str(), Limits.Threads);
  const uint64_t Shared = uint64_t(Limits.StaticShared) + Mapped.DynamicShared;
  if (Shared > Limits.Shared)
    return fail(ErrorCode::Usage,
                "launch map: %u bytes of shared memory (%s) beside the "
                "kernel's own %u: a block has at most %u",
                Mapped.DynamicShared, rulesFor("shared", Rules, Mapped).c_str(),
                Limits.StaticShared, Limits.Shared);
  for (unsigned I = 0; I < 3; ++I)
    if (Mapped.Cluster[I] && Mapped.Grid[I] % Mapped.Cluster[I])
      return fail(ErrorCode::Usage,
                  "launch map: %u blocks along %c (%s) are no whole clusters "
                  "of %u",
                  Mapped.Grid[I], 'x' + int(I),
                  rulesFor("grid", Rules, Mapped).c_str(), Mapped.Cluster[I]);
  return {};
}

Expected<bool> holds(const Guard &G, const LaunchView &Launch) {
  switch (G.What) {
  case Guard::Kind::Align: {
    auto Value = pointerOf(G.Name, Launch);
    return Value ? Expected<bool>(*Value % uint64_t(G.Number) == 0)
                 : Value.error();
  }
  case Guard::Kind::Distinct: {
    auto A = pointerOf(G.Name, Launch), B = pointerOf(G.Second, Launch);
    if (!A || !B)
      return A ? B.error() : A.error();
    return areDistinct(*A, *B, Launch);
  }
  case Guard::Kind::Divides:
  case Guard::Kind::Equals:
    break;
  }
  auto Value = integerOf(G.Name, Launch);
  if (!Value)
    return Value.error();
  return G.What == Guard::Kind::Divides ? *Value % G.Number == 0
                                        : equals(G, *Value, Launch);
}

Expected<std::vector<Guard>> allGuards(const Variant &V) {
  std::vector<Guard> All;
  for (const std::string &Text : V.Guards) {
    auto G = Guard::parse(Text);
    if (!G)
      return G.error();
    All.push_back(std::move(*G));
  }
  for (const auto &[Name, Value] : V.Specialise)
    All.push_back({Guard::Kind::Equals, Name, {}, Value});
  return All;
}

Expected<std::optional<Guard>> firstBroken(std::span<const Guard> Guards,
                                           const LaunchView &Launch) {
  for (const Guard &G : Guards) {
    auto Holds = holds(G, Launch);
    if (!Holds)
      return Holds.error();
    if (!*Holds)
      return std::optional<Guard>(G);
  }
  return std::optional<Guard>();
}

} // namespace r3
