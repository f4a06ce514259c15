// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which launches of a kernel are timed and which are recorded. Of each of the
// first few argument classes the first launch is kept ("early") and the others
// by reservoir sampling over the rest of the run ("late"); a recording whose
// place is taken again is deleted. A launch that changed no memory is no
// evidence: it takes an empty place only, and loses it to a later one that did
// change memory. Such a one is looked for ever more rarely. Pure: no device, no
// clock; the caller holds the kernel's lock.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace r3::record {

struct PolicyOptions {
  uint64_t Skip = 0;    // launches of each kernel to leave out first
  uint64_t Classes = 3; // argument classes kept
  uint64_t Count = 2;   // launches kept for each class
  bool Wanted = true;   // false: counted and timed only
};

class Policy {
public:
  struct Choice {
    bool Sample = false; // time it
    bool Record = false;
    /// The place of the recording; valid where Record is set.
    uint32_t Class = 0;
    uint32_t Slot = 0;
    bool Replaces = false; // the place holds a recording already
  };

  Policy(const PolicyOptions &Options, uint64_t Seed);

  /// One more launch. Key distinguishes launches cheaply (a hash of
  /// configuration and arguments); ClassOf gives the class's canonical text
  /// and is asked only for keys that were not seen lately.
  Choice next(uint64_t Key, const std::function<std::string()> &ClassOf);
  /// The recording that next() asked for is complete. True: it takes the
  /// place. False: what is there stays. Changed: the launch changed memory.
  bool keep(const Choice &C, bool Changed);
  /// It was given up: its place is free again; after a few failures in a row
  /// the kernel is left alone.
  void dropped(const Choice &C);
  /// No further recording of this kernel.
  void giveUp() { Wanted = false; }
  bool isWanted() const { return Wanted; }

  uint64_t launches() const { return Launches; }

private:
  enum class Place : uint8_t { Empty, Unchanged, Changed };
  struct Class {
    uint64_t Seen = 0; // launches since the early one was kept
    std::vector<Place> Places;
    // Launches to the next try at a place that holds an unchanged one.
    uint64_t Left = 1, Wait = 1;
  };
  /// Index of the class, or -1 for one too many.
  int classify(uint64_t Key, const std::function<std::string()> &ClassOf);
  bool place(Class &C, Choice &Out);
  static bool isTryDue(Class &C, Choice &Out);

  const PolicyOptions Options;
  bool Wanted;
  std::mt19937_64 Random;
  uint64_t Launches = 0;
  unsigned Failures = 0;
  std::vector<Class> Kept;
  std::unordered_map<std::string, int> ByText;
  std::unordered_map<uint64_t, int> ByKey;
};

} // namespace r3::record
