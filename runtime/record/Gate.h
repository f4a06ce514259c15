// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps other threads' CUDA calls out while a launch is recorded. Calls that
// put work on the device or change memory pass through in shared mode (one
// atomic addition); a record closes the gate. Nobody waits for ever: a caller
// who has waited for the limit passes all the same, and the record learns that
// it was disturbed.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace r3::record {

class Gate {
public:
  explicit Gate(uint64_t LimitMs) : LimitMs(LimitMs) {}

  /// Passes in shared mode; waits while the gate is closed, LimitMs at most.
  void enter();
  void leave();

  /// Closes the gate and waits until everybody has left; false after LimitMs
  /// (the gate is then open again). One closer at a time; the caller must not
  /// be inside.
  bool close();
  void open();
  /// Whether somebody passed while the gate was closed.
  bool wasDisturbed() const { return Disturbed; }

private:
  void waitOutside();

  const uint64_t LimitMs;
  std::atomic<int> Inside{0};
  std::atomic<bool> Closed{false};
  std::atomic<bool> Disturbed{false};
  std::mutex Lock;
  std::condition_variable Changed;
};

/// Inside a gate for a scope.
class GatePass {
public:
  explicit GatePass(Gate &G) : G(G) { G.enter(); }
  ~GatePass() { G.leave(); }
  GatePass(const GatePass &) = delete;
  GatePass &operator=(const GatePass &) = delete;

private:
  Gate &G;
};

/// Whose turn it is to record: a lock that is not waited for longer than a
/// limit.
class Turn {
public:
  /// False where others kept it for LimitMs.
  bool take(uint64_t LimitMs);
  void give();

private:
  std::mutex Lock;
  std::condition_variable Given;
  bool Taken = false;
};

} // namespace r3::record
