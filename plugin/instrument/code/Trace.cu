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
/// Number of the first of Size bytes of the block's shared memory: its
/// variables one after another, dynamic memory last. Defined by addTrace.
R3_DEVICE uint64_t __r3_trace_shared(const void *Pointer, uint64_t Size);
}

namespace {

R3_DEVICE Range *find(uint64_t Where, uint64_t End) {
  auto *Ranges = reinterpret_cast<Range *>(__r3_trace_state.Ranges);
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

R3_DEVICE uint32_t *wordOf(uint64_t Bitmap, uint64_t Bit) {
  return reinterpret_cast<uint32_t *>(Bitmap) + Bit / 32;
}

/// Calls Do(Bit, Mask) for each word that holds some of the Size bits from Bit.
template <typename Function>
R3_DEVICE void eachWord(uint64_t Bit, uint64_t Size, Function Do) {
  for (const uint64_t End = Bit + Size; Bit < End;) {
    const uint32_t Shift = Bit % 32;
    const uint64_t Count = End - Bit < 32 - Shift ? End - Bit : 32 - Shift;
    Do(Bit, (Count == 32 ? 0xffffffffu : (1u << Count) - 1) << Shift);
    Bit += Count;
  }
}

R3_DEVICE void mark(uint32_t *Word, uint32_t Mask) {
  // Most accesses mark what is marked.
  if ((__atomic_load_n(Word, __ATOMIC_RELAXED) & Mask) != Mask)
    __atomic_fetch_or(Word, Mask, __ATOMIC_RELAXED);
}

R3_DEVICE void mark(uint64_t Bitmap, uint64_t Bit, uint64_t Size) {
  eachWord(Bit, Size,
           [=](uint64_t At, uint32_t Mask) { mark(wordOf(Bitmap, At), Mask); });
}

/// Those of the bits that Bitmap does not have are marked in Into.
R3_DEVICE void markRest(uint64_t Bitmap, uint64_t Into, uint64_t Bit,
                        uint64_t Size) {
  eachWord(Bit, Size, [=](uint64_t At, uint32_t Mask) {
    Mask &= ~__atomic_load_n(wordOf(Bitmap, At), __ATOMIC_RELAXED);
    if (Mask)
      mark(wordOf(Into, At), Mask);
  });
}

R3_DEVICE bool hasAll(uint64_t Bitmap, uint64_t Bit, uint64_t Size) {
  bool All = true;
  eachWord(Bit, Size, [&](uint64_t At, uint32_t Mask) {
    All &= !(Mask & ~__atomic_load_n(wordOf(Bitmap, At), __ATOMIC_RELAXED));
  });
  return All;
}

/// Bit: of the range's first byte; a multiple of 32. Offset: in the range.
R3_DEVICE void markUse(uint64_t Bit, uint64_t Offset, uint64_t Size, Use As) {
  if (As == Use::Copied)
    return;
  // Numbers that do not lie on the grid of words are none.
  const uint64_t Number = As == Use::Double ? 8 : 4;
  if (Offset % 4 || Size % Number)
    As = Use::Other;
  uint32_t Now = As == Use::Float    ? AsFloat
                 : As == Use::Double ? AsDouble
                                     : AsOther;
  for (uint64_t At = Offset / 4 * 4; At < Offset + Size; At += 4) {
    mark(wordOf(__r3_trace_state.UseBits, Bit + At), Now << (Bit + At) % 32);
    if (As == Use::Double)
      Now ^= AsDouble | AsRestOfDouble;
  }
}

R3_DEVICE void markAlignment(Range &R, uint32_t Alignment) {
  uint32_t Known = __atomic_load_n(&R.Alignment, __ATOMIC_RELAXED);
  while (Known < Alignment &&
         !__atomic_compare_exchange_n(&R.Alignment, &Known, Alignment, false,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
}

R3_DEVICE void report(uint32_t &Count, Report &First, uint64_t Where,
                      uint64_t Size, uint32_t Kind, uint32_t Site,
                      uint32_t Alignment = 0) {
  if (__atomic_fetch_add(&Count, 1u, __ATOMIC_RELAXED))
    return;
  First.Address = Where;
  First.Size = Size;
  First.Kind = Kind;
  First.Alignment = Alignment;
  First.Site = Site;
  First.Block[0] = __nvvm_read_ptx_sreg_ctaid_x();
  First.Block[1] = __nvvm_read_ptx_sreg_ctaid_y();
  First.Block[2] = __nvvm_read_ptx_sreg_ctaid_z();
  First.Thread[0] = __nvvm_read_ptx_sreg_tid_x();
  First.Thread[1] = __nvvm_read_ptx_sreg_tid_y();
  First.Thread[2] = __nvvm_read_ptx_sreg_tid_z();
}

R3_DEVICE uint64_t blockNumber() {
  return __nvvm_read_ptx_sreg_ctaid_x() +
         uint64_t(__nvvm_read_ptx_sreg_nctaid_x()) *
             (__nvvm_read_ptx_sreg_ctaid_y() +
              uint64_t(__nvvm_read_ptx_sreg_nctaid_y()) *
                  __nvvm_read_ptx_sreg_ctaid_z());
}

R3_DEVICE bool accessShared(const void *Pointer, uint64_t Size, uint32_t Kind,
                            uint32_t Site) {
  State &S = __r3_trace_state;
  const auto Where = reinterpret_cast<uint64_t>(Pointer);
  const uint64_t At = __r3_trace_shared(Pointer, Size);
  // What is known to be a variable of the kernel is never the system's.
  if (At == NotOurs && !(Kind & InShared))
    return true;
  if (At >= Nowhere) {
    report(S.Outside, S.First, Where, Size, Kind | InShared, Site);
    return false;
  }
  const uint64_t Block = blockNumber();
  if (Block >= S.SharedBlocks)
    return true;
  const uint64_t Bits = S.SharedBits + Block * S.SharedWords * 4;
  if ((Kind & Read) && !hasAll(Bits, At, Size))
    report(S.Unwritten, S.FirstUnwritten, Where, Size, Kind | InShared, Site);
  if (Kind & Write)
    mark(Bits, At, Size);
  return true;
}

} // namespace

extern "C" R3_DEVICE uint64_t __r3_trace_dynamic_size() {
  uint32_t Size;
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(Size));
  return Size;
}

/// Marks an access (describe of TraceAbi.h); false where it is outside of all
/// recorded memory and of the block's shared memory, or not aligned.
extern "C" R3_DEVICE bool __r3_trace_access(const void *Pointer, uint64_t Size,
                                            uint32_t Access, uint32_t Site) {
  const uint32_t Kind = kindOf(Access), Alignment = alignmentOf(Access);
  if (!Size)
    return true;
  if ((Kind & InShared) || __nvvm_isspacep_shared(Pointer))
    return accessShared(Pointer, Size, Kind, Site);
  const bool Constant = Kind & InConstant;
  if (!Constant && !__nvvm_isspacep_global(Pointer))
    return true;
  State &S = __r3_trace_state;
  const auto Where = reinterpret_cast<uint64_t>(Pointer);
  const uint64_t End = Where + Size;
  Range *R = End > Where ? find(Where, End) : nullptr;
  if (!R) {
    // A variable in constant memory is known by its name, and need not be
    // recorded.
    if (Constant || (Kind == Read && End > Where && isConstant(Where, End)))
      return true;
    report(S.Outside, S.First, Where, Size, Kind, Site);
    return false;
  }
  if (Where & ((1ull << Alignment) - 1)) {
    report(S.Outside, S.First, Where, Size, Kind, Site, 1u << Alignment);
    return false;
  }
  markAlignment(*R, Alignment);
  const uint64_t Bit = R->Bit + (Where - R->Begin);
  if (Kind & Read) {
    mark(S.ReadBits, Bit, Size);
    markRest(S.WrittenBits, S.InheritedBits, Bit, Size);
    markUse(R->Bit, Where - R->Begin, Size, useOf(Access));
  }
  if (Kind & Write)
    mark(S.WrittenBits, Bit, Size);
  return true;
}
