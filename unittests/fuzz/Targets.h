// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every reader of untrusted bytes as a fuzz target: a function that must
// return for any input, and that checks what must hold where it accepts one
// (what is written again reads as the same). Used by libFuzzer (Main.cpp) and
// by the short test that needs no special compiler (FuzzTest.cpp).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace r3::fuzz {

using Bytes = std::vector<uint8_t>;

struct Target {
  std::string_view Name;
  /// Whether the input was accepted.
  bool (*Run)(std::span<const uint8_t> Input);
  /// Well-formed inputs to start from.
  std::vector<Bytes> (*Seeds)();
  /// Makes checksums right again, so that mutations reach what lies behind
  /// them; null where a format has none.
  void (*Seal)(Bytes &Input);
};

std::span<const Target> targets();
const Target *findTarget(std::string_view Name);

/// Aborts, with Text on stderr, where a property of a reader does not hold.
void require(bool Holds, const char *Text);

} // namespace r3::fuzz
