// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The entry of libFuzzer: one executable a target, named by R3_FUZZ_TARGET.
// A custom mutator seals checksums, or hardly an input would get past them.
#include "unittests/fuzz/Targets.h"

#include <cstddef>
#include <cstring>

using namespace r3::fuzz;

extern "C" size_t LLVMFuzzerMutate(uint8_t *Data, size_t Size, size_t MaxSize);

static const Target &target() {
  static const Target &Found = *findTarget(R3_FUZZ_TARGET);
  return Found;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  target().Run({Data, Size});
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *Data, size_t Size,
                                          size_t MaxSize, unsigned Seed) {
  if (!Size) {
    std::vector<Bytes> Seeds = target().Seeds();
    const Bytes &Start = Seeds[Seed % Seeds.size()];
    Size = Start.size() < MaxSize ? Start.size() : MaxSize;
    std::memcpy(Data, Start.data(), Size);
  } else {
    Size = LLVMFuzzerMutate(Data, Size, MaxSize);
  }
  if (target().Seal && Seed % 4) {
    Bytes Copy(Data, Data + Size);
    target().Seal(Copy);
    std::memcpy(Data, Copy.data(), Size);
  }
  return Size;
}
