// A launch that changes no memory, and writes none that it does not read, is no
// evidence. It keeps a place that nobody
// else wants, gives it to a later launch that does change memory, and takes
// nobody's.
//
// REQUIRES: plugin
// RUN: clang-r3 %cuda -O2 %s -o %t.exe %cudart
// RUN: r3 --device cpu record -- %t.exe 2>&1 | FileCheck %s --check-prefix=RECORD
// RECORD-DAG: early {{.*}} 40 2 {{.*}}
// RECORD-DAG: late {{.*}} 40 2 {{.*}}
// RECORD-DAG: never {{.*}} 40 2 {{.*}}
// RUN: not r3 --device cpu replay -n 1 --json > %t.json
// RUN: %python -c "import json,sys; [print(r['name'], r['outcome'], r['message']) \
// RUN:   for r in json.load(open(sys.argv[1]))['replays']]" %t.json | sort | FileCheck %s
// CHECK: early not-verifiable the recorded launch changed no memory
// CHECK-NEXT: early ok
// CHECK-NEXT: late ok
// CHECK-NEXT: late ok
// CHECK-NEXT: never not-verifiable the recorded launch changed no memory
// CHECK-NEXT: never not-verifiable the recorded launch changed no memory

#define KERNEL(Name)                                                           \
  __global__ void Name(int *Out, const int *In) {                              \
    if (Out[threadIdx.x] != 2 * In[threadIdx.x])                               \
      Out[threadIdx.x] = 2 * In[threadIdx.x];                                  \
  }
KERNEL(early)
KERNEL(late)
KERNEL(never)

int main() {
  int *In, *Out[3];
  cudaMalloc(&In, 256);
  for (int *&O : Out)
    cudaMalloc(&O, 256), cudaMemset(O, 0, 256);
  for (int Step = 0; Step < 40; ++Step) {
    cudaMemset(In, 1, 256);
    early<<<1, 64>>>(Out[0], In);
    cudaMemset(In, Step < 15 ? 0 : Step, 256);
    late<<<1, 64>>>(Out[1], In);
    cudaMemset(In, 0, 256);
    never<<<1, 64>>>(Out[2], In);
  }
  return cudaDeviceSynchronize() != cudaSuccess;
}
