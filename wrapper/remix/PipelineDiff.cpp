// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The alignment of two lists is that of the least cost (dynamic programming
// from the end): a pass of the same name stays, at the cost of one where its
// parameters differ; managers of the same name are aligned within.
#include "wrapper/remix/PipelineDiff.h"

#include <algorithm>
#include <map>

namespace r3 {

using List = std::vector<PassNode>;

class PipelineAligner {
public:
  using Step = PipelineDiff::Step;

  std::vector<Step> align(const List &A, const List &B) {
    const Table Costs = costs(A, B);
    std::vector<Step> Result;
    size_t I = 0, J = 0;
    while (I < A.size() || J < B.size()) {
      const size_t Here = Costs[I][J];
      if (I < A.size() && J < B.size() && canMatch(A[I], B[J]) &&
          Here == Costs[I + 1][J + 1] + matchCost(A[I], B[J])) {
        Step S{A[I].Name, B[J].Name, -1, A[I].IsManager, {}};
        if (S.IsManager)
          S.Children = align(A[I].Children, B[J].Children);
        Result.push_back(std::move(S));
        ++I, ++J;
      } else if (I < A.size() && Here == Costs[I + 1][J] + passes(A[I])) {
        Result.push_back(oneSided(A[I++], /*Deleted=*/true));
      } else {
        Result.push_back(oneSided(B[J++], /*Deleted=*/false));
      }
    }
    return Result;
  }

private:
  using Table = std::vector<std::vector<size_t>>;

  static bool canMatch(const PassNode &A, const PassNode &B) {
    return A.IsManager == B.IsManager && A.base() == B.base();
  }

  static size_t passes(const PassNode &Node) {
    size_t Count = Node.IsManager ? 0 : 1;
    for (const PassNode &Child : Node.Children)
      Count += passes(Child);
    return std::max<size_t>(Count, 1);
  }

  size_t matchCost(const PassNode &A, const PassNode &B) {
    const size_t Own = A.Name != B.Name;
    if (!A.IsManager)
      return Own;
    auto [Known, IsNew] = Inner.try_emplace(std::pair(&A, &B), 0);
    if (IsNew)
      // The table may grow meanwhile: look it up again.
      Inner[std::pair(&A, &B)] = costs(A.Children, B.Children)[0][0];
    return Own + Inner[std::pair(&A, &B)];
  }

  /// Of what follows the I-th of A and the J-th of B.
  Table costs(const List &A, const List &B) {
    Table Costs(A.size() + 1, std::vector<size_t>(B.size() + 1, 0));
    for (size_t I = A.size() + 1; I-- > 0;)
      for (size_t J = B.size() + 1; J-- > 0;) {
        if (I == A.size() && J == B.size())
          continue;
        size_t Best = SIZE_MAX;
        if (I < A.size())
          Best = std::min(Best, Costs[I + 1][J] + passes(A[I]));
        if (J < B.size())
          Best = std::min(Best, Costs[I][J + 1] + passes(B[J]));
        if (I < A.size() && J < B.size() && canMatch(A[I], B[J]))
          Best = std::min(Best, Costs[I + 1][J + 1] + matchCost(A[I], B[J]));
        Costs[I][J] = Best;
      }
    return Costs;
  }

  /// A manager that is on one side only is no edit, its passes are.
  static Step oneSided(const PassNode &Node, bool Deleted) {
    Step S;
    S.IsManager = Node.IsManager;
    if (S.IsManager)
      S.Before = S.After = Node.Name;
    else
      (Deleted ? S.Before : S.After) = Node.Name;
    for (const PassNode &Child : Node.Children)
      S.Children.push_back(oneSided(Child, Deleted));
    return S;
  }

  std::map<std::pair<const PassNode *, const PassNode *>, size_t> Inner;
};

PipelineDiff::PipelineDiff(const Pipeline &From, const Pipeline &To)
    : Steps(PipelineAligner().align(From, To)) {
  number(Steps, "module");
}

void PipelineDiff::number(std::vector<Step> &In, const std::string &Kind) {
  for (size_t I = 0; I < In.size(); ++I) {
    Step &S = In[I];
    std::string Text;
    if (S.Before.empty()) {
      // Notes are for people: parameters stay in the pipeline's text.
      Text = "insert " + std::string(passBase(S.After));
      const auto Next =
          std::find_if(In.begin() + long(I), In.end(), [](const Step &Other) {
            return !Other.IsManager && !Other.Before.empty();
          });
      if (Next != In.end())
        Text += " before " + std::string(passBase(Next->Before));
    } else if (S.After.empty()) {
      Text = "delete " + std::string(passBase(S.Before));
    } else if (S.Before != S.After) {
      Text = "change " + S.Before + " to " + S.After;
    }
    if (!Text.empty()) {
      S.Edit = int(Texts.size());
      Texts.push_back(Text + " in " + (Kind.empty() ? "?" : Kind));
    }
    if (S.IsManager)
      number(S.Children, childKind(PassNode{S.Before, true, {}}, Kind));
  }
}

void PipelineDiff::emit(const std::vector<Step> &List,
                        const std::vector<bool> &Wanted, Pipeline &Into) {
  for (const Step &S : List) {
    const bool Edited = S.Edit >= 0 && Wanted[size_t(S.Edit)];
    const std::string &Name = Edited ? S.After : S.Before;
    PassNode Node{Name, S.IsManager, {}};
    if (S.IsManager)
      emit(S.Children, Wanted, Node.Children);
    if (S.IsManager ? !Node.Children.empty() : !Name.empty())
      Into.push_back(std::move(Node));
  }
}

Pipeline PipelineDiff::apply(const std::vector<bool> &Wanted) const {
  Pipeline Result;
  emit(Steps, Wanted, Result);
  return Result;
}

} // namespace r3
