// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An ordered map under one lock; allocation is rare beside launches.
#include "runtime/record/Allocations.h"

namespace r3::record {

void Allocations::add(const Allocation &New) {
  if (!New.Begin || !New.Size)
    return;
  std::lock_guard Guard(Lock);
  auto It = ByAddress.upper_bound(New.Begin);
  if (It != ByAddress.begin() && std::prev(It)->second.end() > New.Begin)
    --It;
  while (It != ByAddress.end() && It->first < New.end()) {
    Live -= It->second.Size;
    It = ByAddress.erase(It);
  }
  ByAddress.emplace(New.Begin, New);
  Live += New.Size;
}

std::optional<Allocation> Allocations::remove(Address Begin) {
  std::lock_guard Guard(Lock);
  auto It = ByAddress.find(Begin);
  if (It == ByAddress.end())
    return {};
  Allocation Old = It->second;
  Live -= Old.Size;
  ByAddress.erase(It);
  return Old;
}

void Allocations::removeDevice(int Ordinal) {
  std::lock_guard Guard(Lock);
  for (auto It = ByAddress.begin(); It != ByAddress.end();) {
    if (It->second.Ordinal != Ordinal) {
      ++It;
      continue;
    }
    Live -= It->second.Size;
    It = ByAddress.erase(It);
  }
}

std::optional<Allocation> Allocations::find(Address Where) const {
  std::lock_guard Guard(Lock);
  auto It = ByAddress.upper_bound(Where);
  if (It == ByAddress.begin())
    return {};
  --It;
  if (Where >= It->second.end())
    return {};
  return It->second;
}

std::vector<Allocation> Allocations::snapshot() const {
  std::lock_guard Guard(Lock);
  std::vector<Allocation> All;
  All.reserve(ByAddress.size());
  for (const auto &[Begin, A] : ByAddress)
    All.push_back(A);
  return All;
}

uint64_t Allocations::liveBytes() const {
  std::lock_guard Guard(Lock);
  return Live;
}

} // namespace r3::record
