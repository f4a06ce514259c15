// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a device can do at most. A floor rests on it, so each is the best of
// several tries: a rate that is too high only makes a floor lower.
#pragma once

#include "runtime/device/Device.h"

namespace r3::replay {

/// Takes some ten milliseconds on a GPU. Rates that the device has no means for
/// are 0.
Expected<RatesReport> measureRates(Device &D);

} // namespace r3::replay
