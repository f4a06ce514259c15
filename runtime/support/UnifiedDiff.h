// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unified diffs (as "diff -u" and git write them) of files that exist: read,
// and applied to text. A hunk must fit exactly: its context and removed lines
// are those of the file, at the line that it names or, where lines were added
// or removed above, at the nearest place where they are. Files that a diff
// creates, removes, renames, or that lie outside of the root are errors.
#pragma once

#include "runtime/support/Error.h"

#include <string>
#include <string_view>
#include <vector>

namespace r3 {

struct DiffHunk {
  size_t OldLine = 0; // of its first line in the old file, from 1
  struct Line {
    char Kind = ' ';  // ' ', '-' or '+'
    std::string Text; // with its end of line, if it has one
  };
  std::vector<Line> Lines;
};

struct FileDiff {
  std::string Path; // from the root, without "a/" and "b/"
  std::vector<DiffHunk> Hunks;

  /// The new text; Stale where a hunk does not fit.
  Expected<std::string> apply(std::string_view Old) const;
  /// Text of all added lines, for checks of what a change spells.
  std::string added() const;
};

/// Name is used in messages.
Expected<std::vector<FileDiff>> parseUnifiedDiff(std::string_view Text,
                                                 const std::string &Name);

} // namespace r3
