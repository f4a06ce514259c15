// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the plugin knows about the compile that it runs in: clang's command
// line, the source and its root, and where the device compiles of a unit leave
// their part for its host compile. Also how the plugin speaks: remarks, and
// lines for clang-r3.
#pragma once

#include "runtime/support/Error.h"

#include "llvm/IR/Module.h"

#include <string>
#include <vector>

namespace r3::plugin {

/// Fixed at the start of a compile and only read afterwards.
struct Compilation {
  std::vector<std::string> Command; // cc1's arguments, outputs taken out
  bool IsFrontEnd = false;          // a cc1 process of its own, below a driver
  bool DeviceOnly = false;          // the driver was told --cuda-device-only
  bool HostOnly = false;
  bool IsCuda = true; // device code of another language is left alone
  bool IsRdc = false;
  bool IsLto = false;
  std::string Source; // from the root
  std::string Root;   // absolute
  std::string Header; // the unit's profile header; empty where it has none
  std::string Unit;   // digits that device and host compile agree on
  std::string Folder; // $R3_HANDOVER, or empty
  std::string EnvironmentProblem;
  bool Embeds = true; // false: apply the profile only

  static Compilation read(const llvm::Module &M);

  /// Says Text as a remark (-Rbackend-plugin) and to clang-r3.
  void note(llvm::Module &M, const char *Reason, const std::string &Text) const;
  void warn(llvm::Module &M, const char *Reason, const std::string &Text) const;
  /// Tells clang-r3 that the plugin has begun or ended ("entered", "left").
  void status(const llvm::Module &M, const char *Event) const;

private:
  void say(llvm::Module &M, const char *Kind, const char *Reason,
           const std::string &Text) const;
};

/// The folder through which a unit's compiles talk: $R3_HANDOVER, else a
/// private one of this driver process.
Expected<std::string> handoverFolder(const Compilation &C, bool Create);
/// Path of an architecture's part there.
std::string handoverPath(const Compilation &C, const std::string &Folder,
                         const std::string &Arch);
/// Paths of all parts of the unit, sorted.
std::vector<std::string> handoverParts(const Compilation &C,
                                       const std::string &Folder);

} // namespace r3::plugin
