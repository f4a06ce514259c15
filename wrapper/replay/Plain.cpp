// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/replay/Plain.h"

namespace r3::replay {

std::vector<uint8_t> PlainLaunch::serialize() const {
  ByteWriter W;
  W.u64(Words.size());
  for (const Word &Each : Words) {
    W.u64(Each.Offset);
    W.u64(Each.Range);
  }
  W.u64(Filled.size());
  for (const IntervalSet &Each : Filled)
    Each.write(W);
  return W.take();
}

Expected<PlainLaunch> PlainLaunch::parse(std::span<const uint8_t> Bytes) {
  ByteReader R(Bytes, "a launch in plain memory");
  PlainLaunch L;
  L.Words.resize(R.count(16));
  for (Word &Each : L.Words) {
    Each.Offset = R.u64();
    Each.Range = R.u64();
  }
  L.Filled.resize(R.count(8));
  for (IntervalSet &Each : L.Filled)
    Each = IntervalSet::read(R);
  if (Error E = R.finish())
    return E;
  return L;
}

} // namespace r3::replay
