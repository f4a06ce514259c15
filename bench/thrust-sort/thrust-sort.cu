// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A unit with many large template kernels, for build benchmarks: Thrust's
// sort, scan and reduction.
//
//   thrust-sort [THOUSANDS-OF-KEYS]
#include "share/examples/common/example.h"

#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

#include <algorithm>
#include <vector>

int main(int Count, char **Arguments) {
  int Size = example::argument(Count, Arguments, 1, 16000, 2000000) * 1000;
  std::printf("thrust-sort: %d keys\n", Size);
  thrust::host_vector<unsigned> Host(Size);
  for (int I = 0; I < Size; ++I)
    Host[I] = unsigned(example::noise(I) * 1000000);
  thrust::device_vector<unsigned> Keys = Host;
  thrust::device_vector<unsigned long long> Sums(Size);

  example::Timer Time;
  thrust::sort(Keys.begin(), Keys.end());
  thrust::inclusive_scan(Keys.begin(), Keys.end(), Sums.begin(),
                         thrust::plus<unsigned long long>());
  unsigned long long Total = thrust::reduce(
      Keys.begin(), Keys.end(), 0ull, thrust::plus<unsigned long long>());
  double Milliseconds = Time.milliseconds();

  std::vector<unsigned> Want(Host.begin(), Host.end());
  std::sort(Want.begin(), Want.end());
  thrust::host_vector<unsigned> Sorted = Keys;
  unsigned long long Last = Sums.back();
  bool Right = std::equal(Want.begin(), Want.end(), Sorted.begin()) &&
               Last == Total;
  uint64_t Checksum = Total;
  for (int I = 0; I < Size; I += 1 + Size / 1000)
    Checksum = Checksum * 1099511628211ull + Sorted[I];
  return example::finish(Milliseconds, Right, Checksum);
}
