// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device side of the traced build: linked into the closure of a kernel by
// addTrace. Compiled without CUDA's headers, to bitcode for any architecture;
// the CPU device runs it like other device code.
#include "runtime/support/TraceAbi.h"

#define R3_DEVICE __attribute__((device))

using namespace r3::trace;

extern "C" {
R3_DEVICE State __r3_trace_state;

/// The module's constants, which no recording covers: defined by addTrace.
struct Constant {
  const void *Begin;
  uint64_t Size;
};
extern R3_DEVICE const Constant __r3_trace_constants[];
extern R3_DEVICE const uint64_t __r3_trace_constant_count;
}

namespace {

R3_DEVICE const Range *find(uint64_t Where, uint64_t End) {
  const auto *Ranges = reinterpret_cast<const Range *>(__r3_trace_state.Ranges);
  uint64_t Low = 0, High = __r3_trace_state.Count;
  while (Low < High) {
    const uint64_t Middle = (Low + High) / 2;
    if (Where >= Ranges[Middle].End)
      Low = Middle + 1;
    else
      High = Middle;
  }
  return Low < __r3_trace_state.Count && Where >= Ranges[Low].Begin &&
                 End <= Ranges[Low].End
             ? &Ranges[Low]
             : nullptr;
}

R3_DEVICE bool isConstant(uint64_t Where, uint64_t End) {
  for (uint64_t I = 0; I < __r3_trace_constant_count; ++I) {
    const auto Begin =
        reinterpret_cast<uint64_t>(__r3_trace_constants[I].Begin);
    if (Where >= Begin && End <= Begin + __r3_trace_constants[I].Size)
      return true;
  }
  return false;
}

R3_DEVICE void mark(uint64_t Bitmap, uint64_t Bit, uint64_t Size) {
  auto *Words = reinterpret_cast<uint32_t *>(Bitmap);
  for (const uint64_t End = Bit + Size; Bit < End;) {
    const uint32_t Shift = Bit % 32;
    const uint64_t Count = End - Bit < 32 - Shift ? End - Bit : 32 - Shift;
    const uint32_t Mask = (Count == 32 ? 0xffffffffu : (1u << Count) - 1)
                          << Shift;
    uint32_t *Word = Words + Bit / 32;
    // Most accesses mark what is marked.
    if ((__atomic_load_n(Word, __ATOMIC_RELAXED) & Mask) != Mask)
      __atomic_fetch_or(Word, Mask, __ATOMIC_RELAXED);
    Bit += Count;
  }
}

R3_DEVICE void report(uint64_t Where, uint64_t Size, uint32_t Kind,
                      uint32_t Site) {
  State &S = __r3_trace_state;
  if (__atomic_fetch_add(&S.Outside, 1u, __ATOMIC_RELAXED))
    return;
  S.First.Address = Where;
  S.First.Size = Size;
  S.First.Kind = Kind;
  S.First.Site = Site;
  S.First.Block[0] = __nvvm_read_ptx_sreg_ctaid_x();
  S.First.Block[1] = __nvvm_read_ptx_sreg_ctaid_y();
  S.First.Block[2] = __nvvm_read_ptx_sreg_ctaid_z();
  S.First.Thread[0] = __nvvm_read_ptx_sreg_tid_x();
  S.First.Thread[1] = __nvvm_read_ptx_sreg_tid_y();
  S.First.Thread[2] = __nvvm_read_ptx_sreg_tid_z();
}

} // namespace

/// Marks an access; false where it is outside of all recorded memory.
extern "C" R3_DEVICE bool __r3_trace_access(const void *Pointer, uint64_t Size,
                                            uint32_t Kind, uint32_t Site) {
  if (!Size || !__nvvm_isspacep_global(Pointer))
    return true;
  const auto Where = reinterpret_cast<uint64_t>(Pointer);
  const uint64_t End = Where + Size;
  const Range *R = End > Where ? find(Where, End) : nullptr;
  if (!R) {
    if (Kind == Read && End > Where && isConstant(Where, End))
      return true;
    report(Where, Size, Kind, Site);
    return false;
  }
  const uint64_t Bit = R->Bit + (Where - R->Begin);
  if (Kind & Read)
    mark(__r3_trace_state.ReadBits, Bit, Size);
  if (Kind & Write)
    mark(__r3_trace_state.WrittenBits, Bit, Size);
  return true;
}
