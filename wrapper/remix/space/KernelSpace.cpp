// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a point means, and the one point that means something. How points are
// drawn and changed is in SpaceMoves.cpp.
#include "wrapper/remix/space/KernelSpace.h"

#include "runtime/support/BlockShape.h"

#include <algorithm>
#include <set>

namespace r3 {

namespace {

constexpr const char *Levels[] = {"O1", "O2", "O3", "Os"};

std::string defaultPipeline(const std::string &Level) {
  return "default<" + Level + ">";
}

bool isAllowed(const SpaceLimits &Limits, const std::string &Key,
               const std::string &Value) {
  auto Found = Limits.Values.find(Key);
  return Found == Limits.Values.end() ||
         std::find(Found->second.begin(), Found->second.end(), Value) !=
             Found->second.end();
}

} // namespace

Expected<std::unique_ptr<KernelSpace>>
KernelSpace::make(const SpaceInput &Input, PassCatalogue Catalogue,
                  const SpaceLimits &Limits) {
  if (Error E = checkLimits(Limits))
    return E;
  auto Space = std::unique_ptr<KernelSpace>(new KernelSpace());
  Space->Input = Input;
  Space->Catalogue = std::move(Catalogue);
  Space->EditLimit = std::min(Limits.Edits.value_or(MostEdits), MostEdits);
  Space->Dimensions = dimensionsOf(Input, Limits);
  if (Error E = Space->addBases(Input, Limits))
    return E;
  Space->collectPools(Limits);
  // From here on nothing changes.
  return Space;
}

/// The unit's own level comes first, and the printed form of O3, which is not
/// the same as O3, is one more.
Error KernelSpace::addBases(const SpaceInput &Input,
                            const SpaceLimits &Limits) {
  std::vector<std::string> Names = {Input.Level};
  for (const char *Level : Levels)
    if (Level != Input.Level && isAllowed(Limits, "base", Level))
      Names.push_back(Level);
  for (const std::string &Name : Names) {
    Base B;
    B.Level = Name;
    auto Text = Input.Pipelines.find(Name);
    if (Text != Input.Pipelines.end() && !Text->second.empty()) {
      auto Parsed = BasePipeline::parse(Text->second, Catalogue);
      if (!Parsed)
        return Parsed.error().in("the printed pipeline of level " + Name);
      B.Printed = std::make_shared<const BasePipeline>(std::move(*Parsed));
      B.Uses = B.Printed->usesWith({});
    }
    Bases.push_back(B);
  }
  for (size_t I = 0, Count = Bases.size(); I < Count; ++I)
    if (Bases[I].Level == "O3" && Bases[I].Printed) {
      Bases.push_back(Bases[I]);
      Bases.back().IsPrinted = true;
    }
  return Error::success();
}

void KernelSpace::collectPools(const SpaceLimits &Limits) {
  std::vector<bool> IsUsual(Catalogue.Usable.size());
  UsualSetting.assign(Catalogue.Usable.size(), 0);
  for (const Base &B : Bases)
    for (const PipelineSite &Site :
         B.Printed ? B.Printed->sites() : std::vector<PipelineSite>())
      if (Site.Pass >= 0 && !IsUsual[size_t(Site.Pass)]) {
        IsUsual[size_t(Site.Pass)] = true;
        UsualSetting[size_t(Site.Pass)] = size_t(Site.Setting);
      }
  for (const char *Kind : {"module", "cgscc", "function", "loop", "loop-mssa"})
    for (size_t I = 0; I < Catalogue.Usable.size(); ++I) {
      const CatalogPass &Pass = Catalogue.Usable[I];
      if (!BasePipeline::canInsert(Pass, Kind) ||
          isInert({Pass.Name, false, {}}) ||
          !isAllowed(Limits, "passes", Pass.Name))
        continue;
      Pool &P = Pools[Kind];
      (IsUsual[I] ? P.Usual : Pass.IsIdle ? P.Idle : P.Active).push_back(I);
    }
}

std::vector<std::pair<std::string, size_t>> KernelSpace::dimensions() const {
  std::vector<std::pair<std::string, size_t>> All = {{"base", Bases.size()}};
  if (canEdit()) {
    std::set<size_t> Passes;
    for (const auto &[Kind, P] : Pools)
      for (const auto *List : {&P.Usual, &P.Active, &P.Idle})
        Passes.insert(List->begin(), List->end());
    All.push_back({"edits", EditLimit});
    All.push_back({"passes", Passes.size()});
  }
  for (const Dimension &D : Dimensions)
    All.push_back({D.Name, D.Values.size()});
  return All;
}

//===-- Points ------------------------------------------------------------===//

KernelSpace::Parts KernelSpace::parts(const Point &P) const {
  Parts Result;
  Result.Base = size_t(P[0]);
  for (size_t I = 0; I < Dimensions.size(); ++I)
    Result.Values.push_back(size_t(P[1 + I]));
  for (size_t I = 1 + Dimensions.size(); I + 2 < P.size(); I += 3)
    Result.Edits.push_back({P[I], P[I + 1], P[I + 2]});
  return Result;
}

/// Where the pipeline of Made is fewer edits away from another default
/// pipeline, that one is its base; of equally many the first.
bool KernelSpace::canonicalEdits(Parts &Made) const {
  if (Made.Edits.empty())
    return true;
  const BasePipeline &From = *Bases[Made.Base].Printed;
  const Pipeline Result = From.edited(Made.Edits);
  const PassUses Uses = From.usesWith(Made.Edits);
  if (Result.empty())
    return false;
  std::optional<Parts> Best;
  for (size_t I = 0; I < Bases.size(); ++I) {
    const Base &B = Bases[I];
    const size_t Nearest =
        Best ? Best->Edits.size() - 1 : std::min(Made.Edits.size(), EditLimit);
    // O3 is there twice, and the first of equally near ones is it.
    if (!B.Printed || B.IsPrinted || leastEdits(Uses, B.Uses) > Nearest)
      continue;
    if (auto Edits = B.Printed->editsOf(Result, Nearest))
      Best = Parts{I, Made.Values, std::move(*Edits)};
    if (Best && Best->Edits.empty())
      break;
  }
  if (!Best)
    return false;
  // Without an edit it is that pipeline as it is printed.
  if (Best->Edits.empty())
    for (size_t I = 0; I < Bases.size(); ++I)
      if (Bases[I].IsPrinted && Bases[I].Level == Bases[Best->Base].Level)
        Best->Base = I;
  Made = std::move(*Best);
  return true;
}

/// A value that another one makes meaningless is none.
void KernelSpace::canonicalValues(Parts &Made) const {
  for (size_t I = 0; I < Dimensions.size(); ++I)
    for (size_t J = 0; J < Dimensions.size() && Made.Values[I]; ++J)
      if (Dimensions[I].Excludes == Dimensions[J].Name)
        Made.Values[J] = 0;
}

std::optional<Point> KernelSpace::point(Parts Made) const {
  canonicalValues(Made);
  if (!canonicalEdits(Made) || Made.Edits.size() > EditLimit)
    return std::nullopt;
  const bool IsOriginal = Made.Base == 0 && Made.Edits.empty() &&
                          std::all_of(Made.Values.begin(), Made.Values.end(),
                                      [](size_t Value) { return Value == 0; });
  if (IsOriginal || !knownLimit(withoutPipeline(Made), Input).empty())
    return std::nullopt;
  Point P = {int32_t(Made.Base)};
  for (size_t Value : Made.Values)
    P.push_back(int32_t(Value));
  for (const PassEdit &Edit : Made.Edits)
    P.insert(P.end(), {Edit.Site, Edit.Pass, Edit.Setting});
  return P;
}

std::optional<std::vector<Point>> KernelSpace::all(size_t AtMost) const {
  if (canEdit())
    return std::nullopt;
  size_t Count = Bases.size();
  for (const Dimension &D : Dimensions)
    if ((Count *= D.Values.size()) > AtMost)
      return std::nullopt;
  if (Count > AtMost)
    return std::nullopt;
  std::vector<Point> Points;
  for (size_t Index = 0; Index < Count; ++Index) {
    Parts Made;
    size_t Rest = Index / Bases.size();
    Made.Base = Index % Bases.size();
    for (const Dimension &D : Dimensions) {
      Made.Values.push_back(Rest % D.Values.size());
      Rest /= D.Values.size();
    }
    if (auto P = point(std::move(Made)))
      Points.push_back(std::move(*P));
  }
  std::sort(Points.begin(), Points.end());
  Points.erase(std::unique(Points.begin(), Points.end()), Points.end());
  return Points;
}

//===-- Variants ----------------------------------------------------------===//

Variant KernelSpace::withoutPipeline(const Parts &Of) const {
  Variant V;
  for (size_t I = 0; I < Dimensions.size(); ++I)
    Dimensions[I].Values[Of.Values[I]].Make(V);
  if (auto Shape = BlockShape::parse(V.Remap); Shape && !V.Remap.empty())
    Shape->putInto(V);
  std::sort(V.Guards.begin(), V.Guards.end());
  return V;
}

Variant KernelSpace::variant(const Parts &Of) const {
  Variant V = withoutPipeline(Of);
  const Base &B = Bases[Of.Base];
  if (!Of.Edits.empty())
    V.Pipeline = pipelineText(B.Printed->edited(Of.Edits));
  else if (B.IsPrinted)
    V.Pipeline = pipelineText(B.Printed->original());
  // A level of code generation says nothing about the pipeline.
  else if (Of.Base || !V.Level.empty())
    V.Pipeline = defaultPipeline(B.Level);
  return V;
}

std::string KernelSpace::passName(const Base &In, const PassEdit &Edit) const {
  const PipelineSite &Site = In.Printed->sites()[size_t(Edit.Site)];
  return Edit.Pass == PassEdit::Delete
             ? std::string(passBase(Site.Text))
             : Catalogue.Usable[size_t(Edit.Pass)].Name;
}

/// Of other parameters those that differ.
std::string KernelSpace::editNote(const Base &In, const PassEdit &Edit) const {
  const PipelineSite &Site = In.Printed->sites()[size_t(Edit.Site)];
  const std::string Name = passName(In, Edit);
  if (Edit.Pass == PassEdit::Delete)
    return "delete " + Name + " in " + Site.Kind;
  if (Site.IsGap)
    return "insert " + Name + " in " + Site.Kind;
  const CatalogPass &Pass = Catalogue.Usable[size_t(Edit.Pass)];
  std::string Text = "change " + Name;
  for (size_t I = 0; I < Pass.Groups.size(); ++I) {
    const size_t Before = Pass.given(Site.Setting, I);
    const size_t After = Pass.given(Edit.Setting, I);
    if (Before != After)
      Text += After ? " to " + Pass.Groups[I].Values[After - 1]
                    : " without " + Pass.Groups[I].Values[Before - 1];
  }
  return Text;
}

/// A pass that is deleted here and inserted there is moved.
std::vector<std::string> KernelSpace::editNotes(const Parts &Of) const {
  const Base &B = Bases[Of.Base];
  std::vector<std::string> Notes;
  std::vector<bool> Told(Of.Edits.size());
  for (size_t I = 0; I < Of.Edits.size(); ++I) {
    if (Told[I])
      continue;
    const PassEdit &One = Of.Edits[I];
    const bool Deletes = One.Pass == PassEdit::Delete;
    size_t Other = I + 1;
    for (; Other < Of.Edits.size(); ++Other) {
      const PassEdit &Two = Of.Edits[Other];
      if (!Told[Other] && (Two.Pass == PassEdit::Delete) != Deletes &&
          B.Printed->sites()[size_t((Deletes ? Two : One).Site)].IsGap &&
          passName(B, One) == passName(B, Two))
        break;
    }
    if (Other < Of.Edits.size())
      Told[Other] = true;
    Notes.push_back(Other < Of.Edits.size() ? "move " + passName(B, One)
                                            : editNote(B, One));
  }
  return Notes;
}

std::string KernelSpace::note(const Parts &Of) const {
  const Base &B = Bases[Of.Base];
  std::string Text;
  auto Add = [&](const std::string &Part) {
    Text += (Text.empty() ? "" : ", ") + Part;
  };
  if (B.IsPrinted || (Of.Base && !Of.Edits.empty()))
    Add("printed " + B.Level);
  else if (Of.Base)
    Add("default " + B.Level);
  for (const std::string &Edit : editNotes(Of))
    Add(Edit);
  for (size_t I = 0; I < Dimensions.size(); ++I)
    if (Of.Values[I])
      Add(Dimensions[I].Name + " " + Dimensions[I].Values[Of.Values[I]].Text);
  return Text;
}

Candidate KernelSpace::candidate(const Point &P) const {
  const Parts Of = parts(P);
  return {variant(Of), note(Of)};
}

} // namespace r3
