// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A store of its own with recordings of y[i] += a * x[i], written as a
// recorder would write them, and workers over it.
#pragma once

#include "runtime/support/Recording.h"
#include "runtime/support/Store.h"
#include "runtime/support/Worker.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace r3::testing {

/// What differs between the recordings that tests make.
struct SaxpyOptions {
  std::string Backend = "cuda";
  std::string Kernel = "saxpy";
  std::string Image = "saxpy"; // content of the program's "device code"
  std::string Level = "O2";
  std::vector<uint8_t> Bitcode;
  uint64_t Base = 0x6e0000000000;
  int N = 100001; // two chunks, and an end that is no multiple of 16
  float A = 2;
  float FirstY = 1;
  bool Alike = false;   // y holds the same number everywhere
  bool Typed = true;    // the unit says that y holds floats
  bool Changed = true;  // the record says that y changed
  bool Stamped = false; // x[5] becomes 1000, and x holds no numbers
  uint32_t Block = 256;
};

class ReplayTest : public ::testing::Test {
protected:
  void SetUp() override;
  void TearDown() override;

  /// Writes chunks, unit, image and manifest; gives the manifest's path.
  std::string record(const SaxpyOptions &O);
  /// Writes a manifest whose chunks are added from Contents (one an
  /// allocation; After empty where it did not change).
  std::string write(Recording R, const std::vector<std::string> &Before,
                    const std::vector<std::string> &After);
  /// Of y[0] = *(float *)*(void **)x, where x holds a pointer to a module
  /// global, which is elsewhere in each code.
  std::string recordFollow();
  /// A worker with fake children; DeviceName: what the fake device is called.
  Expected<std::unique_ptr<Worker>>
  startFake(const std::string &DeviceName = "fake-device",
            std::vector<std::string> Launcher = {});
  std::unique_ptr<Worker> fakeWith(const std::string &Manifest);

  std::string Folder; // private, removed at the end
  std::unique_ptr<Store> TheStore;
};

Variant pipeline(const std::string &Text);
/// Processes whose program is named Name and that descend from this one.
std::set<pid_t> descendants(const std::string &Name);
/// Waits until there are none; false after two seconds.
bool allGone(const std::set<pid_t> &Pids);

} // namespace r3::testing
