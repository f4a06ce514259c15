// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Draws points, changes one a little, and mixes two. Each makes parts that may
// mean anything and lets point() say what they are; what is no point of the
// space is made again, a bounded number of times.
#include "wrapper/remix/space/KernelSpace.h"

#include <algorithm>

namespace r3 {

namespace {

constexpr int Tries = 64;

/// 0, 1, 2, ... with halving probability, at most Most.
size_t geometric(size_t Most, Random &Dice) {
  size_t Count = 0;
  while (Count < Most && Dice.chance(0.5))
    ++Count;
  return Count;
}

/// In the order of sites; in one gap the latest stands last.
void put(PassEdits &Edits, const PassEdit &Edit) {
  auto After = std::upper_bound(
      Edits.begin(), Edits.end(), Edit,
      [](const PassEdit &A, const PassEdit &B) { return A.Site < B.Site; });
  Edits.insert(After, Edit);
}

bool isTaken(const PassEdits &Edits, int32_t Site) {
  return std::any_of(Edits.begin(), Edits.end(),
                     [&](const PassEdit &E) { return E.Site == Site; });
}

/// A random site that Fits; nothing where a number of tries found none.
template <typename Predicate>
std::optional<int32_t> pickSite(const std::vector<PipelineSite> &Sites,
                                Random &Dice, Predicate Fits) {
  for (int Try = 0; Try < Tries && !Sites.empty(); ++Try) {
    const size_t Site = Dice.below(Sites.size());
    if (Fits(Sites[Site]))
      return int32_t(Site);
  }
  return std::nullopt;
}

} // namespace

//===-- Edits -------------------------------------------------------------===//

/// A gap that Pass may be put into, in a list of this kind where there is one.
std::optional<int32_t> KernelSpace::gapFor(const Base &In, size_t Pass,
                                           const std::string &Kind,
                                           Random &Dice) const {
  const CatalogPass &P = Catalogue.Usable[Pass];
  const auto &Sites = In.Printed->sites();
  auto Same = pickSite(Sites, Dice, [&](const PipelineSite &S) {
    return S.IsGap && S.Kind == Kind;
  });
  if (Same && BasePipeline::canInsert(P, Kind))
    return Same;
  return pickSite(Sites, Dice, [&](const PipelineSite &S) {
    return S.IsGap && BasePipeline::canInsert(P, S.Kind);
  });
}

int32_t KernelSpace::changedSetting(size_t Pass, int32_t Setting,
                                    Random &Dice) const {
  const CatalogPass &P = Catalogue.Usable[Pass];
  if (P.Groups.empty())
    return Setting;
  const size_t Group = Dice.below(P.Groups.size());
  const size_t Count = P.Groups[Group].Values.size() + 1;
  const size_t Now = P.given(Setting, Group);
  size_t To = (Now + 1 + Dice.below(Count - 1)) % Count;
  // Numbers go up or down by a power of two more often than anywhere.
  if (P.Groups[Group].IsNumber && Now && Dice.chance(0.7))
    To = Dice.chance(0.5) && Now + 1 < Count ? Now + 1 : Now - 1;
  return P.with(Setting, Group, To);
}

/// What did nothing where it was tried is worth few tries.
size_t KernelSpace::pickPass(const Pool &From, Random &Dice) const {
  const double What = Dice.unit();
  if (!From.Usual.empty() && What < 0.55)
    return Dice.pick(From.Usual);
  if (!From.Active.empty() && (What < 0.85 || From.Idle.empty()))
    return Dice.pick(From.Active);
  return Dice.pick(From.Idle.empty() ? From.Usual : From.Idle);
}

bool KernelSpace::insert(Parts &Made, Random &Dice) const {
  const auto &Sites = Bases[Made.Base].Printed->sites();
  auto Gap = pickSite(Sites, Dice, [&](const PipelineSite &S) {
    auto Found = Pools.find(S.Kind);
    return S.IsGap && Found != Pools.end() && !Found->second.empty();
  });
  if (!Gap)
    return false;
  const size_t Pass = pickPass(Pools.at(Sites[size_t(*Gap)].Kind), Dice);
  auto Setting = int32_t(UsualSetting[Pass]);
  if (Dice.chance(0.3))
    Setting = changedSetting(Pass, Setting, Dice);
  put(Made.Edits, {*Gap, int32_t(Pass), Setting});
  return true;
}

bool KernelSpace::remove(Parts &Made, Random &Dice) const {
  const auto &Sites = Bases[Made.Base].Printed->sites();
  auto Leaf = pickSite(Sites, Dice, [](const auto &S) { return !S.IsGap; });
  if (!Leaf || isTaken(Made.Edits, *Leaf))
    return false;
  put(Made.Edits, {*Leaf, PassEdit::Delete, 0});
  return true;
}

bool KernelSpace::repeat(Parts &Made, Random &Dice) const {
  const Base &B = Bases[Made.Base];
  const auto &Sites = B.Printed->sites();
  auto Leaf = pickSite(Sites, Dice, [](const auto &S) { return S.CanSay; });
  if (!Leaf)
    return false;
  const PipelineSite &From = Sites[size_t(*Leaf)];
  auto Gap = gapFor(B, size_t(From.Pass), From.Kind, Dice);
  if (!Gap)
    return false;
  put(Made.Edits, {*Gap, From.Pass, From.Setting});
  return true;
}

bool KernelSpace::move(Parts &Made, Random &Dice) const {
  const Base &B = Bases[Made.Base];
  const auto &Sites = B.Printed->sites();
  auto Leaf = pickSite(Sites, Dice, [](const auto &S) { return S.CanSay; });
  if (!Leaf || isTaken(Made.Edits, *Leaf))
    return false;
  const PipelineSite &From = Sites[size_t(*Leaf)];
  auto Gap = gapFor(B, size_t(From.Pass), From.Kind, Dice);
  if (!Gap)
    return false;
  put(Made.Edits, {*Leaf, PassEdit::Delete, 0});
  put(Made.Edits, {*Gap, From.Pass, From.Setting});
  return true;
}

/// Of an edit that is there, or of a pass of the default pipeline.
bool KernelSpace::setParameter(Parts &Made, Random &Dice) const {
  std::vector<size_t> There;
  for (size_t I = 0; I < Made.Edits.size(); ++I)
    if (Made.Edits[I].Pass != PassEdit::Delete &&
        !Catalogue.Usable[size_t(Made.Edits[I].Pass)].Groups.empty())
      There.push_back(I);
  if (!There.empty() && Dice.chance(0.5)) {
    PassEdit &E = Made.Edits[Dice.pick(There)];
    E.Setting = changedSetting(size_t(E.Pass), E.Setting, Dice);
    return true;
  }
  const auto &Sites = Bases[Made.Base].Printed->sites();
  auto Leaf = pickSite(Sites, Dice, [&](const PipelineSite &S) {
    return S.CanSay && !Catalogue.Usable[size_t(S.Pass)].Groups.empty();
  });
  if (!Leaf || isTaken(Made.Edits, *Leaf))
    return false;
  const PipelineSite &Of = Sites[size_t(*Leaf)];
  put(Made.Edits,
      {*Leaf, Of.Pass, changedSetting(size_t(Of.Pass), Of.Setting, Dice)});
  return true;
}

bool KernelSpace::addEdit(Parts &Made, Random &Dice) const {
  if (!canEdit() || !Bases[Made.Base].Printed)
    return false;
  switch (Dice.below(6)) {
  case 0:
    return remove(Made, Dice);
  case 1:
    return repeat(Made, Dice);
  case 2:
    return move(Made, Dice);
  case 3:
    return setParameter(Made, Dice);
  default:
    return insert(Made, Dice);
  }
}

bool KernelSpace::changeEdits(Parts &Made, Random &Dice) const {
  if (Made.Edits.empty() || Dice.chance(0.6))
    return addEdit(Made, Dice);
  Made.Edits.erase(Made.Edits.begin() + int64_t(Dice.below(Made.Edits.size())));
  return true;
}

/// The edits at the same places of another default pipeline; those whose
/// place it has not are left out.
PassEdits KernelSpace::transferred(const PassEdits &Edits, size_t From,
                                   size_t To) const {
  PassEdits Result;
  if (!Bases[From].Printed || !Bases[To].Printed)
    return Result;
  const auto &Sites = Bases[From].Printed->sites();
  for (PassEdit Edit : Edits)
    if (auto Site = Bases[To].Printed->findSite(Sites[size_t(Edit.Site)].Key)) {
      Edit.Site = *Site;
      put(Result, Edit);
    }
  return Result;
}

//===-- Values ------------------------------------------------------------===//

void KernelSpace::changeValue(Parts &Made, size_t Index, Random &Dice) const {
  const Dimension &D = Dimensions[Index];
  size_t &Value = Made.Values[Index];
  const size_t Count = D.Values.size();
  if (D.IsOrdered && Value && Count > 2 && Dice.chance(0.7))
    Value = Dice.chance(0.5) && Value + 1 < Count ? Value + 1 : Value - 1;
  else
    Value = (Value + 1 + Dice.below(Count - 1)) % Count;
}

void KernelSpace::changeBase(Parts &Made, size_t To) const {
  Made.Edits = transferred(Made.Edits, Made.Base, To);
  Made.Base = To;
}

//===-- Points ------------------------------------------------------------===//

std::optional<Point> KernelSpace::draw(Random &Dice) const {
  for (int Try = 0; Try < Tries; ++Try) {
    Parts Made;
    Made.Values.assign(Dimensions.size(), 0);
    if (Dice.chance(0.5))
      Made.Base = Dice.below(Bases.size());
    for (size_t I = geometric(EditLimit, Dice); I > 0; --I)
      addEdit(Made, Dice);
    for (size_t I = geometric(Dimensions.size(), Dice); I > 0; --I)
      changeValue(Made, Dice.below(Dimensions.size()), Dice);
    if (auto P = point(std::move(Made)))
      return P;
  }
  return std::nullopt;
}

std::optional<Point> KernelSpace::step(const Point &P, Random &Dice) const {
  for (int Try = 0; Try < Tries; ++Try) {
    Parts Made = parts(P);
    const double What = Dice.unit();
    if (What < 0.5 && canEdit())
      changeEdits(Made, Dice);
    else if (What < 0.6 && Bases.size() > 1)
      changeBase(Made, Dice.below(Bases.size()));
    else if (!Dimensions.empty())
      changeValue(Made, Dice.below(Dimensions.size()), Dice);
    auto Changed = point(std::move(Made));
    if (Changed && *Changed != P)
      return Changed;
  }
  return std::nullopt;
}

std::optional<Point> KernelSpace::cross(const Point &A, const Point &B,
                                        Random &Dice) const {
  for (int Try = 0; Try < Tries; ++Try) {
    Parts Made = parts(A), Other = parts(B);
    const size_t Base = Dice.chance(0.5) ? Made.Base : Other.Base;
    changeBase(Made, Base);
    changeBase(Other, Base);
    PassEdits Mixed;
    for (const Parts *From : {&Made, &Other})
      for (const PassEdit &Edit : From->Edits) {
        const bool Both = std::find(Other.Edits.begin(), Other.Edits.end(),
                                    Edit) != Other.Edits.end() &&
                          From == &Made;
        const bool Gap = Bases[Base].Printed->sites()[size_t(Edit.Site)].IsGap;
        if (isTaken(Mixed, Edit.Site) &&
            (!Gap ||
             std::find(Mixed.begin(), Mixed.end(), Edit) != Mixed.end()))
          continue;
        if (Both || Dice.chance(0.5))
          put(Mixed, Edit);
      }
    Made.Edits = std::move(Mixed);
    for (size_t I = 0; I < Dimensions.size(); ++I)
      if (Dice.chance(0.5))
        Made.Values[I] = Other.Values[I];
    if (auto P = point(std::move(Made)))
      return P;
  }
  return std::nullopt;
}

} // namespace r3
