// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/cuda/Nvml.h"

#include <dlfcn.h>

namespace r3 {

namespace {

/// Sets Function; the first of Names that the library has.
template <typename F>
Error find(void *Library, F &Function,
           std::initializer_list<const char *> Names) {
  for (const char *Name : Names)
    if (void *Found = dlsym(Library, Name)) {
      Function = reinterpret_cast<F>(Found);
      return {};
    }
  return fail(ErrorCode::CannotRunHere, "the NVML library has no %s",
              *Names.begin());
}

} // namespace

Error Nvml::check(int Result, const char *Call) const {
  if (!Result)
    return {};
  return fail(ErrorCode::CannotRunHere, "%s: %s", Call, ErrorString(Result));
}

Expected<Nvml> Nvml::open(const char *Library, const std::string &BusId) {
  void *Opened = dlopen(Library, RTLD_NOW | RTLD_LOCAL);
  if (!Opened)
    return fail(ErrorCode::CannotRunHere, "no NVML library: %s", dlerror());
  Nvml N;
  int (*Init)() = nullptr;
  int (*ByBusId)(const char *, Handle *) = nullptr;
  Error E = find(Opened, Init, {"nvmlInit_v2"});
  if (!E)
    E = find(Opened, ByBusId, {"nvmlDeviceGetHandleByPciBusId_v2"});
  if (!E)
    E = find(Opened, N.ClockInfo, {"nvmlDeviceGetClockInfo"});
  if (!E) // the second is what drivers before 535 call it
    E = find(Opened, N.Reasons,
             {"nvmlDeviceGetCurrentClocksEventReasons",
              "nvmlDeviceGetCurrentClocksThrottleReasons"});
  if (!E)
    E = find(Opened, N.ErrorString, {"nvmlErrorString"});
  if (!E)
    E = N.check(Init(), "nvmlInit");
  if (!E)
    E = N.check(ByBusId(BusId.c_str(), &N.Device),
                "nvmlDeviceGetHandleByPciBusId");
  if (E)
    return E;
  return N;
}

Expected<ClockSample> Nvml::read() const {
  unsigned SmMhz = 0, MemoryMhz = 0;
  unsigned long long Why = 0;
  Error E = check(ClockInfo(Device, Sm, &SmMhz), "nvmlDeviceGetClockInfo");
  if (!E)
    E = check(ClockInfo(Device, Memory, &MemoryMhz), "nvmlDeviceGetClockInfo");
  if (!E)
    E = check(Reasons(Device, &Why), "nvmlDeviceGetCurrentClocksEventReasons");
  if (E)
    return E;
  return ClockSample{double(SmMhz), double(MemoryMhz), Why};
}

} // namespace r3
