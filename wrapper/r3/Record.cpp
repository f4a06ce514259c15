// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3 record: runs a program with the recorder switched on, by environment
// variables alone, so that it works through launchers such as mpirun. The
// recorder writes what it saw into the store as it goes; this process only
// waits, passes signals on and reads the store afterwards, however the program
// ended. Its exit status is the program's.
#include "runtime/support/Process.h"
#include "wrapper/r3/Command.h"
#include "wrapper/r3/Interrupt.h"
#include "wrapper/r3/RecordRun.h"
#include "wrapper/r3/Text.h"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <sys/statvfs.h>
#include <unistd.h>

namespace r3 {

namespace {

std::string makeRunId() {
  char When[32];
  std::time_t Now = std::time(nullptr);
  std::tm Utc{};
  gmtime_r(&Now, &Utc);
  std::strftime(When, sizeof(When), "%Y%m%d-%H%M%S", &Utc);
  return format("%s-%d", When, int(getpid()));
}

/// What the recorder may write where the user named no limit.
uint64_t defaultLimit(uint64_t FreeBytes) {
  return std::min<uint64_t>(8ull << 30, FreeBytes / 10);
}

std::string joined(const std::vector<std::string> &Words) {
  std::string Text;
  for (const std::string &Word : Words)
    Text += (Text.empty() ? "" : ",") + Word;
  return Text;
}

class Record : public Command {
public:
  void declare(Flags &Options) override {
    Options.texts("-k,--kernel", Kernels, "PATTERN",
                  "record only kernels whose name contains PATTERN (again for "
                  "more)");
    Options.count("-s,--skip", Skip, "launches of each kernel to skip first");
    Options.count("-c,--count", Count,
                  "launches kept for each argument class (default: 2)");
    Options.count("--classes", Classes,
                  "argument classes kept for each kernel (default: 3)");
    Options.size("--limit", Limit,
                 "bytes that may be written (default: 8 GB, or a tenth of the "
                 "free disk)");
    Options.choice("--closure", Closure, {"reachable", "all"},
                   "memory that is saved (default: reachable)");
    Options.duration("--launch-timeout", TimeoutMs,
                     "how long a launch may take to become quiet (default: "
                     "10s)");
    Options.number("--min-share", MinShare, 0, 100,
                   "drop kernels with less than X percent of the time; 0 keeps "
                   "all (default: 1; with -k: 0)");
  }

  Expected<int> run(Context &Given) override {
    if (Given.Program.empty())
      return fail(ErrorCode::Usage, "which program? It comes after --: r3 "
                                    "record -- ./app in.dat");
    takeDefaults(Given);
    auto To = Store::open(Given.StorePath, /*Create=*/true);
    if (!To)
      return fail(To.error().code(), "%s; R3_STORE names another place",
                  To.error().message().c_str());
    announce(Given, *To);

    std::vector<std::string> Known = To->listRecordings();
    std::set<std::string> Before(Known.begin(), Known.end());
    std::set<std::string> PacksBefore = listPacks(*To);
    std::string RunId = makeRunId();
    auto Ended = runProgram(Given, environment(Given, RunId));
    if (!Ended)
      return Ended.error();
    // From here on nothing changes but what is cold.

    RecordedRun Run = readRecordedRun(*To, RunId);
    if (Error E = dropCold(*To, RunId, Before, PacksBefore, minShare(), Run))
      Given.warn("cold recordings stay: " + E.message());
    report(Given, *To, Run, *Ended);
    return Ended->Code;
  }

private:
  double minShare() const {
    return MinShare >= 0 ? MinShare / 100 : Kernels.empty() ? 0.01 : 0;
  }

  /// What neither an option nor a variable says, r3.toml may say.
  void takeDefaults(const Context &Given) {
    auto Take = [&](uint64_t &Value, const std::optional<uint64_t> &Project,
                    const char *Variable) {
      if (!Value && !Given.Variables.isSet(Variable))
        Value = Project.value_or(0);
    };
    Take(Limit, Given.Project.RecordLimitBytes, "R3_RECORD_LIMIT");
    Take(Classes, Given.Project.RecordClasses, "R3_RECORD_CLASSES");
    Take(Count, Given.Project.RecordCount, "R3_RECORD_COUNT");
    if (MinShare < 0 && Kernels.empty() && Given.Project.RecordMinShare)
      MinShare = *Given.Project.RecordMinShare;
  }

  void announce(Context &Given, const Store &To) {
    struct statvfs Disk{};
    uint64_t FreeBytes = 0;
    if (statvfs(To.path().c_str(), &Disk) == 0)
      FreeBytes = uint64_t(Disk.f_bavail) * Disk.f_frsize;
    uint64_t Most = Limit ? Limit : Given.Variables.number("R3_RECORD_LIMIT");
    Most = Most ? Most : defaultLimit(FreeBytes);
    Given.Err.print("r3: recording into " + To.path() + ", at most " +
                    bytesText(Most) + " (" + bytesText(FreeBytes) + " free)" +
                    (Kernels.empty() ? "" : ", kernels " + joined(Kernels)) +
                    "\n");
    if (Most > FreeBytes)
      Given.warn("the limit is larger than the free disk");
  }

  /// The program's environment: ours, with the recorder switched on.
  std::vector<std::string> environment(const Context &Given,
                                       const std::string &RunId) const {
    std::vector<std::pair<std::string, std::string>> Changes = {
        {"R3_RECORD", "1"},
        {"R3_STORE", Given.StorePath},
        {"R3_DISABLE", "1"}, // originals are recorded
        {"R3_DEVICE", Given.Backend},
        {"R3_RECORD_RUN", RunId}};
    if (!Kernels.empty())
      Changes.push_back({"R3_RECORD_KERNELS", joined(Kernels)});
    if (Skip)
      Changes.push_back({"R3_RECORD_SKIP", std::to_string(Skip)});
    if (Count)
      Changes.push_back({"R3_RECORD_COUNT", std::to_string(Count)});
    if (Classes)
      Changes.push_back({"R3_RECORD_CLASSES", std::to_string(Classes)});
    if (Limit)
      Changes.push_back({"R3_RECORD_LIMIT", std::to_string(Limit)});
    if (!Closure.empty())
      Changes.push_back({"R3_RECORD_CLOSURE", Closure});
    if (TimeoutMs)
      Changes.push_back({"R3_RECORD_TIMEOUT", std::to_string(TimeoutMs)});

    std::vector<std::string> All = inheritedEnvironment();
    for (const auto &[Name, Value] : Changes) {
      std::erase_if(All, [&](const std::string &One) {
        return One.starts_with(Name + "=");
      });
      All.push_back(Name + "=" + Value);
    }
    return All;
  }

  Expected<ExitStatus> runProgram(Context &Given,
                                  std::vector<std::string> Variables) const {
    SpawnOptions Options;
    Options.Arguments = Given.Program;
    if (Given.Verbose) {
      std::vector<std::string> Line;
      for (const std::string &One : Variables)
        if (One.starts_with("R3_"))
          Line.push_back(One);
      Line.insert(Line.end(), Given.Program.begin(), Given.Program.end());
      Given.trace(Line);
    }
    Options.Environment = std::move(Variables);
    ForwardSignals Signals;
    auto Child = Process::spawn(Options);
    if (!Child)
      return Child.error();
    Signals.follow(Child->pid());
    return Child->wait();
  }

  void report(Context &Given, const Store &To, const RecordedRun &Run,
              const ExitStatus &Ended) const {
    if (Ended.Signal)
      Given.warn(format("the program was ended by signal %d (%s); what was "
                        "recorded before is kept",
                        Ended.Signal, strsignal(Ended.Signal)));
    else if (Ended.Code)
      Given.warn(format("the program ended with status %d", Ended.Code));
    for (const std::string &Message : Run.Damaged)
      Given.warn(Message);
    if (Run.Kernels.empty()) {
      Given.warn(Run.Processes
                     ? "no kernel was launched"
                     : "nothing was recorded: no process of the program loaded "
                       "R3's runtime. Is it built with clang-r3? (r3 inspect "
                       "PROGRAM shows what it carries)");
      return;
    }
    bool Cpu = Run.Backend == "cpu";
    Table Lines({"KERNEL", ">SHARE", Cpu ? ">CPU TIME" : ">TIME", ">LAUNCHES",
                 ">RECORDED", ">SIZE", ">PAUSE", "NOTE"});
    uint64_t Recorded = 0, Bytes = 0;
    for (const RecordedKernel &K : Run.Kernels) {
      uint64_t Kept = K.Recorded - std::min(K.Recorded, K.Dropped);
      Recorded += Kept;
      Bytes += K.Bytes;
      Lines.add({shortened(printable(K.Name), 48),
                 K.Sampled ? percentText(K.Share) : "-",
                 K.Sampled ? durationText(K.TotalNs) : "-",
                 countText(K.Launches), countText(Kept), bytesText(K.Bytes),
                 durationText(double(K.PauseNs)), note(K)});
    }
    Given.Err.print(Lines.text());
    Given.Err.print(format(
        "r3: %s of %s kept, %s written%s\n",
        plural(Recorded, "recording").c_str(),
        plural(Run.Kernels.size(), "kernel").c_str(), bytesText(Bytes).c_str(),
        Run.Processes > 1
            ? (", " + plural(Run.Processes, "process") + "es").c_str()
            : ""));
    if (Recorded)
      Given.Err.print("next: r3 list, then r3 replay" +
                      std::string(Cpu ? " --device cpu" : "") + "\n");
    (void)To;
  }

  static std::string note(const RecordedKernel &K) {
    if (K.Dropped)
      return format("cold: %s dropped", plural(K.Dropped, "recording").c_str());
    if (K.ReasonCount)
      return K.Reason + " (" + plural(K.ReasonCount, "launch") +
             (K.ReasonCount == 1 ? ")" : "es)");
    return "";
  }

  std::vector<std::string> Kernels;
  uint64_t Skip = 0, Count = 0, Classes = 0, Limit = 0, TimeoutMs = 0;
  std::string Closure;
  double MinShare = -1;
};

} // namespace

std::unique_ptr<Command> makeRecord() { return std::make_unique<Record>(); }

} // namespace r3
