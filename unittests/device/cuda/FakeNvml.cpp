// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A management library that knows one device.
#include <cstring>

namespace {
constexpr int UnknownDevice = 6;
char TheDevice;
} // namespace

extern "C" {

int nvmlInit_v2() { return 0; }
const char *nvmlErrorString(int Result) {
  return Result == UnknownDevice ? "Not Found" : "GPU is lost";
}
int nvmlDeviceGetHandleByPciBusId_v2(const char *BusId, void **Device) {
  *Device = &TheDevice;
  return std::strcmp(BusId, "0000:1B:00.0") ? UnknownDevice : 0;
}
int nvmlDeviceGetClockInfo(void *Device, int Type, unsigned *Mhz) {
  *Mhz = Device != &TheDevice ? 0 : Type == 1 ? 1980 : Type == 2 ? 3201 : 7;
#ifdef R3_FAKE_broken
  return 15;
#else
  return 0;
#endif
}
#ifdef R3_FAKE_old
int nvmlDeviceGetCurrentClocksThrottleReasons(void *,
                                              unsigned long long *Reasons) {
#else
int nvmlDeviceGetCurrentClocksEventReasons(void *,
                                           unsigned long long *Reasons) {
#endif
  *Reasons = 0x100000004;
  return 0;
}
}
