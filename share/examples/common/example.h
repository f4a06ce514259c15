// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every example needs: checked CUDA calls, arguments, time, and the lines
// that an example prints at its end:
//   time 12.345 ms
//   check ok
//   checksum 1.23456789e+02
// The exit status is 1 where the check fails.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CUDA(Call) example::require((Call), #Call, __FILE__, __LINE__)

namespace example {

inline void require(cudaError_t Result, const char *Call, const char *File,
                    int Line) {
  if (Result == cudaSuccess)
    return;
  std::fprintf(stderr, "%s:%d: %s: %s\n", File, Line, Call,
               cudaGetErrorString(Result));
  std::exit(1);
}

/// The Index-th command line argument, 1..Largest, or Default.
inline int argument(int Count, char **Arguments, int Index, int Default,
                    int Largest = 100000000) {
  if (Index >= Count)
    return Default;
  char *End = nullptr;
  long Value = std::strtol(Arguments[Index], &End, 10);
  if (*End || Value < 1 || Value > Largest) {
    std::fprintf(stderr, "%s: '%s' is no number from 1 to %d\n", Arguments[0],
                 Arguments[Index], Largest);
    std::exit(2);
  }
  return int(Value);
}

/// Milliseconds since construction.
class Timer {
public:
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(Clock::now() - Begin)
        .count();
  }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point Begin = Clock::now();
};

/// A number in [0, 1) that depends on Index alone.
__host__ __device__ inline double noise(uint64_t Index) {
  Index = (Index ^ Index >> 31) * 0x7fb5d329728ea185ull;
  Index = (Index ^ Index >> 27) * 0x81dadef4bc2dd44dull;
  return double((Index ^ Index >> 33) >> 11) / double(1ull << 53);
}

inline int ceilDivide(int Value, int By) { return (Value + By - 1) / By; }

inline bool near(double Have, double Want, double Tolerance) {
  return std::fabs(Have - Want) <= Tolerance * (1 + std::fabs(Want));
}

/// The last lines; the exit status of main.
inline int finish(double Milliseconds, bool Right, double Checksum) {
  std::printf("time %.3f ms\ncheck %s\nchecksum %.8e\n", Milliseconds,
              Right ? "ok" : "FAILED", Checksum);
  return Right ? 0 : 1;
}

inline int finish(double Milliseconds, bool Right, uint64_t Checksum) {
  std::printf("time %.3f ms\ncheck %s\nchecksum %016llx\n", Milliseconds,
              Right ? "ok" : "FAILED", (unsigned long long)Checksum);
  return Right ? 0 : 1;
}

} // namespace example
