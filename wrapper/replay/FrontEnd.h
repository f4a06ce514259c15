// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a source patch to device code: clang's front end, with the recorded
// command line, over the patched files. The files on disk are not touched: the
// patched ones lie over them (a VFS overlay).
//
// A patch is untrusted. What it is held to (TRUST.md, Right 11):
//   - files opened: those that the unpatched unit opens, and no others;
//   - spelled in added lines: no inline assembly, no clocks, none of the
//     directives that look at files (#embed, __has_include, ...);
//   - the kernel keeps its name and the layout of its parameters;
//   - limits of CPU time (20 times that of the unpatched unit, 2 to 20 s),
//     memory, template depth and constant evaluation.
// What it may not bring in is looked at where it cannot hide, in the IR
// (Operations.h); the spelling is for people, who get a line.
// What clang says of the patch comes back with the files' own names.
#pragma once

#include "runtime/support/Error.h"
#include "runtime/support/Outcome.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace r3::replay {

struct SourceUnit {
  std::vector<std::string> Command; // clang's cc1, as recorded
  std::string Root;                 // of the project, where patches apply
  std::string Source;               // from the root
  std::string Level;                // "O0".."O3", "Os", "Oz"
};

struct FrontEndResult {
  Outcome Ending = Outcome::Ok;
  std::string Message; // the first error
  std::vector<uint8_t> Bitcode;
  std::string LessPrecise; // what it computes less exactly with, in words
};

class FrontEnd {
public:
  /// Unpatched: the unit's device code as recorded.
  FrontEnd(SourceUnit Unit, std::span<const uint8_t> Unpatched)
      : Unit(std::move(Unit)), Unpatched(Unpatched.begin(), Unpatched.end()) {}

  /// The device code of the patched unit, if Kernel in it is another one than
  /// in the recorded unit (Duplicate where it is the same).
  FrontEndResult compile(const std::string &Patch, const std::string &Kernel,
                         uint64_t DeadlineMs);

  /// Ok where the unit on disk is the recorded one, as far as Kernel goes.
  /// Asked of clang until it has said so once.
  FrontEndResult checkUnit(const std::string &Kernel, uint64_t DeadlineMs);
  const SourceUnit &unit() const { return Unit; }

private:
  struct Overlay;
  struct Compiled {
    std::vector<uint8_t> Bitcode;
    std::vector<std::string> Opened;
    double Seconds = 0; // of CPU time
  };
  Expected<Compiled> run(const Overlay *Over, uint64_t DeadlineMs,
                         Outcome &Ending);

  SourceUnit Unit;
  std::vector<uint8_t> Unpatched;
  std::vector<std::string> Opened; // by the unpatched unit, once known
  uint64_t CpuSeconds = 20;        // that clang may take
};

/// Why an added text is refused for what it spells; empty where it is not.
std::string forbiddenSpelling(const std::string &Added);

} // namespace r3::replay
