// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A variant as a list of changes, any of which can be left out.
#pragma once

#include "wrapper/remix/PipelineDiff.h"

#include "runtime/support/Variant.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace r3 {

class VariantParts {
public:
  /// Level: of the unit. Pipelines: the printed default ones by level; edits
  /// are against that of Level, or against "default<LEVEL>" where the
  /// variant's own text names a default pipeline. A text that cannot be taken
  /// apart is one change.
  VariantParts(const Variant &Whole, const std::string &Level,
               const std::map<std::string, std::string> &Pipelines);

  /// For people: "delete licm in loop-mssa", "maxnreg 64", "n = 100".
  const std::vector<std::string> &names() const { return Names; }
  /// The variant with these changes alone (indexes, ascending), its patch, and
  /// its guards where something may rely on them.
  Variant with(const std::vector<size_t> &Kept) const;

private:
  void addPipeline(const std::string &Level,
                   const std::map<std::string, std::string> &Pipelines);

  void add(std::string Name, std::function<void(Variant &)> Leave);
  void addText(const char *Name, std::string Variant::*Member);
  void addNumber(const char *Name, uint32_t Variant::*Member);

  Variant Whole;
  std::vector<std::string> Names;
  /// Of the changes behind those of the pipeline.
  std::vector<std::function<void(Variant &)>> LeaveOut;
  std::optional<PipelineDiff> Diff; // its edits are the first changes
  bool HasPipeline = false;         // the next one: that there is one at all
  size_t PipelineAt = 0;
};

} // namespace r3
