// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The management library of the NVIDIA driver, opened at run time for one
// thing: the clocks of a device, and what holds them back. It is a part of the
// driver, but containers may lack it, and the toolkit's headers need not have
// it: the four functions are declared here as its documentation does.
#pragma once

#include "runtime/support/Error.h"
#include "runtime/support/Measurement.h"

#include <string>

namespace r3 {

class Nvml {
public:
  /// BusId as cuDeviceGetPCIBusId gives it. CannotRunHere where there is no
  /// library, a function is missing or the device is not known to it. The
  /// library stays open.
  static Expected<Nvml> open(const char *Library, const std::string &BusId);

  /// Any thread. Takes some ten microseconds and waits for no work.
  Expected<ClockSample> read() const;

private:
  enum Clock : int { Sm = 1, Memory = 2 }; // nvmlClockType_t
  using Handle = struct NvmlDevice *;
  int (*ClockInfo)(Handle, int, unsigned *) = nullptr;
  int (*Reasons)(Handle, unsigned long long *) = nullptr;
  const char *(*ErrorString)(int) = nullptr;
  Handle Device = nullptr;

  Error check(int Result, const char *Call) const;
};

} // namespace r3
