// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The committed profile: r3.profile/NAME-KEY8/kernel.toml for each kernel, and
// r3.profile/units/SOURCE.h for each unit with kernels.
//
// kernel.toml (stable order of keys, one entry a table, sorted by device and
// class):
//   format = 1
//   key = "..."   name = "stencil3d<double>"   home = "src/a.cu:main"
//   units = ["src/a.cu"]
//   [fingerprint]
//   sm_90 = "..."
//   [[entry]]
//   device = "sm_90 NVIDIA H200 132SM 60MB"   class = "all"
//   pipeline = "..."  level = "O3"  maxnreg = 64  ptxas = "O3"
//   gain = 1.31  low = 1.28  high = 1.34
//   evidence = "weak"  origin = "passes"  variant = "<id>"
//   versions = "llvm 22.1.8, cuda 13.0, r3 0.1"  code = "<digest>"
// and, where a variant has them, launch = [{ target, value }], specialise =
// { name = integer }, guards = ["..."]. The file is ASCII (other characters
// are \u escapes). Unknown keys are errors. An entry that
// was changed by hand (its variant is another than the named one) loses its
// evidence: it is read as "none".
//
// A unit header is text that any C++ or CUDA compiler accepts:
//   // r3 profile header, format 1 ... do not edit
//   // entry FOLDER DIGEST-OF-KERNEL.TOML      (one line a kernel, sorted)
//   extern "C" char __r3_profile_<digest of the entry lines>;
// With no entries only the first line is there. It changes exactly when the
// unit has to be compiled again.
#pragma once

#include "runtime/support/Error.h"
#include "runtime/support/Variant.h"

#include <map>
#include <string>
#include <vector>

namespace r3 {

struct ProfileEntry {
  std::string Device; // DeviceIdentity::Key
  std::string Class = "all";
  Variant Change;
  double Gain = 0, Low = 0, High = 0;
  std::string Evidence; // "strong", "weak", or "none" (changed by hand)
  std::string Origin;   // "passes", "rules", "model", "person"
  std::string Versions;
  std::string Code; // digest of the kernel's code section
};

struct KernelProfile {
  std::string Key;
  std::string Name;
  std::string Home;
  std::vector<std::string> Units; // source paths from the root
  std::map<std::string, std::string> Fingerprints; // by architecture
  std::vector<ProfileEntry> Entries;

  std::string folder() const; // "stencil3d-1a2b3c4d"
  std::string toml() const;
  static Expected<KernelProfile> parse(const std::string &Toml,
                                       const std::string &Name);
};

/// Path of a unit's header below the profile folder: "units/src/a.cu.h".
std::string unitHeaderPath(const std::string &Source);
/// Text of a unit's header for the kernels that it has (folder -> toml text).
std::string unitHeaderText(const std::map<std::string, std::string> &Kernels);
/// Folders named by a header's entry lines; Damaged where it is none of ours.
Expected<std::vector<std::string>> parseUnitHeader(const std::string &Text,
                                                   const std::string &Name);

} // namespace r3
