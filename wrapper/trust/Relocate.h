// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same launch at other addresses: each allocation moves by so little that
// it keeps the alignment that the original relies on, and no better one. Who
// relies on more has taken it from the recorded addresses.
#pragma once

#include "runtime/support/Recording.h"

#include <cstdint>
#include <vector>

namespace r3::trust {

class Relocation {
public:
  /// Alignments: one an allocation of R, powers of two. Allocations that touch
  /// stay together, since an address between them may belong to either; no two
  /// come nearer to each other than they touch. Module globals stay.
  Relocation(const Recording &R, const std::vector<uint64_t> &Alignments);

  /// R over there: allocations, and addresses in the arguments (in pointer
  /// fields, in integers of 8 bytes, and in bytes of unknown type).
  Recording apply(const Recording &R) const;
  /// Whether a word of 8 bytes is an address of what moves, or its end.
  bool isAddress(uint64_t Word) const { return find(Word) != nullptr; }
  /// Nothing moves.
  bool empty() const { return Moves.empty(); }

  /// Words of R's arguments that are addresses of what moves.
  struct ArgumentWord {
    uint64_t Offset = 0;
    size_t Allocation = 0; // of R
  };
  std::vector<ArgumentWord> argumentWords(const Recording &R) const;

private:
  struct Move {
    uint64_t Begin = 0, End = 0, By = 0;
    size_t Allocation = 0;
  };
  const Move *find(uint64_t Word) const;

  std::vector<Move> Moves; // by address
};

} // namespace r3::trust
