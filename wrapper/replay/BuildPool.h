// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds variants ahead of their turn: while one is judged, those of requests
// that wait are built by several compile workers, each with a thread of its
// own. What a worker loses by crashing or hanging is its one build.
#pragma once

#include "wrapper/replay/CompileLink.h"
#include "wrapper/replay/KnownCode.h"

#include "runtime/support/Variant.h"

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace r3::replay {

/// Why the worker does not take a variant on; empty where it does.
std::string refusal(const Variant &V, const std::string &Backend);

/// Whether a variant's build with bounds checks runs before its plain one. A
/// source by itself is traced instead. Where passes are limited it is the plain
/// build that is asked about; another one has other runs of them.
bool isCheckedFirst(const Variant &V, const std::optional<uint64_t> &PassLimit);

/// What there is of a variant when its turn comes.
struct BuiltAhead {
  Build Plain;
  std::optional<Build> Checked; // with bounds checks
};

/// The methods may be called by any thread, open() before all others.
class BuildPool {
public:
  /// As of CompileLink; DeadlineMs: of each build. Known is asked what need not
  /// be built with bounds checks.
  BuildPool(std::string Program, uint64_t DeadlineMs, uint64_t GraceMs,
            Children &All, const KnownCode &Known)
      : Program(std::move(Program)), DeadlineMs(DeadlineMs), GraceMs(GraceMs),
        All(All), Known(Known) {}
  /// Waits for builds that have begun.
  ~BuildPool();

  /// So many compile workers at most; they are started when there is something
  /// for them. Once.
  void open(unsigned Compilers);
  /// What builds are made from, from now on; nothing: there are none. What was
  /// ordered before is dropped.
  void setJob(std::shared_ptr<const CompileJob> Next);
  /// The variant of an `evaluate` request with this id. Of one that cannot be
  /// read nothing is built: its turn will tell.
  void order(uint64_t Request, const std::string &Json);
  /// Forgets all orders; who waits for one gets nothing.
  void drop();
  /// Waits for what was ordered, once; nothing where it was not, or dropped.
  std::optional<BuiltAhead> take(uint64_t Request);

private:
  struct Order {
    std::string Json;
    bool Begun = false, Done = false;
    std::optional<BuiltAhead> Made; // nothing: see order()
  };
  void work();
  std::shared_ptr<Order> nextOrder() const;
  std::optional<BuiltAhead> make(CompileLink &Link, const CompileJob &Job,
                                 const std::string &Json) const;

  const std::string Program;
  const uint64_t DeadlineMs, GraceMs;
  Children &All;
  const KnownCode &Known;

  std::mutex Lock; // of all that follows
  std::condition_variable Changed;
  std::shared_ptr<const CompileJob> Job;
  std::map<uint64_t, std::shared_ptr<Order>> Orders; // the oldest first
  std::vector<std::thread> Threads;
  unsigned Compilers = 0, Idle = 0; // threads: at most, and that wait
  bool Ending = false;
};

} // namespace r3::replay
