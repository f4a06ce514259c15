// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Beginning and end: the store, the limit, the run's statistics.
#include "runtime/record/Recorder.h"

#include "runtime/record/Message.h"
#include "runtime/support/Options.h"
#include "runtime/support/Store.h"

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <random>
#include <sys/statvfs.h>
#include <unistd.h>

namespace r3::record {

Expected<RecorderOptions> recorderOptions(const Environment &E,
                                          const std::string &Folder) {
  const std::string &Closure = E.text("R3_RECORD_CLOSURE");
  if (Closure != "reachable" && Closure != "all")
    return fail(ErrorCode::Usage, "R3_RECORD_CLOSURE=%s: reachable or all",
                Closure.c_str());
  RecorderOptions Options;
  Options.StorePath = Store::pathFor(Folder, E.text("R3_STORE"));
  Options.Run = E.text("R3_RECORD_RUN");
  Options.Kernels = E.names("R3_RECORD_KERNELS");
  Options.Policy.Skip = E.number("R3_RECORD_SKIP");
  Options.Policy.Classes = E.number("R3_RECORD_CLASSES");
  Options.Policy.Count = E.number("R3_RECORD_COUNT");
  Options.LimitBytes = E.number("R3_RECORD_LIMIT");
  Options.TimeoutMs = E.number("R3_RECORD_TIMEOUT");
  Options.Everything = Closure == "all";
  Options.Seed = std::random_device()();
  // Who says how many wants them, whatever they cost; tests and the demo want
  // the same recordings on a slow machine too.
  Options.Exempt = E.isSet("R3_RECORD_COUNT") || E.text("R3_DEVICE") == "cpu";
  return Options;
}

/// What may be written: the option, else 8 GB or a tenth of the free disk.
static uint64_t writeLimit(const std::string &Path, uint64_t Option) {
  if (Option)
    return Option;
  struct statvfs Disk;
  uint64_t Limit = 8ull << 30;
  if (!statvfs(Path.c_str(), &Disk))
    Limit = std::min<uint64_t>(Limit, Disk.f_bavail * Disk.f_frsize / 10);
  return Limit;
}

/// The rank of an MPI program, from its launcher.
static uint32_t processRank() {
  for (const char *Name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                           "MV2_COMM_WORLD_RANK", "SLURM_PROCID"})
    if (auto Value = systemVariable(Name))
      return uint32_t(std::strtoul(Value->c_str(), nullptr, 10));
  return 0;
}

static std::string programPath() {
  char Path[4096];
  ssize_t Size = readlink("/proc/self/exe", Path, sizeof(Path));
  return Size > 0 ? std::string(Path, size_t(Size)) : "unknown";
}

Recorder::Recorder(RecorderOptions Options, Surroundings Around, Units &Program,
                   std::unique_ptr<Saver> Out)
    : Options(std::move(Options)), Around(std::move(Around)), Program(Program),
      Out(std::move(Out)), Rank(processRank()),
      Started(std::chrono::steady_clock::now()), Door(this->Options.TimeoutMs) {
}

Recorder::~Recorder() { Out->close(); }

Expected<std::unique_ptr<Recorder>>
Recorder::create(RecorderOptions Options, Surroundings Around, Units &Program) {
  auto Out = Saver::open(Options.StorePath, Options.Writers);
  if (!Out)
    return Out.error();
  std::unique_ptr<Recorder> R(new Recorder(
      std::move(Options), std::move(Around), Program, std::move(*Out)));
  const Store &Files = R->Out->store();
  if (Error E = R->Out->runOnWriter([&] { return R->openStatistics(); }))
    return E;
  R->Limit = writeLimit(Files.path(), R->Options.LimitBytes);
  // r3 record, which gives the run its name, has said it.
  if (R->Options.Run.empty())
    say(format("recording into %s, at most %.1f GB (R3_RECORD_LIMIT)",
               Files.path().c_str(), R->Limit / 1e9));
  return R;
}

/// Several processes of one run share its name: the first takes it, the
/// others add their process id.
Error Recorder::openStatistics() {
  RunStats Header;
  Header.Pid = uint32_t(getpid());
  Header.Rank = Rank;
  auto Now = std::chrono::system_clock::now().time_since_epoch();
  Header.StartedAtNs = uint64_t(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Now).count());
  Header.LastUpdateNs = Header.StartedAtNs;
  Header.Program = programPath();
  std::string Name = Options.Run;
  if (Name.empty())
    Name =
        format("%llu-%d",
               static_cast<unsigned long long>(Header.StartedAtNs / 1000000000),
               getpid());
  std::string Path = Out->store().runPath(Name);
  int Claim = open(Path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
  if (Claim >= 0)
    close(Claim);
  else
    Path = Out->store().runPath(Name + "-" + std::to_string(getpid()));
  auto Writer = RunStatsWriter::create(Path, Header);
  if (!Writer)
    return Writer.error();
  Statistics = std::move(*Writer);
  return Error::success();
}

void Recorder::drain() { Out->drain(); }

void Recorder::finish() {
  Off = true;
  // A record that is stuck is left behind; what was queued is saved.
  bool Alone = Recording.take(Options.TimeoutMs);
  Out->drain();
  if (!Alone)
    return;
  Out->close();
  Recording.give();
}

void Recorder::switchOff(const std::string &Why) {
  if (!Off.exchange(true))
    say("recording is off from here on: " + Why);
}

} // namespace r3::record
