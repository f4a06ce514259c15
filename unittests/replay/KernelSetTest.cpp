// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a buffer's name stands for where arguments point into one allocation.
#include "wrapper/replay/KernelSet.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace r3;
using namespace r3::replay;

namespace {

constexpr uint64_t Base = 0x700000000000;

/// Two allocations of 1,000 bytes, and pointers "arg0", "arg1", ... to Values.
Recording recording(const std::vector<uint64_t> &Values) {
  Recording R;
  R.Allocations.resize(2);
  R.Allocations[0].Address = Base;
  R.Allocations[1].Address = Base + 4096;
  R.Allocations[0].Size = R.Allocations[1].Size = 1000;
  R.Arguments.resize(8 * Values.size());
  for (uint32_t I = 0; I < Values.size(); ++I) {
    R.Fields.push_back(
        {8 * I, 8, ValueType::Pointer, "arg" + std::to_string(I)});
    std::memcpy(R.Arguments.data() + 8 * I, &Values[I], 8);
  }
  return R;
}

Interval place(const std::string &Name, const Recording &R, size_t Index) {
  return placeOf(Name, R, Index, nameBuffers(R, nullptr)[Index].Name);
}

TEST(KernelSet, ANameIsAWholeAllocation) {
  const Recording R = recording({Base + 4096, Base});
  EXPECT_EQ(place("arg0", R, 1), (Interval{0, 1000}));
  EXPECT_EQ(place("arg1", R, 0), (Interval{0, 1000}));
  EXPECT_EQ(place("arg0", R, 0).size(), 0u);
  EXPECT_EQ(place("arg", R, 0).size(), 0u);
}

TEST(KernelSet, WhatArgumentsPointIntoIsSharedOut) {
  const Recording R = recording({Base + 4, Base + 600, Base + 100, Base + 4});
  EXPECT_EQ(place("arg0", R, 0), (Interval{4, 100}));
  EXPECT_EQ(place("arg1", R, 0), (Interval{600, 1000}));
  EXPECT_EQ(place("arg2", R, 0), (Interval{100, 600}));
  EXPECT_EQ(place("arg3", R, 0), (Interval{4, 100}));
  EXPECT_EQ(nameBuffers(R, nullptr)[0].Name, "arg0-4");
  EXPECT_EQ(place("arg0-4", R, 0), (Interval{4, 100}));
}

TEST(KernelSet, GlobalsAndWhatPointersInMemoryLeadToHaveNames) {
  Recording R = recording({Base + 2000});
  R.Allocations[0].Kind = MemoryKind::Global;
  R.Allocations[0].Global = "queue";
  EXPECT_EQ(place("queue", R, 0), (Interval{0, 1000}));
  EXPECT_EQ(place("0x700000001000", R, 1), (Interval{0, 1000}));
}

} // namespace
