// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The search space of a kernel: a default pipeline and edits of it, and the
// dimensions of Dimensions.h. A point is
//   base  value of each dimension  (site  pass  setting)*
// base: which default pipeline (0: the unit's own). The edits are the shortest
// list that gives the pipeline, from the default pipeline from which they are
// fewest, so that a variant is one point only. The original is none.
#pragma once

#include "wrapper/remix/optimizer/SearchSpace.h"
#include "wrapper/remix/space/BasePipeline.h"
#include "wrapper/remix/space/Dimensions.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace r3 {

class KernelSpace : public SearchSpace {
public:
  static constexpr size_t MostEdits = MostPassEdits;

  /// A printed pipeline that cannot be taken apart, or a limit that names what
  /// there is not, is an error.
  static Expected<std::unique_ptr<KernelSpace>>
  make(const SpaceInput &Input, PassCatalogue Catalogue,
       const SpaceLimits &Limits = {});

  size_t featureCount() const override;
  void features(const Point &P, float *Out) const override;
  std::optional<Point> draw(Random &Dice) const override;
  std::optional<Point> step(const Point &P, Random &Dice) const override;
  std::optional<Point> cross(const Point &A, const Point &B,
                             Random &Dice) const override;
  /// Only of a space without edits.
  std::optional<std::vector<Point>> all(size_t AtMost) const override;

  /// Names, with how many values each has: the default pipelines, passes that
  /// may be inserted (where there may be edits), and the rest.
  std::vector<std::pair<std::string, size_t>> dimensions() const;

  /// What a point means. P: from this space.
  Candidate candidate(const Point &P) const;

private:
  /// A default pipeline.
  struct Base {
    std::string Level;      // "O3"
    bool IsPrinted = false; // the printed form, where it is not the same
    std::shared_ptr<const BasePipeline> Printed;
    PassUses Uses; // of Printed
  };
  struct Parts {
    size_t Base = 0;
    std::vector<size_t> Values; // one a dimension
    PassEdits Edits;
  };
  /// Passes that may be inserted into lists of one kind.
  struct Pool {
    std::vector<size_t> Usual;  // in the default pipelines
    std::vector<size_t> Active; // others that changed code where it was tried
    std::vector<size_t> Idle;
    bool empty() const {
      return Usual.empty() && Active.empty() && Idle.empty();
    }
  };

  KernelSpace() = default;
  Error addBases(const SpaceInput &Input, const SpaceLimits &Limits);
  void collectPools(const SpaceLimits &Limits);
  size_t pickPass(const Pool &From, Random &Dice) const;
  Parts parts(const Point &P) const;
  /// The point; nothing for the original, for what breaks a known limit and
  /// for too many edits.
  std::optional<Point> point(Parts Made) const;
  bool canonicalEdits(Parts &Made) const;
  void canonicalValues(Parts &Made) const;
  Variant variant(const Parts &Of) const;
  Variant withoutPipeline(const Parts &Of) const;
  std::string note(const Parts &Of) const;
  std::string passName(const Base &In, const PassEdit &Edit) const;
  std::string editNote(const Base &In, const PassEdit &Edit) const;
  std::vector<std::string> editNotes(const Parts &Of) const;

  bool canEdit() const { return EditLimit > 0; }
  bool changeEdits(Parts &Made, Random &Dice) const;
  bool addEdit(Parts &Made, Random &Dice) const;
  bool insert(Parts &Made, Random &Dice) const;
  bool remove(Parts &Made, Random &Dice) const;
  bool repeat(Parts &Made, Random &Dice) const;
  bool move(Parts &Made, Random &Dice) const;
  bool setParameter(Parts &Made, Random &Dice) const;
  int32_t changedSetting(size_t Pass, int32_t Setting, Random &Dice) const;
  void changeValue(Parts &Made, size_t Index, Random &Dice) const;
  void changeBase(Parts &Made, size_t To) const;
  PassEdits transferred(const PassEdits &Edits, size_t From, size_t To) const;
  std::optional<int32_t> gapFor(const Base &In, size_t Pass,
                                const std::string &Kind, Random &Dice) const;

  void editFeatures(const Parts &Of, float *Out) const;

  SpaceInput Input;
  PassCatalogue Catalogue;
  std::vector<Base> Bases;
  std::vector<Dimension> Dimensions;
  std::map<std::string, Pool> Pools;
  std::vector<size_t> UsualSetting; // of each pass, in the default pipelines
  size_t EditLimit = MostEdits;
};

} // namespace r3
