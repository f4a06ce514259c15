// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The thin search space of a kernel: clang's default pipelines, single edits
// of the printed default pipeline, levels of code generation and, on a GPU,
// register limits. The whole space is drawn at once, in random order, from the
// seed alone, so that a search that is continued meets the same variants.
#pragma once

#include "runtime/support/Recording.h"
#include "runtime/support/Variant.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace r3 {

/// What one recorded launch says of what a variant may be made for.
struct SpaceLaunch {
  LaunchConfig Launch;
  std::map<std::string, int64_t> Scalars;   // integer parameters
  std::map<std::string, uint64_t> Pointers; // largest power of two up to 256
                                            // that divides the address
};

/// Parameters alone: what is a field of one cannot be specialised.
SpaceLaunch spaceLaunch(const Recording &R);

struct SpaceInput {
  std::string Backend; // "cuda" or "cpu"
  std::string Arch;    // "sm_90": of the program's device code
  std::string Level;   // at which the program's unit was compiled: "O2"
  /// The recordings that the search sees.
  std::vector<SpaceLaunch> Launches;
  /// Printed default pipelines by level, from the worker.
  std::map<std::string, std::string> Pipelines;
  uint64_t Seed = 0;
};

struct Candidate {
  Variant Change;
  std::string Note; // for people: "delete licm in loop-mssa"
};

/// How many single edits are drawn.
inline constexpr size_t EditCount = 20;

/// Distinct variants in random order. A printed pipeline that this code cannot
/// take apart is an error that names the offset.
Expected<std::vector<Candidate>> thinSpace(const SpaceInput &Input);

} // namespace r3
