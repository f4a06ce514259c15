// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The edits that make one pipeline of another.
#include "wrapper/remix/space/BasePipeline.h"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <string_view>
#include <utility>

namespace r3 {

/// Aligns lists of elements with lists of passes.
struct BasePipeline::Aligner {
  const BasePipeline &Base;
  /// What has this cost, or more, is not looked for.
  int64_t Limit;

  using Elements = std::span<const Element>;
  using Nodes = std::span<const PassNode>;

  /// Costs[I][J]: of A from I on becoming B from J on, where both have Begin
  /// elements before them in common, which A and B are without.
  struct Alignment {
    Elements A;
    Nodes B;
    size_t Begin = 0;
    std::vector<int64_t> Costs, Matches;
    int64_t &at(size_t I, size_t J) { return Costs[I * (B.size() + 1) + J]; }
    int64_t &match(size_t I, size_t J) {
      return Matches[I * (B.size() + 1) + J];
    }
  };

  // What was found out, since lists are aligned again and again.
  std::map<std::pair<const PassNode *, std::string_view>,
           std::optional<PassEdit>>
      Insertions = {};
  std::map<std::pair<const Element *, const Pipeline *>, Alignment> Alignments =
      {};

  static bool isSame(const Element &E, const PassNode &Node) {
    return E.IsManager == Node.IsManager && E.Name == Node.Name &&
           std::equal(E.Children.begin(), E.Children.end(),
                      Node.Children.begin(), Node.Children.end(), isSame);
  }

  /// The pass that Node is, if an edit can put it into a list of this kind.
  const std::optional<PassEdit> &insertion(const PassNode &Node,
                                           const std::string &Kind) {
    auto [Place, IsNew] = Insertions.try_emplace({&Node, Kind});
    if (IsNew)
      Place->second = findInsertion(Node, Kind);
    return Place->second;
  }

  std::optional<PassEdit> findInsertion(const PassNode &Node,
                                        const std::string &Kind) const {
    const PassNode *Leaf = &Node;
    while (Leaf->IsManager && Leaf->Children.size() == 1)
      Leaf = &Leaf->Children[0];
    auto Edit = said(*Leaf);
    if (!Edit || !canInsert(Base.Catalogue->Usable[size_t(Edit->Pass)], Kind))
      return std::nullopt;
    return Base.inserted(*Edit, Kind) == Node ? Edit : std::nullopt;
  }

  std::optional<PassEdit> said(const PassNode &Leaf) const {
    auto Pass =
        Leaf.IsManager ? std::nullopt : Base.Catalogue->find(Leaf.base());
    auto Setting = Pass ? Base.Catalogue->Usable[*Pass].settingOf(Leaf.Name)
                        : std::nullopt;
    if (!Setting)
      return std::nullopt;
    return PassEdit{0, int32_t(*Pass), *Setting};
  }

  /// Cost of E becoming Node where both stay in place.
  int64_t matchCost(const Element &E, const PassNode &Node) {
    if (E.IsManager != Node.IsManager)
      return Impossible;
    if (E.IsManager) {
      if (E.Name != Node.Name)
        return Impossible;
      return aligned(E, Node.Children).at(0, 0);
    }
    if (E.Name == Node.Name)
      return 0;
    return E.Leaf >= 0 && passBase(E.Name) == Node.base() && said(Node)
               ? 1
               : Impossible;
  }

  /// What both begin and end with is left out of a search.
  static size_t commonPrefix(Elements A, Nodes B) {
    size_t Count = 0;
    while (Count < A.size() && Count < B.size() && isSame(A[Count], B[Count]))
      ++Count;
    return Count;
  }
  static size_t commonSuffix(Elements A, Nodes B) {
    size_t Count = 0;
    while (Count < A.size() && Count < B.size() &&
           isSame(A[A.size() - 1 - Count], B[B.size() - 1 - Count]))
      ++Count;
    return Count;
  }
  /// The children of E with a list of passes.
  Alignment &aligned(const Element &E, const Pipeline &List) {
    const auto Known = Alignments.find({&E, &List});
    if (Known != Alignments.end())
      return Known->second;
    Alignment Made;
    Made.Begin = commonPrefix(E.Children, List);
    Made.A = Elements(E.Children).subspan(Made.Begin);
    Made.B = Nodes(List).subspan(Made.Begin);
    const size_t End = commonSuffix(Made.A, Made.B);
    Made.A = Made.A.first(Made.A.size() - End);
    Made.B = Made.B.first(Made.B.size() - End);
    fill(Made, E.Kind);
    return Alignments[{&E, &List}] = std::move(Made);
  }

  void fill(Alignment &Made, const std::string &Kind) {
    const Elements A = Made.A;
    const Nodes B = Made.B;
    Made.Costs.assign((A.size() + 1) * (B.size() + 1), Impossible);
    Made.Matches.assign(Made.Costs.size(), Impossible);
    Made.at(A.size(), B.size()) = 0;
    std::vector<std::optional<bool>> Fits(B.size());
    auto fits = [&](size_t J) {
      if (!Fits[J])
        Fits[J] = insertion(B[J], Kind).has_value();
      return *Fits[J];
    };
    for (size_t I = A.size() + 1; I-- > 0;) {
      // One edit changes the difference in length by one at most.
      const int64_t Same = int64_t(B.size()) - int64_t(A.size() - I);
      const int64_t First = std::max<int64_t>(Same - Limit + 1, 0);
      const int64_t Last = std::min(Same + Limit - 1, int64_t(B.size()));
      for (int64_t Next = Last; Next >= First; --Next) {
        const auto J = size_t(Next);
        if (I == A.size() && J == B.size())
          continue;
        int64_t Best = Impossible;
        if (I < A.size() && J < B.size() && Made.at(I + 1, J + 1) < Limit) {
          Made.match(I, J) = matchCost(A[I], B[J]);
          Best = Made.match(I, J) + Made.at(I + 1, J + 1);
        }
        if (I < A.size())
          Best = std::min(Best, A[I].DeleteCost + Made.at(I + 1, J));
        if (J < B.size() && Made.at(I, J + 1) < Limit && fits(J))
          Best = std::min(Best, 1 + Made.at(I, J + 1));
        Made.at(I, J) = std::min(Best, Impossible);
      }
    }
  }

  void deleteAll(const Element &E, PassEdits &Into) const {
    if (E.Leaf >= 0)
      Into.push_back({E.Leaf, PassEdit::Delete, 0});
    for (const Element &Child : E.Children)
      deleteAll(Child, Into);
  }

  void match(const Element &E, const PassNode &Node, PassEdits &Into) {
    if (E.IsManager)
      return collect(E, Node.Children, Into);
    if (E.Name == Node.Name)
      return;
    PassEdit Change = *said(Node);
    Change.Site = E.Leaf;
    Into.push_back(Change);
  }

  void collect(const Element &Within, const Pipeline &List, PassEdits &Into) {
    Alignment &T = aligned(Within, List);
    const Elements A = T.A;
    const Nodes B = T.B;
    size_t I = 0, J = 0;
    while (I < A.size() || J < B.size()) {
      if (I < A.size() && J < B.size() &&
          T.match(I, J) + T.at(I + 1, J + 1) == T.at(I, J)) {
        match(A[I++], B[J++], Into);
        continue;
      }
      if (I < A.size() && A[I].DeleteCost + T.at(I + 1, J) == T.at(I, J)) {
        deleteAll(A[I++], Into);
        continue;
      }
      PassEdit Insert = *insertion(B[J++], Within.Kind);
      const size_t At = T.Begin + I;
      Insert.Site =
          At < Within.Children.size() ? Within.Children[At].Gap : Within.EndGap;
      Into.push_back(Insert);
    }
  }
};

std::optional<PassEdits> BasePipeline::editsOf(const Pipeline &Result,
                                               size_t AtMost) const {
  Aligner Align{*this, int64_t(AtMost) + 1};
  if (Align.aligned(Root, Result).at(0, 0) > int64_t(AtMost))
    return std::nullopt;
  PassEdits Edits;
  Align.collect(Root, Result, Edits);
  return Edits;
}

PassUses BasePipeline::usesWith(const PassEdits &Edits) const {
  PassUses Uses;
  auto Next = Edits.begin();
  for (size_t I = 0; I < Sites.size(); ++I) {
    const PipelineSite &Site = Sites[I];
    const bool IsEdited = Next != Edits.end() && size_t(Next->Site) == I;
    if (!IsEdited && !Site.IsGap && Site.Pass >= 0)
      Uses.emplace_back(Site.Pass, Site.CanSay ? Site.Setting : -1);
    for (; Next != Edits.end() && size_t(Next->Site) == I; ++Next) {
      if (Next->Pass == PassEdit::Delete)
        continue;
      // Settings with the same text are one.
      const CatalogPass &Pass = Catalogue->Usable[size_t(Next->Pass)];
      Uses.emplace_back(Next->Pass,
                        Pass.settingOf(Pass.text(Next->Setting)).value_or(-1));
    }
  }
  std::sort(Uses.begin(), Uses.end());
  return Uses;
}

/// An insertion or deletion changes how often a pass is there by one, and one
/// with other parameters how often it is there with two settings.
size_t leastEdits(const PassUses &A, const PassUses &B) {
  size_t Least = 0;
  for (size_t I = 0, J = 0; I < A.size() || J < B.size();) {
    const int32_t Pass = I == A.size()   ? B[J].first
                         : J == B.size() ? A[I].first
                                         : std::min(A[I].first, B[J].first);
    size_t OnlyA = 0, OnlyB = 0;
    for (;;) {
      const bool IsA = I < A.size() && A[I].first == Pass;
      const bool IsB = J < B.size() && B[J].first == Pass;
      if (!IsA && !IsB)
        break;
      if (IsA && IsB && A[I] == B[J])
        ++I, ++J;
      else if (IsA && (!IsB || A[I] < B[J]))
        ++I, ++OnlyA;
      else
        ++J, ++OnlyB;
    }
    Least += std::max(OnlyA, OnlyB);
  }
  return Least;
}

} // namespace r3
