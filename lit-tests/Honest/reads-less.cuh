// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads only what is asked for: of one of its inputs nothing.
//
// RUN: %try pick --json > %t
// RUN: %python -c "import json,sys; k=json.load(open(sys.argv[1]))[0]; \
// RUN:   assert k['outcome'] == 'ok', k['message']; \
// RUN:   print([c for c in k['evidence']['checks'] if c['check'] == 'unread'])" %t | FileCheck %s
// CHECK: 'made': True, 'outcome': 'ok', 'message': '4 other contents of arg0, which it does not read'

__global__ void pick(const int *one, const int *two, int *to, int n,
                     int which) {
  const int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
    int sum = 0;
    if (which != 1)
      sum += one[i];
    if (which != 0)
      sum += two[i];
    to[i] = sum;
  }
}
