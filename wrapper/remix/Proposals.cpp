// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variants from a list, and from an optimiser.
#include "wrapper/remix/Proposals.h"

#include "wrapper/remix/optimizer/Optimizer.h"
#include "wrapper/remix/space/KernelSpace.h"

#include <deque>

namespace r3 {

namespace {

class List : public Proposals {
public:
  explicit List(std::vector<Candidate> All) : All(std::move(All)) {}
  std::optional<size_t> count() const override { return All.size(); }
  std::vector<std::pair<std::string, size_t>> dimensions() const override {
    return {{"variants", All.size()}};
  }
  std::optional<Candidate> next() override {
    if (At == All.size())
      return std::nullopt;
    return All[At++];
  }
  void learn(std::optional<double>) override {}

private:
  std::vector<Candidate> All;
  size_t At = 0;
};

class Optimised : public Proposals {
public:
  Optimised(std::unique_ptr<KernelSpace> Space, std::unique_ptr<Optimizer> By)
      : Space(std::move(Space)), By(std::move(By)) {}

  std::optional<size_t> count() const override {
    auto All = Space->all(MostCounted);
    return All ? std::optional(All->size()) : std::nullopt;
  }
  std::vector<std::pair<std::string, size_t>> dimensions() const override {
    return Space->dimensions();
  }
  std::optional<Candidate> next() override {
    auto Next = By->propose();
    if (!Next)
      return std::nullopt;
    Out.push_back(*Next);
    return Space->candidate(*Next);
  }
  void learn(std::optional<double> Cost) override {
    By->tell(Out.front(), Cost);
    Out.pop_front();
  }

private:
  static constexpr size_t MostCounted = 100000;
  std::unique_ptr<KernelSpace> Space;
  std::unique_ptr<Optimizer> By;
  std::deque<Point> Out; // not learnt of yet, the oldest first
};

std::string nameOf(const SpaceLimits &Limits) {
  std::string Text;
  if (Limits.Applicable)
    Text += " applicable";
  if (Limits.Edits)
    Text += format(" edits=%zu", *Limits.Edits);
  for (const auto &[Key, Values] : Limits.Values) {
    Text += " " + Key + "=";
    for (const std::string &Value : Values)
      Text += Value + ",";
  }
  return Text;
}

} // namespace

ProposalSource listed(
    std::string Name,
    std::function<Expected<std::vector<Candidate>>(const SpaceInput &)> Draw) {
  return {std::move(Name),
          [Draw](const SpaceInput &In) -> Expected<std::unique_ptr<Proposals>> {
            auto All = Draw(In);
            if (!All)
              return All.error();
            return std::unique_ptr<Proposals>(new List(std::move(*All)));
          }};
}

ProposalSource thinProposals() { return listed("thin 1", thinSpace); }

ProposalSource optimizerProposals(const std::string &Optimizer,
                                  const SpaceLimits &Limits) {
  return {Optimizer + " 3" + nameOf(Limits),
          [=](const SpaceInput &In) -> Expected<std::unique_ptr<Proposals>> {
            auto Passes = PassCatalogue::readInstalled();
            if (!Passes)
              return Passes.error();
            auto Space = KernelSpace::make(In, std::move(*Passes), Limits);
            if (!Space)
              return Space.error();
            auto By = makeOptimizer(Optimizer, **Space, In.Seed);
            if (!By)
              return fail(ErrorCode::Usage, "no optimizer '%s'",
                          Optimizer.c_str());
            return std::unique_ptr<Proposals>(
                new Optimised(std::move(*Space), std::move(By)));
          }};
}

} // namespace r3
