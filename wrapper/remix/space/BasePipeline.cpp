// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers the sites of a pipeline and applies edits. The way back is in
// PipelineDiff.cpp.
#include "wrapper/remix/space/BasePipeline.h"

#include <array>
#include <span>

namespace r3 {

/// Parameters in one order and without empty ones, so that the same pass is
/// the same text.
static void normalise(Pipeline &List, const PassCatalogue &Catalogue) {
  for (PassNode &Node : List) {
    normalise(Node.Children, Catalogue);
    auto Pass = Node.IsManager ? std::nullopt : Catalogue.find(Node.base());
    auto Setting =
        Pass ? Catalogue.Usable[*Pass].settingOf(Node.Name) : std::nullopt;
    if (Setting)
      Node.Name = Catalogue.Usable[*Pass].text(*Setting);
  }
}

Expected<BasePipeline> BasePipeline::parse(const std::string &Text,
                                           const PassCatalogue &Catalogue) {
  auto Parsed = parsePipeline(Text);
  if (!Parsed)
    return Parsed.error();
  BasePipeline Result;
  Result.Catalogue = &Catalogue;
  Result.Text = std::move(*Parsed);
  normalise(Result.Text, Catalogue);
  Result.Root.Kind = "module";
  std::map<std::string, int> Seen;
  Result.number(Result.Text, Result.Root, Seen);
  for (size_t I = 0; I < Result.Sites.size(); ++I)
    Result.ByKey.emplace(Result.Sites[I].Key, int32_t(I));
  return Result;
}

int32_t BasePipeline::addGap(const std::string &Kind, const std::string &Key) {
  PipelineSite Site;
  Site.Kind = Kind;
  Site.IsGap = true;
  Site.Key = Key;
  Sites.push_back(std::move(Site));
  return int32_t(Sites.size()) - 1;
}

void BasePipeline::addLeaf(Element &E, const std::string &Kind,
                           const std::string &Key) {
  PipelineSite Site;
  Site.Kind = Kind;
  Site.Key = Key;
  Site.Text = E.Name;
  if (auto Pass = Catalogue->find(passBase(E.Name))) {
    Site.Pass = int32_t(*Pass);
    auto Setting = Catalogue->Usable[*Pass].settingOf(E.Name);
    Site.CanSay = Setting.has_value();
    Site.Setting = Setting.value_or(0);
  }
  E.Leaf = int32_t(Sites.size());
  E.DeleteCost = 1;
  Sites.push_back(std::move(Site));
}

/// A place's key is the pass that stands there, in which kind of list, and how
/// often it stood before: what of it is the same in another level's pipeline
/// has the same key.
void BasePipeline::number(const Pipeline &List, Element &Into,
                          std::map<std::string, int> &Seen) {
  for (const PassNode &Node : List) {
    Element E;
    E.Name = Node.Name;
    E.IsManager = Node.IsManager;
    std::string Key = Into.Kind + " ";
    Key += Node.base();
    Key += " " + std::to_string(Seen[Key]++);
    E.Gap = Into.Kind.empty() ? -1 : addGap(Into.Kind, "before " + Key);
    if (Node.IsManager) {
      E.Kind = childKind(Node, Into.Kind);
      number(Node.Children, E, Seen);
    } else if (!Into.Kind.empty() && !isInert(Node)) {
      addLeaf(E, Into.Kind, Key);
    } else {
      E.DeleteCost = Impossible;
    }
    Into.DeleteCost = std::min(Into.DeleteCost + E.DeleteCost, Impossible);
    Into.Children.push_back(std::move(E));
  }
  std::string Key = "end " + Into.Kind + " " + Into.Name;
  Key += " " + std::to_string(Seen[Key]++);
  Into.EndGap = Into.Kind.empty() ? -1 : addGap(Into.Kind, Key);
}

std::optional<int32_t> BasePipeline::findSite(const std::string &Key) const {
  auto Found = ByKey.find(Key);
  return Found == ByKey.end() ? std::nullopt
                              : std::optional<int32_t>(Found->second);
}

/// The managers, from the outside, that a pass for lists of kind Own needs in
/// a list of kind Outer; nothing where it cannot stand there.
static std::optional<std::vector<std::string>>
managersFor(const std::string &Own, const std::string &Outer) {

  if (Own == Outer)
    return std::vector<std::string>();
  const bool InLoop = Own == "loop" || Own == "loop-mssa";
  std::vector<std::string> Managers;
  if (Outer == "function" && InLoop)
    return std::vector<std::string>{Own};
  if ((Outer == "module" || Outer == "cgscc") && InLoop)
    return std::vector<std::string>{"function", Own};
  if ((Outer == "module" || Outer == "cgscc") && Own == "function")
    return std::vector<std::string>{"function"};
  if (Outer == "module" && Own == "cgscc")
    return std::vector<std::string>{"cgscc"};
  return std::nullopt;
}

/// The kind of list, of those that Pass may stand in, that is the nearest to
/// Outer.
static std::optional<std::vector<std::string>>
managersFor(const CatalogPass &Pass, const std::string &Outer) {
  std::optional<std::vector<std::string>> Best;
  for (const std::string &Own : Pass.Lists) {
    auto Managers = managersFor(Own, Outer);
    if (Managers && (!Best || Managers->size() < Best->size()))
      Best = std::move(Managers);
  }
  return Best;
}

bool BasePipeline::canInsert(const CatalogPass &Pass, const std::string &Kind) {
  return managersFor(Pass, Kind).has_value();
}

PassNode BasePipeline::inserted(const PassEdit &Edit,
                                const std::string &Kind) const {
  const CatalogPass &Pass = Catalogue->Usable[size_t(Edit.Pass)];
  PassNode Node{Pass.text(Edit.Setting), false, {}};
  auto Managers = managersFor(Pass, Kind).value_or(std::vector<std::string>());
  for (auto Manager = Managers.rbegin(); Manager != Managers.rend(); ++Manager)
    Node = {*Manager, true, {std::move(Node)}};
  return Node;
}

/// Next: the first edit that is not applied yet.
void BasePipeline::build(const Element &From, const PassEdits &Edits,
                         size_t &Next, Pipeline &Into) const {
  auto Insert = [&](int32_t Gap) {
    for (; Next < Edits.size() && Edits[Next].Site == Gap; ++Next)
      Into.push_back(inserted(Edits[Next], From.Kind));
  };
  Into.reserve(From.Children.size() + Edits.size());
  for (const Element &E : From.Children) {
    Insert(E.Gap);
    if (E.IsManager) {
      PassNode Manager{E.Name, true, {}};
      build(E, Edits, Next, Manager.Children);
      if (!Manager.Children.empty())
        Into.push_back(std::move(Manager));
    } else if (E.Leaf >= 0 && Next < Edits.size() &&
               Edits[Next].Site == E.Leaf) {
      const PassEdit &Edit = Edits[Next++];
      if (Edit.Pass != PassEdit::Delete)
        Into.push_back({Catalogue->Usable[size_t(Edit.Pass)].text(Edit.Setting),
                        false,
                        {}});
    } else {
      Into.push_back({E.Name, false, {}});
    }
  }
  Insert(From.EndGap);
}

Pipeline BasePipeline::edited(const PassEdits &Edits) const {
  Pipeline Result;
  size_t Next = 0;
  build(Root, Edits, Next, Result);
  return Result;
}

} // namespace r3
