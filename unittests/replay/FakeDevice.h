// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A device without LLVM or CUDA for tests of the worker: host memory at wanted
// addresses, and "binaries" that are one word each. All kernels take {float *x,
// float *y, float a, int n} and do y[i] += a * x[i], and then what their word
// says:
//   saxpy     nothing more          wrong     y[3] is off by one
//   slow      takes 3 ms            noisy     y[0] is off by some 2^-22
//   outside   writes behind y       inside    changes x[7]
//   crash     SIGSEGV               abort     SIGABRT, with a last word
//   hang      never ends            trap      a sticky fault
//   deadlock  a fault, not sticky   unloadable  is not loaded
//   full      there is no memory to load it into
//   naps      does nothing in its 6th launch
//   lapses    noisy, and in its 7th launch y[1] is off by one
//   stamps    noisy, and x[5] is 1000
//   misstamps the same, but 1001 in its 7th launch
//   late      SIGSEGV at its 8th launch
//   expects   faults where x and y do not hold what Fixture.cpp records
//   unwritten faults where x and y[1..] do not, or y[0] is not as allocated
//   homesick  faults in memory that was not mapped
//   follow    y[0] = *(float *)*(void **)x instead (x holds a pointer)
#pragma once

#include "runtime/device/Device.h"

namespace r3::fake {

struct Setup {
  uint64_t MemoryBytes = 1ull << 34;
  /// Where this file holds a positive number, a reservation fails and the
  /// number goes down by one.
  std::string ConflictFile;
};

Expected<std::unique_ptr<Device>> openFakeDevice(const Setup &S);

} // namespace r3::fake
