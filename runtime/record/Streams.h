// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program's streams, and whether the device is quiet. Quietness is found
// by events that are queried, never by a call that waits: a device-wide wait
// can hang programs whose kernels wait for each other or for the host. Events
// go into each known stream; a thread's own default stream cannot be named by
// other threads, so each thread leaves an event behind its own work.
#pragma once

#include "runtime/device/Device.h"

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

namespace r3::record {

/// cudaStreamPerThread.
inline const StreamHandle PerThreadStream = reinterpret_cast<StreamHandle>(2);

class Streams {
public:
  void created(StreamHandle Stream, Device *Owner);
  void destroyed(StreamHandle Stream);
  /// The calling thread put work into its own default stream.
  void usedOwnStream(Device &D);
  /// Forgets everything of a device that is being reset.
  void forget(Device &D);

  /// Records an event behind all work so far of all streams of D, Launch
  /// included, and polls them. Timeout where it does not become quiet.
  Error waitUntilQuiet(Device &D, StreamHandle Launch, uint64_t TimeoutMs);

private:
  struct OwnStream {
    Device *D;
    EventHandle Event;
  };
  Error mark(Device &D, StreamHandle Launch, std::vector<EventHandle> &Events);
  Expected<EventHandle> event(Device &D);

  std::mutex Lock;
  std::map<StreamHandle, Device *> Known; // null: made before D was attached
  std::vector<std::shared_ptr<OwnStream>> Own;
  std::map<Device *, std::vector<EventHandle>> Spare;
};

} // namespace r3::record
