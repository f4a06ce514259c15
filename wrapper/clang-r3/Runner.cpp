// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A crash below the plugin cannot be told by the exit code alone: clang's
// driver exits with 1, 254 or a signal's number. The status file tells: where
// the plugin has "entered", the front end had found no error. Where it has
// not, a probe tells whether it can be loaded at all. The output of a second
// try that fails too is dropped, since the first has shown the same errors.
#include "wrapper/clang-r3/Runner.h"

#include "runtime/support/Files.h"
#include "runtime/support/Handover.h"
#include "runtime/support/Options.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace r3::clangr3 {

namespace {

constexpr int Forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
volatile sig_atomic_t Child = 0;
volatile sig_atomic_t Received = 0;

// A terminal's Ctrl-C has reached the child already.
void forward(int Signal, siginfo_t *Info, void *) {
  Received = Signal;
  if (Child > 0 && Info->si_code <= 0)
    kill(Child, Signal);
}

void forwardSignals() {
  for (int Signal : Forwarded) {
    struct sigaction Old, New = {};
    if (sigaction(Signal, nullptr, &Old) || Old.sa_handler == SIG_IGN)
      continue;
    New.sa_sigaction = forward;
    New.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(Signal, &New, nullptr);
  }
}

// The folder, removed at the end.
class HandoverFolder {
public:
  static Expected<HandoverFolder> create() {
    Expected<std::string> Path = createPrivateFolder(
        systemVariable("TMPDIR").value_or("/tmp") + "/r3-handover-");
    if (!Path)
      return Path.error();
    return HandoverFolder(*Path);
  }
  HandoverFolder(HandoverFolder &&Other) noexcept
      : Path(std::exchange(Other.Path, {})) {}
  ~HandoverFolder() {
    std::error_code Ignored;
    if (!Path.empty())
      fs::remove_all(Path, Ignored);
  }
  std::string Path;

private:
  explicit HandoverFolder(std::string Path) : Path(std::move(Path)) {}
};

// Standard input in memory, so that a second try can read it again.
Expected<int> keepStdin() {
  int Fd = memfd_create("r3-stdin", MFD_CLOEXEC);
  char Buffer[1 << 16];
  ssize_t Got = 0;
  while (Fd >= 0 && (Got = read(STDIN_FILENO, Buffer, sizeof(Buffer))) > 0)
    if (write(Fd, Buffer, Got) != Got)
      return fail(ErrorCode::NoSpace, "standard input: cannot be kept: %s",
                  strerror(errno));
  if (Fd < 0 || Got < 0)
    return fail(ErrorCode::Failed, "standard input: %s", strerror(errno));
  lseek(Fd, 0, SEEK_SET);
  return Fd;
}

bool canLoadPlugin(const Plan &Work) {
  SpawnOptions Probe;
  Probe.Arguments = {Work.Command[0], "-x", "c++", "-c", "/dev/null",
                     "-o",            "/dev/null"};
  for (const std::string &Word : Work.Command)
    if (Word.starts_with("-fpass-plugin="))
      Probe.Arguments.push_back(Word);
  Expected<RunResult> Result = runProcess(Probe);
  return !Result || Result->Status.ok();
}

// Whether it makes sense to run the command again without the plugin.
bool mayBePluginsFault(const Plan &Work, const HandoverStatus &Status) {
  return Status.Entered || !canLoadPlugin(Work);
}

struct SecondTry {
  ExitStatus Status;
  std::string Out, Err;
};

Expected<SecondTry> tryPlain(const Plan &Work, int Stdin) {
  SpawnOptions Options;
  Options.Arguments = Work.PlainCommand;
  Options.Stdin = Stdin;
  Options.DieWithParent = true;
  FILE *Out = tmpfile(), *Err = tmpfile();
  if (!Out || !Err)
    return fail(ErrorCode::Failed, "no temporary file: %s", strerror(errno));
  Options.Stdout = fileno(Out);
  Options.Stderr = fileno(Err);
  Expected<ExitStatus> Status = runForwarding(Options);
  if (!Status)
    return Status.error();
  SecondTry Result{*Status, {}, {}};
  for (auto &[File, Text] :
       {std::pair{Out, &Result.Out}, std::pair{Err, &Result.Err}}) {
    rewind(File);
    char Buffer[4096];
    for (size_t Got; (Got = fread(Buffer, 1, sizeof(Buffer), File)) > 0;)
      Text->append(Buffer, Got);
    fclose(File);
  }
  return Result;
}

Expected<ExitStatus> runAgain(const Plan &Work, int Stdin,
                              const ExitStatus &First,
                              const HandoverStatus &Handover,
                              Reporter &Report) {
  if (Stdin != -1)
    lseek(Stdin, 0, SEEK_SET);
  Expected<SecondTry> Second = tryPlain(Work, Stdin);
  if (!Second)
    return Second.error();
  if (!Second->Status.ok())
    return First;
  fwrite(Second->Out.data(), 1, Second->Out.size(), stdout);
  fflush(stdout);
  fwrite(Second->Err.data(), 1, Second->Err.size(), stderr);
  if (!Handover.Entered)
    Report.warn("plugin-unusable",
                "clang cannot load libR3.so; compiled without R3");
  else if (Handover.Left < Handover.Entered)
    Report.warn("plugin-crashed",
                "the plugin ended the compiler; compiled without R3");
  else
    Report.warn("back-end-failed", "the compiler failed on what the plugin "
                                   "made; compiled without R3");
  return Second->Status;
}

} // namespace

int receivedSignal() { return Received; }

Error become(const std::vector<std::string> &Command) {
  std::vector<char *> Words;
  for (const std::string &Word : Command)
    Words.push_back(const_cast<char *>(Word.c_str()));
  Words.push_back(nullptr);
  execvp(Words[0], Words.data());
  return fail(ErrorCode::Failed, "%s: cannot be started: %s", Words[0],
              strerror(errno));
}

Expected<ExitStatus> runForwarding(const SpawnOptions &Options) {
  forwardSignals();
  Expected<Process> Running = Process::spawn(Options);
  if (!Running)
    return Running.error();
  Child = Running->pid();
  if (Received) // between the two lines above
    Running->kill(Received);
  ExitStatus Status = Running->wait();
  Child = 0;
  return Status;
}

Expected<ExitStatus> runWithPlugin(const Plan &Work, bool ReadsStdin,
                                   bool Strict, Reporter &Report) {
  Expected<HandoverFolder> Folder = HandoverFolder::create();
  if (!Folder)
    return Folder.error();
  SpawnOptions Options;
  Options.Arguments = Work.Command;
  Options.DieWithParent = true;
  Options.Environment = inheritedEnvironment();
  std::erase_if(*Options.Environment, [](const std::string &Variable) {
    return Variable.starts_with("R3_HANDOVER=");
  });
  Options.Environment->push_back("R3_HANDOVER=" + Folder->Path);
  if (ReadsStdin) {
    Expected<int> Kept = keepStdin();
    if (!Kept)
      return Kept.error();
    Options.Stdin = *Kept;
  }

  Expected<ExitStatus> First = runForwarding(Options);
  if (!First || receivedSignal())
    return First;
  HandoverStatus Handover = readHandoverStatus(Folder->Path);
  if (!First->ok() && mayBePluginsFault(Work, Handover) && !Strict)
    return runAgain(Work, Options.Stdin, *First, Handover, Report);
  for (const HandoverMessage &Message : readHandoverMessages(Folder->Path))
    if (Message.Kind == "warning")
      Report.warn(Message.Reason, Message.Text);
  return First;
}

int endAs(const ExitStatus &Status) {
  int Signal = Status.Signal ? Status.Signal : receivedSignal();
  if (!Signal)
    return Status.Code;
  // No second core dump for the same crash.
  struct rlimit None = {0, 0};
  setrlimit(RLIMIT_CORE, &None);
  signal(Signal, SIG_DFL);
  raise(Signal);
  return 128 + Signal;
}

} // namespace r3::clangr3
