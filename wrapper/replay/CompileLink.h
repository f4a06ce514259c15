// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The supervisor's side of the compile worker: starts it, hands it a module,
// asks for builds, and replaces it when it dies or takes too long.
//
//   pipelines {backend, arch} -> {pipelines: {"O1": text, ...}}
//   load      {backend, kernel, arch, level, command: [..], root, source,
//              parameters: [names], threads}
//             blob: bitcode -> {}
//   build     {variant, instrument, allowPrecision, deadlineMs, passLimit,
//             maySkip, ways: [digest, code, ...]} ->
//             {outcome, message, code, registers, shared, spills, sites,
//             unseen, numbers, lessPrecise, promise, passRuns, nextPass,
//             nextPlace, ir, ptx, skipped, ms} blob: binary
//             ways: digests of IR and PTX that give known binaries, beside
//             those of earlier builds; with maySkip, what has one of them ends
//             there: skipped, with that binary's digest and without a blob
//             passLimit: so many runs of optional passes; missing: all
//             instrument: "", "trace", "round", "double", "freeze-0",
//             "freeze-1", "no-op", "bounds" (the CPU device's bounds checks),
//             or "ptx" (the binary is the PTX, for either device)
//   nvcc      {deadlineMs} -> {outcome, message} blob: PTX of the kernel, as
//             nvcc -O3 compiles the recorded source (Nvcc.h)
#pragma once

#include "wrapper/replay/Children.h"
#include "wrapper/replay/KnownCode.h"
#include "wrapper/replay/Message.h"

#include "runtime/support/Protocol.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace r3::replay {

struct CompileJob {
  std::string Backend;
  std::string Kernel;
  std::string Arch;
  std::string Level;
  std::vector<uint8_t> Bitcode;
  // For source patches: how the unit was compiled, and where it lies.
  std::vector<std::string> Command;
  std::string Root, Source;
  /// Names of whole parameters, by their index; empty for others.
  std::vector<std::string> Parameters;
  uint64_t Threads = 0; // of the largest recorded block
};

struct Build {
  Outcome Ending = Outcome::Ok;
  std::string Message;
  std::vector<uint8_t> Binary;
  std::string Code; // digest of the kernel's code section
  uint32_t Registers = 0, Shared = 0, Spills = 0;
  std::vector<std::string> Sites, Unseen; // of a traced build (Trace.h)
  std::string LessPrecise; // that a source brings in, where that is allowed
  /// Of a source: what it takes for granted and no guard says (Promises.h).
  std::string Promise;
  std::vector<uint64_t> Numbers;
  /// Where the passes were limited: runs that were asked for, and the first one
  /// that was not made.
  uint64_t PassRuns = 0;
  std::string NextPass, NextPlace;
  /// Digests of the optimised IR and the PTX, with all that the binary depends
  /// on besides them; where builds may be skipped.
  std::string Ir, Ptx;
  bool Skipped = false; // one of them is known: Code is, and no more
  std::map<std::string, double> Ms;
};

class CompileLink {
public:
  /// GraceMs: how long the worker may take beyond a build's deadline.
  CompileLink(std::string Program, uint64_t GraceMs, Children &All)
      : Program(std::move(Program)), GraceMs(GraceMs), All(All) {}

  /// Printed default pipelines by level.
  Expected<std::map<std::string, std::string>>
  pipelines(const std::string &Backend, const std::string &Arch);
  /// What builds are made from, from now on.
  void setJob(CompileJob Next);
  void clearJob();
  /// Variant: canonical JSON. Instrument: as in the table above.
  /// Skip: builds that come to what is known there may be left out; null: none.
  Build build(const std::string &Variant, uint64_t DeadlineMs,
              const std::string &Instrument = "",
              const KnownCode *Skip = nullptr);
  /// What nvcc makes of the source; Binary is the PTX.
  Build nvcc(uint64_t DeadlineMs);
  /// Whether sources may bring in numbers of less precision, from now on.
  void allowPrecision(bool Allowed) { PrecisionAllowed = Allowed; }
  /// How many runs of optional passes plain builds of variants have, from now
  /// on; nothing: all.
  void limitPasses(std::optional<uint64_t> Runs) { PassLimit = Runs; }
  pid_t childPid() const { return Runs ? Runs->pid() : -1; }

private:
  struct Answer {
    json::Document Header;
    std::vector<uint8_t> Blob;
  };
  Error start();
  Error ensureLoaded();
  Build begin();
  Expected<Answer> ask(std::string Json, std::vector<uint8_t> Blob,
                       int TimeoutMs);
  std::string lose();

  std::string Program;
  uint64_t GraceMs;
  Children &All;
  std::optional<Child> Runs;
  std::optional<Channel> Link;
  std::optional<CompileJob> Job;
  bool Loaded = false;
  size_t WaysTold = 0; // to the worker
  bool PrecisionAllowed = false;
  std::optional<uint64_t> PassLimit;
  uint64_t NextId = 1;
};

} // namespace r3::replay
