// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// footprint MIB STEPS PERCENT random|zero [WAIT_MS]: a kernel that owns MIB of
// memory and writes PERCENT of it each step, WAIT_MS after it was allocated (as
// a program that reads its input does). Prints the rate of pinned copies to the host
// and how long each step took:
//   rate 54.9 GB/s
//   step 0 1.234 ms
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

static void require(cudaError_t Result, const char *What) {
  if (Result == cudaSuccess)
    return;
  std::fprintf(stderr, "%s: %s\n", What, cudaGetErrorString(Result));
  std::exit(1);
}

__global__ void fill(uint64_t *Words, uint64_t Count) {
  for (uint64_t I = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; I < Count;
       I += uint64_t(gridDim.x) * blockDim.x) {
    uint64_t X = (I + 1) * 0x9E3779B97F4A7C15ull;
    X = (X ^ (X >> 30)) * 0xBF58476D1CE4E5B9ull;
    Words[I] = X ^ (X >> 27);
  }
}

/// The step is in device memory, so that all launches are of one class.
__global__ void touch(uint64_t *Words, uint64_t Total, uint64_t Count,
                      const uint64_t *Step) {
  uint64_t First = Total > Count ? *Step * Count % (Total - Count) : 0;
  for (uint64_t I = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; I < Count;
       I += uint64_t(gridDim.x) * blockDim.x)
    Words[First + I] += *Step + 1;
}

using Clock = std::chrono::steady_clock;
static double milliseconds(Clock::time_point Begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - Begin)
      .count();
}

static double pinnedRate(const void *From, size_t Bytes) {
  size_t Size = Bytes < (256u << 20) ? Bytes : (256u << 20);
  void *To;
  require(cudaMallocHost(&To, Size), "cudaMallocHost");
  cudaMemcpy(To, From, Size, cudaMemcpyDeviceToHost);
  auto Begin = Clock::now();
  for (int I = 0; I < 8; ++I)
    cudaMemcpyAsync(To, From, Size, cudaMemcpyDeviceToHost);
  require(cudaDeviceSynchronize(), "copy");
  double Rate = 8.0 * double(Size) / 1e6 / milliseconds(Begin);
  cudaFreeHost(To);
  return Rate;
}

int main(int Count, char **Arguments) {
  if (Count != 5 && Count != 6) {
    std::fprintf(stderr, "usage: footprint MIB STEPS PERCENT random|zero "
                         "[WAIT_MS]\n");
    return 2;
  }
  uint64_t Bytes = std::strtoull(Arguments[1], nullptr, 10) << 20;
  int Steps = std::atoi(Arguments[2]);
  uint64_t Total = Bytes / 8;
  uint64_t Changed = Total * std::strtoull(Arguments[3], nullptr, 10) / 100;
  uint64_t *Words;
  require(cudaMalloc(&Words, Bytes), "cudaMalloc");
  uint64_t *Place;
  require(cudaMalloc(&Place, sizeof(*Place)), "cudaMalloc");
  require(cudaMemset(Words, 0, Bytes), "cudaMemset");
  if (!std::strcmp(Arguments[4], "random"))
    fill<<<1024, 256>>>(Words, Total);
  require(cudaDeviceSynchronize(), "fill");
  std::printf("rate %.2f GB/s\n", pinnedRate(Words, Bytes));
  if (Count == 6)
    usleep(std::strtoul(Arguments[5], nullptr, 10) * 1000);
  for (int Step = 0; Step < Steps; ++Step) {
    auto Begin = Clock::now();
    uint64_t Number = Step;
    require(cudaMemcpy(Place, &Number, sizeof(Number), cudaMemcpyHostToDevice),
            "copy of the step");
    touch<<<1024, 256>>>(Words, Total, Changed ? Changed : 1, Place);
    require(cudaDeviceSynchronize(), "touch");
    std::printf("step %d %.3f ms\n", Step, milliseconds(Begin));
  }
}
