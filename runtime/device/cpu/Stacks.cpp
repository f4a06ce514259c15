// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One mapping for all stacks of a block; pages are touched on use only.
#include "runtime/device/cpu/Stacks.h"

#include <sys/mman.h>

namespace r3::cpu {

static constexpr uint64_t Page = 4096;

StackSet::~StackSet() { release(); }

void StackSet::release() {
  if (Where)
    munmap(reinterpret_cast<void *>(Where), Stride * Count);
  Where = 0;
  Count = 0;
}

bool StackSet::provide(uint32_t Wanted, uint64_t Bytes) {
  if (Where && Wanted <= Count && Bytes <= Usable)
    return true;
  uint64_t Size = Bytes > Usable ? Bytes : Usable;
  uint32_t Number = Wanted > Count ? Wanted : Count;
  release();
  Size = (Size + Page - 1) / Page * Page;
  // A guard page, and one more so that distances are no power of two.
  Stride = Size + 2 * Page;
  if (Stride / Page % 2 == 0)
    Stride += Page;
  void *Memory =
      mmap(nullptr, Stride * Number, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (Memory == MAP_FAILED)
    return false;
  Where = reinterpret_cast<Address>(Memory);
  Usable = Size;
  Count = Number;
  for (uint32_t I = 0; I < Count; ++I)
    mprotect(reinterpret_cast<void *>(Where + I * Stride), Page, PROT_NONE);
  return true;
}

AddressRange StackSet::stack(uint32_t Index) const {
  uint64_t Shift = Index % 16 * 192; // of the top, inside the spare page
  return {Where + Index * Stride + Page, Stride - Page - Shift};
}

} // namespace r3::cpu
