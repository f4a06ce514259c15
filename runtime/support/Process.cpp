// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fork and exec. Between the two only async-signal-safe calls are made, on
// data that was prepared before; a child that cannot start its program reports
// the error number through a pipe that exec closes.
#include "runtime/support/Process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <fstream>
#include <link.h>
#include <poll.h>
#include <sstream>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace r3 {

using Clock = std::chrono::steady_clock;

namespace {

/// What the child needs, in a form that needs no allocation after fork.
struct ChildPlan {
  std::string Program;
  std::vector<char *> Arguments;
  std::vector<char *> Environment;
  bool OwnEnvironment = false;
  const char *Directory = nullptr;
  std::vector<std::array<int, 2>> Descriptors; // source (-2: null), target
  int ErrorPipe = -1;
  pid_t Parent = -1;
  sigset_t Mask;
};

struct Pipe {
  int Read = -1, Write = -1;
  Pipe() = default;
  Pipe(const Pipe &) = delete;
  ~Pipe() {
    closeEnd(Read);
    closeEnd(Write);
  }
  Error open() {
    int Ends[2];
    if (::pipe2(Ends, O_CLOEXEC))
      return fail(ErrorCode::Failed, "cannot make a pipe: %s",
                  std::strerror(errno));
    Read = Ends[0];
    Write = Ends[1];
    return Error::success();
  }
  static void closeEnd(int &Fd) {
    if (Fd >= 0)
      ::close(Fd);
    Fd = -1;
  }
};

} // namespace

static bool isProgram(const std::string &Path) {
  struct stat Status;
  return !::stat(Path.c_str(), &Status) && S_ISREG(Status.st_mode) &&
         !::access(Path.c_str(), X_OK);
}

/// PATH of the child where it has an environment of its own, else ours.
static std::string searchPath(const SpawnOptions &Options) {
  if (Options.Environment)
    for (const std::string &Variable : *Options.Environment)
      if (Variable.starts_with("PATH="))
        return Variable.substr(5);
  for (char **At = environ; At && *At; ++At)
    if (std::string_view(*At).starts_with("PATH="))
      return *At + 5;
  return "/usr/local/bin:/usr/bin:/bin";
}

static Expected<std::string> findProgram(const SpawnOptions &Options) {
  const std::string &Name = Options.Arguments[0];
  if (Name.find('/') != std::string::npos)
    return Name;
  std::string Path = searchPath(Options);
  for (size_t Begin = 0; Begin <= Path.size();) {
    size_t End = std::min(Path.find(':', Begin), Path.size());
    std::string Folder = Path.substr(Begin, End - Begin);
    std::string Candidate = (Folder.empty() ? "." : Folder) + "/" + Name;
    if (isProgram(Candidate))
      return Candidate;
    Begin = End + 1;
  }
  return fail(ErrorCode::NotFound, "%s: not found in PATH", Name.c_str());
}

static void setLimit(int Resource, uint64_t Value) {
  struct rlimit Limit = {Value, Value};
  (void)::setrlimit(__rlimit_resource_t(Resource), &Limit);
}

/// Puts descriptors where the child wants them. All are first moved above the
/// highest target, so that none is overwritten before it is used.
static bool placeDescriptors(ChildPlan &Plan) {
  int Base = 3;
  for (const auto &[Source, Target] : Plan.Descriptors)
    Base = std::max(Base, Target + 1);
  if ((Plan.ErrorPipe = ::fcntl(Plan.ErrorPipe, F_DUPFD_CLOEXEC, Base)) < 0)
    return false;
  for (auto &[Source, Target] : Plan.Descriptors) {
    int Opened =
        Source == -2 ? ::open("/dev/null", O_RDWR | O_CLOEXEC) : Source;
    Source = Opened < 0 ? -1 : ::fcntl(Opened, F_DUPFD_CLOEXEC, Base);
    if (Source < 0)
      return false;
  }
  for (const auto &[Source, Target] : Plan.Descriptors)
    if (::dup2(Source, Target) < 0)
      return false;
  return true;
}

/// Handlers of the parent must not run here, and an ignored SIGPIPE must not
/// reach a program that relies on it.
static void resetSignals(const sigset_t &Mask) {
  for (int Signal = 1; Signal < NSIG; ++Signal) {
    struct sigaction Action;
    if (::sigaction(Signal, nullptr, &Action))
      continue;
    if (Action.sa_handler == SIG_DFL ||
        (Action.sa_handler == SIG_IGN && Signal != SIGPIPE))
      continue;
    Action.sa_handler = SIG_DFL;
    Action.sa_flags = 0;
    (void)::sigaction(Signal, &Action, nullptr);
  }
  (void)::sigprocmask(SIG_SETMASK, &Mask, nullptr);
}

[[noreturn]] static void reportAndExit(int ErrorPipe) {
  int Number = errno;
  ssize_t Ignored = ::write(ErrorPipe, &Number, sizeof(Number));
  (void)Ignored;
  ::_exit(127);
}

[[noreturn]] static void becomeChild(const SpawnOptions &Options,
                                     ChildPlan &Plan) {
  if (Options.NewGroup && ::setpgid(0, 0))
    reportAndExit(Plan.ErrorPipe);
  if (Options.DieWithParent) {
    (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != Plan.Parent)
      ::_exit(127); // the parent died before the request
  }
  if (!placeDescriptors(Plan))
    reportAndExit(Plan.ErrorPipe);
  if (Plan.Directory && ::chdir(Plan.Directory))
    reportAndExit(Plan.ErrorPipe);
  if (Options.MemoryLimitBytes)
    setLimit(RLIMIT_AS, Options.MemoryLimitBytes);
  if (Options.CpuLimitSeconds)
    setLimit(RLIMIT_CPU, Options.CpuLimitSeconds);
  resetSignals(Plan.Mask);
  ::execve(Plan.Program.c_str(), Plan.Arguments.data(),
           Plan.OwnEnvironment ? Plan.Environment.data() : environ);
  reportAndExit(Plan.ErrorPipe);
}

static std::vector<char *> pointers(const std::vector<std::string> &Strings) {
  std::vector<char *> Result;
  for (const std::string &String : Strings)
    Result.push_back(const_cast<char *>(String.c_str()));
  Result.push_back(nullptr);
  return Result;
}

static Expected<ChildPlan> planChild(const SpawnOptions &Options) {
  if (Options.Arguments.empty())
    return fail(ErrorCode::Usage, "no program to start");
  Expected<std::string> Program = findProgram(Options);
  if (!Program)
    return Program.error();
  ChildPlan Plan;
  Plan.Program = *Program;
  Plan.Arguments = pointers(Options.Arguments);
  if (Options.Environment) {
    Plan.Environment = pointers(*Options.Environment);
    Plan.OwnEnvironment = true;
  }
  if (!Options.Directory.empty())
    Plan.Directory = Options.Directory.c_str();
  int Standard[3] = {Options.Stdin, Options.Stdout, Options.Stderr};
  for (int Target = 0; Target != 3; ++Target)
    if (Standard[Target] != -1)
      Plan.Descriptors.push_back({Standard[Target], Target});
  for (const auto &[Source, Target] : Options.Descriptors)
    Plan.Descriptors.push_back({Source, Target});
  Plan.Parent = ::getpid();
  return Plan;
}

Expected<Process> Process::spawn(const SpawnOptions &Options) {
  Expected<ChildPlan> Plan = planChild(Options);
  if (!Plan)
    return Plan.error();
  Pipe Errors;
  if (Error E = Errors.open())
    return E;
  Plan->ErrorPipe = Errors.Write;
  sigset_t All;
  ::sigfillset(&All);
  ::pthread_sigmask(SIG_SETMASK, &All, &Plan->Mask);
  pid_t Pid = ::fork();
  if (Pid == 0)
    becomeChild(Options, *Plan);
  int ForkError = errno;
  ::pthread_sigmask(SIG_SETMASK, &Plan->Mask, nullptr);
  if (Pid < 0)
    return fail(ErrorCode::Failed, "cannot fork: %s", std::strerror(ForkError));
  if (Options.NewGroup)
    (void)::setpgid(Pid, Pid); // whoever is first; the other one fails
  Pipe::closeEnd(Errors.Write);
  int Number = 0;
  ssize_t Got;
  do
    Got = ::read(Errors.Read, &Number, sizeof(Number));
  while (Got < 0 && errno == EINTR);
  Process Child;
  Child.Pid = Pid;
  Child.Group = Options.NewGroup;
  if (Got == sizeof(Number)) {
    Child.wait();
    return fail(Number == ENOENT ? ErrorCode::NotFound : ErrorCode::Failed,
                "%s: cannot be started: %s", Options.Arguments[0].c_str(),
                std::strerror(Number));
  }
  return Child;
}

Process::Process(Process &&Other) noexcept
    : Pid(std::exchange(Other.Pid, -1)), Group(Other.Group),
      Ended(Other.Ended) {}

Process &Process::operator=(Process &&Other) noexcept {
  std::swap(Pid, Other.Pid);
  std::swap(Group, Other.Group);
  std::swap(Ended, Other.Ended);
  return *this;
}

Process::~Process() {
  if (Pid < 0 || Ended)
    return;
  kill(SIGKILL);
  wait();
}

static ExitStatus decodeStatus(int Status) {
  ExitStatus Result;
  if (WIFSIGNALED(Status)) {
    Result.Signal = WTERMSIG(Status);
    Result.Code = 128 + Result.Signal;
  } else {
    Result.Code = WEXITSTATUS(Status);
  }
  return Result;
}

std::optional<ExitStatus> Process::reap(int Flags) {
  if (Ended)
    return Ended;
  int Status = 0;
  pid_t Got;
  do
    Got = ::waitpid(Pid, &Status, Flags);
  while (Got < 0 && errno == EINTR);
  if (Got == 0)
    return std::nullopt;
  // Somebody else reaped it (SIGCHLD ignored): its status is lost.
  Ended = Got < 0 ? ExitStatus{127, 0, false} : decodeStatus(Status);
  return Ended;
}

std::optional<ExitStatus> Process::poll() { return reap(WNOHANG); }

ExitStatus Process::wait(std::optional<std::chrono::milliseconds> Deadline) {
  if (!Deadline)
    return *reap(0);
  Clock::time_point End = Clock::now() + *Deadline;
  std::chrono::microseconds Pause(50);
  for (;;) {
    if (std::optional<ExitStatus> Status = poll())
      return *Status;
    Clock::time_point Now = Clock::now();
    if (Now >= End)
      break;
    std::this_thread::sleep_for(std::min<Clock::duration>(Pause, End - Now));
    Pause = std::min(Pause * 2, std::chrono::microseconds(5000));
  }
  kill(SIGKILL);
  ExitStatus Status = *reap(0);
  Status.TimedOut = true;
  Ended = Status;
  return Status;
}

void Process::kill(int Signal) {
  if (Pid > 0 && !Ended)
    (void)::kill(Group ? -Pid : Pid, Signal);
}

//===-- runProcess --------------------------------------------------------===//

namespace {
/// One captured output.
struct Capture {
  Pipe Channel;
  std::string *Text = nullptr;
  size_t LimitBytes = 0;

  /// Reads what is there; false at the end of the stream.
  bool drain() {
    char Buffer[65536];
    for (;;) {
      ssize_t Got = ::read(Channel.Read, Buffer, sizeof(Buffer));
      if (Got < 0 && errno == EINTR)
        continue;
      if (Got < 0)
        return errno == EAGAIN;
      if (Got == 0)
        return false;
      size_t Room = LimitBytes - std::min(LimitBytes, Text->size());
      Text->append(Buffer, std::min(size_t(Got), Room));
    }
  }
};
} // namespace

/// A descriptor that gives Input: a file in memory, so that a child that does
/// not read it blocks nobody.
static Expected<int> inputDescriptor(const std::string &Input) {
  int Fd = ::memfd_create("r3-input", MFD_CLOEXEC);
  if (Fd < 0)
    return fail(ErrorCode::Failed, "cannot make a file in memory: %s",
                std::strerror(errno));
  for (size_t At = 0; At != Input.size();) {
    ssize_t Put = ::write(Fd, Input.data() + At, Input.size() - At);
    if (Put < 0 && errno == EINTR)
      continue;
    if (Put < 0) {
      ::close(Fd);
      return fail(ErrorCode::NoSpace, "cannot write %zu bytes of input: %s",
                  Input.size(), std::strerror(errno));
    }
    At += size_t(Put);
  }
  (void)::lseek(Fd, 0, SEEK_SET);
  return Fd;
}

/// Waits for output or the end of the process; outputs that grandchildren keep
/// open are not waited for.
static ExitStatus collect(Process &Child, std::array<Capture, 2> &Captures,
                          std::optional<std::chrono::milliseconds> Deadline) {
  Clock::time_point End =
      Clock::now() + Deadline.value_or(std::chrono::milliseconds(0));
  int PauseMs = 1;
  for (;;) {
    std::optional<ExitStatus> Status = Child.poll();
    if (!Status && Deadline && Clock::now() >= End)
      Status = Child.wait(std::chrono::milliseconds(0));
    for (Capture &C : Captures)
      if (C.Channel.Read >= 0 && !C.drain())
        Pipe::closeEnd(C.Channel.Read);
    if (Status)
      return *Status;
    struct pollfd Polls[2];
    for (size_t I = 0; I != 2; ++I)
      Polls[I] = {Captures[I].Channel.Read, POLLIN, 0};
    int Ready = ::poll(Polls, 2, PauseMs);
    PauseMs = Ready > 0 ? 1 : std::min(PauseMs * 2, 10);
  }
}

Expected<RunResult>
runProcess(const SpawnOptions &Options, const std::string &Input,
           std::optional<std::chrono::milliseconds> Deadline,
           size_t LimitBytes) {
  RunResult Result;
  SpawnOptions Own = Options;
  std::array<Capture, 2> Captures;
  std::string *Texts[2] = {&Result.Out, &Result.Err};
  for (size_t I = 0; I != 2; ++I) {
    if (Error E = Captures[I].Channel.open())
      return E;
    ::fcntl(Captures[I].Channel.Read, F_SETFL, O_NONBLOCK);
    Captures[I].Text = Texts[I];
    Captures[I].LimitBytes = LimitBytes;
  }
  Own.Stdout = Captures[0].Channel.Write;
  Own.Stderr = Captures[1].Channel.Write;
  int InputFd = -1;
  if (!Input.empty()) {
    Expected<int> Fd = inputDescriptor(Input);
    if (!Fd)
      return Fd.error();
    Own.Stdin = InputFd = *Fd;
  } else if (Own.Stdin == -1) {
    Own.Stdin = -2;
  }
  Expected<Process> Child = Process::spawn(Own);
  Pipe::closeEnd(InputFd);
  if (!Child)
    return Child.error();
  for (Capture &C : Captures)
    Pipe::closeEnd(C.Channel.Write);
  Result.Status = collect(*Child, Captures, Deadline);
  return Result;
}

//===-- installationPath --------------------------------------------------===//

/// Finds the loaded object that contains an address.
struct ObjectSearch {
  uintptr_t Address;
  std::string Path;
  bool Found = false;
};

static int visitObject(struct dl_phdr_info *Info, size_t, void *Data) {
  auto *Search = static_cast<ObjectSearch *>(Data);
  for (int I = 0; I != Info->dlpi_phnum; ++I) {
    const auto &Header = Info->dlpi_phdr[I];
    uintptr_t Begin = Info->dlpi_addr + Header.p_vaddr;
    if (Header.p_type != PT_LOAD || Search->Address < Begin ||
        Search->Address >= Begin + Header.p_memsz)
      continue;
    Search->Path = Info->dlpi_name;
    Search->Found = true;
    return 1;
  }
  return 0;
}

static std::string ownFile() {
  ObjectSearch Search{reinterpret_cast<uintptr_t>(&visitObject), {}, false};
  ::dl_iterate_phdr(visitObject, &Search);
  // The main program has no name there, and argv[0] may be anything.
  std::string Path = Search.Path.empty() ? "/proc/self/exe" : Search.Path;
  char *Real = ::realpath(Path.c_str(), nullptr);
  std::string Result = Real ? Real : Path;
  ::free(Real);
  return Result;
}

uint64_t processStart(pid_t Pid) {
  std::ifstream In("/proc/" + std::to_string(Pid) + "/stat");
  std::string Text;
  std::getline(In, Text);
  // pid (name) state ppid ...; a name may hold anything.
  const size_t NameEnd = Text.rfind(')');
  if (NameEnd == std::string::npos)
    return 0;
  std::istringstream Fields(Text.substr(NameEnd + 1));
  std::string State, Skipped;
  Fields >> State;
  for (int Field = 4; Field < 22; ++Field)
    Fields >> Skipped;
  uint64_t Start = 0;
  Fields >> Start;
  return State == "Z" || State == "X" ? 0 : Start; // ended, not reaped
}

std::string installationPath(const std::string &Relative) {
  std::string Folder = ownFile();
  std::string First;
  // bin/x and lib/x lie one level below the prefix, libexec/r3/x two.
  for (int Level = 0; Level != 4; ++Level) {
    size_t Slash = Folder.rfind('/');
    if (Slash == std::string::npos || Slash == 0)
      break;
    Folder.resize(Slash);
    std::string Candidate = Folder + "/" + Relative;
    if (Level == 1)
      First = Candidate;
    if (Level && !::access(Candidate.c_str(), F_OK))
      return Candidate;
  }
  return First.empty() ? Folder + "/" + Relative : First;
}

} // namespace r3
