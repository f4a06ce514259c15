// Variants that fault on the device, each in a way of its own, have their
// outcomes, and one worker goes on with the next variant and the next kernel.
// Only GVN finds that Known is 7, and clang's -O1 has none.
// REQUIRES: plugin
// RUN: clang-r3 %cuda -O2 %s -o %t.exe %cudart
// RUN: r3 --device %device record --min-share 0 -c 1 -- %t.exe
// RUN: r3 --device %device remix --space thin --json > %t.json
// RUN: %python -c "import json,sys; d=json.load(open(sys.argv[1])); assert d['workersLost'] == 0; \
// RUN:   assert d['state'] == 'complete' and all(k['outcomes']['ok'] for k in d['kernels']); \
// RUN:   print(*sorted(k['name'] + ' ' + e['outcome'] for k in d['kernels'] \
// RUN:                 for e in k['evaluations'] if e['note'] == 'default O1'), sep='\n')" %t.json > %t.o1
// RUN: FileCheck %s --check-prefixes=CHECK,%device --input-file=%t.o1
// RUN: r3 --device %device replay -n 2 | FileCheck %s --check-prefix=REPLAY
// cpu: mayFail<0> wrong
// cuda: mayFail<0> illegal-access
// CHECK-NEXT: mayFail<1> timeout
// CHECK-NEXT: mayFail<2> illegal-access
// REPLAY-COUNT-3: bit for bit
template <int Kind> __global__ void mayFail(unsigned *Words, unsigned Which) {
  if (Which)
    Words[32] = 7, Words[33] = 1;
  else
    Words[33] = 2, Words[32] = 7;
  unsigned Known = Words[32];
  if (!__builtin_constant_p(Known)) {
    if (Kind == 0)
      *reinterpret_cast<volatile int *>(reinterpret_cast<char *>(Words) + 2) =
          1; // a processor may not mind
    if (Kind == 1)
      while (*const_cast<volatile unsigned *>(Words) != 0xFFFFFFFF)
        ;
    if (Kind == 2)
      __trap();
  }
  Words[threadIdx.x] += Known;
}
int main() {
  unsigned *Words;
  cudaMalloc(&Words, 64 * sizeof(unsigned));
  cudaMemset(Words, 0, 64 * sizeof(unsigned));
  mayFail<0><<<1, 32>>>(Words, 1);
  mayFail<1><<<1, 32>>>(Words, 1);
  mayFail<2><<<1, 32>>>(Words, 1);
  return cudaDeviceSynchronize() != cudaSuccess;
}
