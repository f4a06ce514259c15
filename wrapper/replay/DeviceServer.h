// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device child: answers the supervisor's requests on one socket and passes
// open descriptors over another. It holds inputs only; expected results never
// come here, the store's path neither, and the packs' descriptors are closed
// before any code runs.
//
//   open   {backend, device, confine, readable: [paths], writable: [paths]}
//          -> {identity, granularity, alignment}; with confine, from there on
//          it opens no other files
//   plan   {plain} blob: ReplayPlan -> {}; ends with ConflictStatus where an
//          address is taken in this process
//   create {} -> {hostPool, descriptors: N}, then N descriptors
//   adopt  {hostPool, descriptors: N}, then N descriptors -> {}
//   fill   {descriptors: N}, then N descriptors (packs) -> {}
//   code   {slot, kernel} blob: image -> {outcome, message, registers, shared,
//          local}
//   run    {launch, slot, flush, dry, trace, seed, poison: byte, scratch: also
//          shared and local memory} blob: Poison ->
//          "launching", "launched", then {outcome, message, sticky, ns,
//          digests: N, ms} blob: N digests, Footprint where traced
//   plain  {launch, slot, descriptors: N} blob: PlainLaunch, then N descriptors
//          (packs) -> "launching", "launched", then {outcome, message, ns};
//          where the plan was sent with "plain", of which nothing is reserved
//   read   {launch, range, chunks: [..]} -> blob: their bytes
#pragma once

#include "runtime/device/Device.h"

#include <functional>
#include <string>

namespace r3::replay {

using DeviceOpener = std::function<Expected<std::unique_ptr<Device>>(
    const std::string &Backend, int Ordinal)>;

/// Serves until the supervisor closes; the value is the exit status. Both
/// descriptors are owned. Does not return where the device hangs: the
/// supervisor kills.
int serveDevice(int ProtocolFd, int DescriptorFd, const DeviceOpener &Open);

/// main of r3-device: "r3-device PROTOCOL-FD DESCRIPTOR-FD".
int deviceMain(int Count, char **Arguments, const DeviceOpener &Open);

/// The devices of the installation.
Expected<std::unique_ptr<Device>>
openInstalledDevice(const std::string &Backend, int Ordinal);

} // namespace r3::replay
