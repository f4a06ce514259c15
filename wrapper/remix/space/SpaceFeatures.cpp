// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Points as numbers: the default pipeline and unordered values one-hot,
// ordered values by size; of edits, for each pass of the catalogue, how often
// it is inserted and deleted, what its parameters are given, and in which
// parts of the pipeline edits are.
#include "wrapper/remix/space/KernelSpace.h"

#include <algorithm>
#include <cmath>

namespace r3 {

namespace {

constexpr size_t Regions = 8;
/// So often a pass is inserted or deleted, at most, as a number.
constexpr float MostOften = 4;

/// Numbers for a dimension: whether it has a value at all and its size, or
/// each value.
size_t width(const Dimension &D) {
  return D.IsOrdered ? 2 : D.Values.size() - 1;
}

void describe(const Dimension &D, size_t Value, float *Out) {
  std::fill(Out, Out + width(D), 0.f);
  if (!Value)
    return;
  if (!D.IsOrdered) {
    Out[Value - 1] = 1;
    return;
  }
  auto [Least, Most] = std::minmax_element(
      D.Values.begin() + 1, D.Values.end(),
      [](const auto &A, const auto &B) { return A.Size < B.Size; });
  const double Range = Most->Size - Least->Size;
  Out[0] = 1;
  Out[1] =
      Range > 0 ? float((D.Values[Value].Size - Least->Size) / Range) : 1.f;
}

/// Inserted, deleted, and one for each group of parameters.
size_t width(const CatalogPass &Pass) { return 2 + Pass.Groups.size(); }

void countUp(float &Number) { Number = std::min(1.f, Number + 1 / MostOften); }

} // namespace

size_t KernelSpace::featureCount() const {
  size_t Count = Bases.size();
  for (const Dimension &D : Dimensions)
    Count += width(D);
  if (!canEdit())
    return Count;
  Count += 1 + Regions;
  for (const CatalogPass &Pass : Catalogue.Usable)
    Count += width(Pass);
  return Count;
}

void KernelSpace::editFeatures(const Parts &Of, float *Out) const {
  std::vector<float *> ByPass;
  Out[0] = float(Of.Edits.size()) / float(EditLimit);
  float *const Where = Out + 1;
  float *Next = Where + Regions;
  for (const CatalogPass &Pass : Catalogue.Usable) {
    ByPass.push_back(Next);
    Next += width(Pass);
  }
  std::fill(Where, Next, 0.f);
  if (Of.Edits.empty())
    return;
  const auto &Sites = Bases[Of.Base].Printed->sites();
  for (const PassEdit &Edit : Of.Edits) {
    const PipelineSite &Site = Sites[size_t(Edit.Site)];
    countUp(Where[size_t(Edit.Site) * Regions / Sites.size()]);
    if (!Site.IsGap && Site.Pass >= 0)
      countUp(ByPass[size_t(Site.Pass)][1]);
    if (Edit.Pass == PassEdit::Delete)
      continue;
    const CatalogPass &Pass = Catalogue.Usable[size_t(Edit.Pass)];
    float *Numbers = ByPass[size_t(Edit.Pass)];
    countUp(Numbers[0]);
    // Numbers are powers of two, so that places are their logarithms.
    for (size_t I = 0; I < Pass.Groups.size(); ++I)
      Numbers[2 + I] = float(Pass.given(Edit.Setting, I)) /
                       float(Pass.Groups[I].Values.size());
  }
}

void KernelSpace::features(const Point &P, float *Out) const {
  const Parts Of = parts(P);
  std::fill(Out, Out + Bases.size(), 0.f);
  Out[Of.Base] = 1;
  Out += Bases.size();
  for (size_t I = 0; I < Dimensions.size(); ++I) {
    describe(Dimensions[I], Of.Values[I], Out);
    Out += width(Dimensions[I]);
  }
  if (canEdit())
    editFeatures(Of, Out);
}

} // namespace r3
