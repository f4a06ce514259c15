// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the supervisor starts its two children, and the list of those that run,
// so that another thread can end them all when the client goes away.
#pragma once

#include "wrapper/replay/Descriptors.h"

#include "runtime/support/Process.h"

#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace r3::replay {

/// Process ids of running children. Any thread.
class Children {
public:
  /// Negative: a process group's.
  void add(pid_t Pid);
  void remove(pid_t Pid);
  /// SIGKILL to all, then reaps whatever ends within a second. A child that is
  /// added later is killed at once.
  void endAll();
  /// endAll() has begun.
  bool ended() const;

private:
  mutable std::mutex Lock;
  std::set<pid_t> Pids;
  bool Ended = false;
};

/// A child with its sockets. Stdin is empty, stdout goes nowhere (device code
/// may print), stderr is kept for messages.
class Child {
public:
  struct Options {
    std::string Program;
    std::vector<std::string> Variables; // names passed on, where they are set
    bool PassDescriptors = false;       // a second socket
    /// What starts Program in its stead, with options; it has PATH, what it
    /// prints is kept with stderr, and Program is told to leave the device
    /// properly. Empty: nobody.
    std::vector<std::string> Launcher = {};
  };
  static Expected<Child> start(const Options &O, Children &All);
  Child(Child &&) noexcept = default;
  Child &operator=(Child &&) = delete;
  ~Child();

  pid_t pid() const { return Runs.pid(); }
  /// The supervisor's ends.
  int protocol() const { return Protocol.get(); }
  int descriptors() const { return Passing.get(); }
  int releaseProtocol() { return Protocol.release(); }
  /// Waits a little for an end that is under way, then kills.
  ExitStatus end(std::chrono::milliseconds Patience);
  /// The last lines that it wrote to stderr, on one line.
  std::string lastWords() const;
  /// All that it wrote, up to a megabyte.
  std::string output() const { return tail(1 << 20); }

private:
  Child(Process Runs, OwnedFd Protocol, OwnedFd Passing, OwnedFd Errors,
        Children &All, bool Group);
  pid_t listed() const { return Group ? -Runs.pid() : Runs.pid(); }
  std::string tail(off_t Bytes) const;
  Process Runs;
  OwnedFd Protocol, Passing, Errors;
  Children *All;
  bool Group; // it may have children
};

/// "signal 11 (segmentation fault)", "exit status 3", "...".
std::string describe(const ExitStatus &Status);

} // namespace r3::replay
