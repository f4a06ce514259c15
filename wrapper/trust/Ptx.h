// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a text of PTX consists of, as far as trust asks: its kernels, what they
// call and read from outside, and how often each instruction stands in it.
// Nothing is understood of operands, and text that is no PTX gives no error:
// the assembler judges that.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace r3::trust {

struct PtxParameter {
  uint64_t Size = 0, Alignment = 0;
  bool operator==(const PtxParameter &) const = default;
};

struct Ptx {
  std::map<std::string, std::vector<PtxParameter>> Entries;
  /// Functions that the text declares only, and variables that keep what is
  /// stored into them from one launch to the next.
  std::set<std::string> Externs, Variables;
  /// What tells one launch from another: "%clock64", "nanosleep", ...
  std::set<std::string> Clocks;
  /// What acts on the L2 cache beyond a launch, with the instruction that does:
  /// "L2::evict_last" of "prefetch.global.L2::evict_last", ...
  std::map<std::string, std::string> CachePolicies;
  bool CallsPointers = false;
  bool SharesMemory = false; // declares or accesses a block's memory
  /// With their modifiers ("fma.rn.f32"), of all functions.
  std::map<std::string, uint64_t> Instructions;
};

Ptx readPtx(std::string_view Text);

/// Whether threads wait for each other somewhere: barriers, and operations of a
/// warp together.
bool synchronizes(const Ptx &Text);

/// Why Given, which a person wrote, cannot stand in for Original, which was
/// generated from the program: another kernel, other parameters, clocks, calls
/// or variables that Original does not have. Empty where it can.
std::string ptxRefusal(const Ptx &Original, const Ptx &Given,
                       const std::string &Kernel);

/// What keeps data in the L2 cache beyond the launch, or takes it out, and is
/// new in Variant, in words: the flush between cold launches does not reach it,
/// and the next launch's time would be flattered. Empty where there is nothing.
/// Levels of prefetches, priorities of L1 and cache operators end with the
/// launch or the flush and are none.
std::string newCachePolicy(const Ptx &Original, const Ptx &Variant);

} // namespace r3::trust
