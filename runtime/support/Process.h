// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Child processes: started without a shell, in their own process group where
// asked for, with deadlines measured from outside.
#pragma once

#include "runtime/support/Error.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace r3 {

/// How a process ended.
struct ExitStatus {
  int Code = 0;   // exit code; 128 + signal where a signal ended it
  int Signal = 0; // 0: ended by itself
  bool TimedOut = false;
  bool ok() const { return Code == 0 && !Signal && !TimedOut; }
};

struct SpawnOptions {
  std::vector<std::string> Arguments; // [0]: program, looked up in PATH
  /// Whole environment ("A=b"); nothing: inherited.
  std::optional<std::vector<std::string>> Environment;
  std::string Directory; // empty: the current one
  /// Descriptor for 0, 1, 2 in the child; -1: inherited, -2: /dev/null.
  int Stdin = -1, Stdout = -1, Stderr = -1;
  /// Further descriptors: parent's fd -> child's fd.
  std::vector<std::pair<int, int>> Descriptors;
  bool NewGroup = false;   // a process group of its own
  /// PR_SET_PDEATHSIG SIGKILL. The kernel looks at the thread that spawned:
  /// the child dies also where only that thread ends.
  bool DieWithParent = false;
  uint64_t MemoryLimitBytes = 0; // RLIMIT_AS; 0: none
  uint64_t CpuLimitSeconds = 0;
};

/// A running child. The destructor kills and reaps what still runs.
class Process {
public:
  static Expected<Process> spawn(const SpawnOptions &Options);
  Process(Process &&Other) noexcept;
  Process &operator=(Process &&Other) noexcept;
  ~Process();

  pid_t pid() const { return Pid; }
  /// Waits; after Deadline the group (or process) is killed, TimedOut is set.
  ExitStatus wait(std::optional<std::chrono::milliseconds> Deadline = {});
  /// The status where it has ended already.
  std::optional<ExitStatus> poll();
  void kill(int Signal);

private:
  Process() = default;
  std::optional<ExitStatus> reap(int Flags);
  pid_t Pid = -1;
  bool Group = false;
  std::optional<ExitStatus> Ended;
};

struct RunResult {
  ExitStatus Status;
  std::string Out;
  std::string Err;
};

/// Runs to the end with Input on stdin and captures both outputs (up to
/// LimitBytes each; more is dropped).
Expected<RunResult> runProcess(const SpawnOptions &Options,
                               const std::string &Input = {},
                               std::optional<std::chrono::milliseconds>
                                   Deadline = {},
                               size_t LimitBytes = 16u << 20);

/// When a process of this machine was started, in ticks since boot, which tells
/// it from a later one with the same number; 0 where there is none.
uint64_t processStart(pid_t Pid);

/// Path of a file of the installation, relative to its prefix, found from the
/// running binary (or library) that contains this code.
std::string installationPath(const std::string &Relative);

} // namespace r3
