// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels for the self-test of the CUDA device, written without CUDA's headers.
#include <stdint.h>

#define KERNEL extern "C" __attribute__((global, used)) void
#define DEVICE __attribute__((device))

DEVICE static unsigned thread() {
  return __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() +
         __nvvm_read_ptx_sreg_tid_x();
}

extern "C" DEVICE __attribute__((used)) int st_counter = 5;

/// Arguments with gaps between them.
struct Mixed {
  char Tag;
  double Factor;
  short Numbers[5];
};

KERNEL st_mixed(char First, Mixed Value, double *Out, unsigned Last) {
  Out[0] = First;
  Out[1] = Value.Tag;
  Out[2] = Value.Factor;
  Out[3] = Value.Numbers[4];
  Out[4] = Last;
}

KERNEL st_add(const int *From, int *To, unsigned Count, int Term) {
  if (thread() < Count)
    To[thread()] = From[thread()] + Term;
}

KERNEL st_count(int *Out) { *Out = ++st_counter; }

/// Each thread writes its number to the far end of dynamic shared memory.
KERNEL st_shared(int *Out, unsigned Bytes) {
  extern __attribute__((shared)) int Memory[];
  unsigned Thread = __nvvm_read_ptx_sreg_tid_x(), Words = Bytes / 4;
  Memory[Words - 1 - Thread] = int(Thread);
  __syncthreads();
  Out[Thread] = Memory[Words - 1 - (Thread ^ 1)];
}

/// What nobody has written in shared memory and in a variable. Spins, so that
/// blocks go to all multiprocessors.
KERNEL st_leftovers(unsigned *Shared, unsigned *Local, unsigned Bytes) {
  extern __attribute__((shared)) int Memory[];
  volatile unsigned Own[200];
  unsigned Tid = __nvvm_read_ptx_sreg_tid_x(), Last = Bytes / 4 - 1 - Tid;
  uint64_t Begin = __nvvm_read_ptx_sreg_clock64();
  Own[Tid % 2] = Tid;
  while (__nvvm_read_ptx_sreg_clock64() - Begin < 20000)
    ;
  Shared[thread()] = unsigned(Memory[Last]);
  Local[thread()] = Own[199 - Tid % 8];
  Memory[Last] = int(Tid);
}

/// Every block waits for all blocks: ends only if all run at once.
KERNEL st_meet(unsigned *Arrived, unsigned Blocks) {
  if (__nvvm_read_ptx_sreg_tid_x() != 0)
    return;
  __nvvm_atom_inc_gen_ui(Arrived, 0xffffffffu);
  while (*(volatile unsigned *)Arrived < Blocks)
    ;
}

KERNEL st_spin(uint64_t Cycles) {
  uint64_t Begin = __nvvm_read_ptx_sreg_clock64();
  while (__nvvm_read_ptx_sreg_clock64() - Begin < Cycles)
    ;
}

KERNEL st_endless(volatile int *Flag) {
  while (*Flag == 0)
    ;
}

KERNEL st_store(int *Where, int Value) { *(volatile int *)Where = Value; }

KERNEL st_trap(int *Where) {
  if (*Where == 0)
    __builtin_trap();
  *Where = 2;
}
