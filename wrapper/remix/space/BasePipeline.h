// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A printed default pipeline, and pipelines as lists of edits of it. Edits
// refer to sites: the passes of the pipeline, and the gaps before, between and
// behind the elements of its lists, numbered from its beginning. What stands
// in a gap is wrapped into the managers that it needs ("loop-mssa(licm)" in a
// list of function passes), so that every list of edits gives a well-nested
// pipeline; managers that are left empty go.
//
// A pipeline has one list of edits, however it was come by: the shortest,
// found by aligning it with the default pipeline list by list (Wagner and
// Fischer 1974, Selkow 1977), where of equal ones changes come before
// deletions and those before insertions.
#pragma once

#include "wrapper/remix/PipelineText.h"
#include "wrapper/remix/space/PassCatalogue.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace r3 {

struct PassEdit {
  static constexpr int32_t Delete = -1;
  int32_t Site = 0;
  int32_t Pass = Delete; // of the catalogue: inserted into a gap, or in place
                         // of the same pass with other parameters
  int32_t Setting = 0;   // of its parameters

  bool operator==(const PassEdit &) const = default;
};

/// By site; those of one gap in their order.
using PassEdits = std::vector<PassEdit>;

/// The passes of a pipeline, each with its setting (-1 where the catalogue
/// cannot say it), in order of these numbers. Without those that the catalogue
/// does not have.
using PassUses = std::vector<std::pair<int32_t, int32_t>>;

/// Between pipelines with these passes lie at least so many edits.
size_t leastEdits(const PassUses &A, const PassUses &B);

struct PipelineSite {
  std::string Kind; // of the list
  bool IsGap = false;
  std::string Key; // the same place in another default pipeline
  // Of a pass:
  std::string Text;
  int32_t Pass = -1;   // of the catalogue, -1: not there or not usable
  int32_t Setting = 0; // if its text can be said by the catalogue
  bool CanSay = false; // whether it can
};

class BasePipeline {
public:
  /// Catalogue must outlive it.
  static Expected<BasePipeline> parse(const std::string &Text,
                                      const PassCatalogue &Catalogue);

  const std::vector<PipelineSite> &sites() const { return Sites; }
  std::optional<int32_t> findSite(const std::string &Key) const;
  /// The pipeline itself.
  const Pipeline &original() const { return Text; }

  /// Whether a pass may stand in a list of this kind, alone or wrapped.
  static bool canInsert(const CatalogPass &Pass, const std::string &Kind);
  /// Edits must be sorted by site and fit their sites.
  Pipeline edited(const PassEdits &Edits) const;
  PassUses usesWith(const PassEdits &Edits) const;
  /// The edits that make Result; nothing where no edits do, or more than
  /// AtMost.
  std::optional<PassEdits> editsOf(const Pipeline &Result, size_t AtMost) const;

private:
  struct Element {
    std::string Name;
    int32_t Gap = 0;   // the site before it
    int32_t Leaf = -1; // its own, of a pass that may be edited
    bool IsManager = false;
    int64_t DeleteCost = 0; // of it all; Impossible where something must stay
    std::string Kind;       // of its children
    std::vector<Element> Children;
    int32_t EndGap = 0; // the site behind the last child
  };
  struct Aligner;
  static constexpr int64_t Impossible = 1 << 20; // as a cost

  void number(const Pipeline &List, Element &Into,
              std::map<std::string, int> &Seen);
  int32_t addGap(const std::string &Kind, const std::string &Key);
  void addLeaf(Element &E, const std::string &Kind, const std::string &Key);
  PassNode inserted(const PassEdit &Edit, const std::string &Kind) const;
  void build(const Element &From, const PassEdits &Edits, size_t &Next,
             Pipeline &Into) const;

  const PassCatalogue *Catalogue = nullptr;
  Pipeline Text;
  Element Root; // a manager of the whole
  std::vector<PipelineSite> Sites;
  std::map<std::string, int32_t> ByKey;
};

} // namespace r3
