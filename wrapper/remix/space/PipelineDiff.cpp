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

  // What was found out, since lists are aligned again and again.
  std::map<std::pair<const PassNode *, std::string_view>,
           std::optional<PassEdit>>
      Insertions = {};
  std::map<std::pair<const Element *, const PassNode *>, int64_t> MatchCosts =
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
      const auto Known = MatchCosts.find({&E, &Node});
      if (Known != MatchCosts.end())
        return Known->second;
      return MatchCosts[{&E, &Node}] = cost(E.Children, Node.Children, E);
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
  static void trim(Elements &A, Nodes &B) {
    size_t Begin = commonPrefix(A, B);
    A = A.subspan(Begin);
    B = B.subspan(Begin);
    size_t End = commonSuffix(A, B);
    A = A.first(A.size() - End);
    B = B.first(B.size() - End);
  }

  /// Costs[I][J]: of A from I on becoming B from J on.
  struct Table {
    std::vector<int64_t> Costs, Matches;
    size_t Width = 0;
    int64_t &at(size_t I, size_t J) { return Costs[I * Width + J]; }
    int64_t &match(size_t I, size_t J) { return Matches[I * Width + J]; }
  };

  Table align(Elements A, Nodes B, const std::string &Kind) {
    Table T;
    T.Width = B.size() + 1;
    T.Costs.assign((A.size() + 1) * T.Width, Impossible);
    T.Matches.assign(T.Costs.size(), Impossible);
    T.at(A.size(), B.size()) = 0;
    for (size_t I = A.size() + 1; I-- > 0;)
      for (size_t J = B.size() + 1; J-- > 0;) {
        // One edit changes the difference in length by one at most.
        const int64_t Longer = int64_t(A.size() - I) - int64_t(B.size() - J);
        if (std::abs(Longer) >= Limit || (I == A.size() && J == B.size()))
          continue;
        int64_t Best = Impossible;
        if (I < A.size() && J < B.size() && T.at(I + 1, J + 1) < Limit) {
          T.match(I, J) = matchCost(A[I], B[J]);
          Best = T.match(I, J) + T.at(I + 1, J + 1);
        }
        if (I < A.size())
          Best = std::min(Best, A[I].DeleteCost + T.at(I + 1, J));
        if (J < B.size() && T.at(I, J + 1) < Limit && insertion(B[J], Kind))
          Best = std::min(Best, 1 + T.at(I, J + 1));
        T.at(I, J) = std::min(Best, Impossible);
      }
    return T;
  }

  int64_t cost(Elements A, Nodes B, const Element &Within) {
    trim(A, B);
    if (A.empty() && B.empty())
      return 0;
    return align(A, B, Within.Kind).at(0, 0);
  }

  void deleteAll(const Element &E, PassEdits &Into) const {
    if (E.Leaf >= 0)
      Into.push_back({E.Leaf, PassEdit::Delete, 0});
    for (const Element &Child : E.Children)
      deleteAll(Child, Into);
  }

  void match(const Element &E, const PassNode &Node, PassEdits &Into) {
    if (E.IsManager)
      return collect(E.Children, Node.Children, E, Into);
    if (E.Name == Node.Name)
      return;
    PassEdit Change = *said(Node);
    Change.Site = E.Leaf;
    Into.push_back(Change);
  }

  void collect(Elements A, Nodes B, const Element &Within, PassEdits &Into) {
    const size_t Begin = commonPrefix(A, B);
    const Elements All = A;
    trim(A, B);
    if (A.empty() && B.empty())
      return;
    Table T = align(A, B, Within.Kind);
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
      Insert.Site = Begin + I < All.size() ? All[Begin + I].Gap : Within.EndGap;
      Into.push_back(Insert);
    }
  }
};

std::optional<PassEdits> BasePipeline::editsOf(const Pipeline &Result,
                                               size_t AtMost) const {
  Aligner Align{*this, int64_t(AtMost) + 1};
  if (Align.cost(Root.Children, Result, Root) > int64_t(AtMost))
    return std::nullopt;
  PassEdits Edits;
  Align.collect(Root.Children, Result, Root, Edits);
  return Edits;
}

} // namespace r3
