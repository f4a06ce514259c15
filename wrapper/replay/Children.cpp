// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Children die with the supervisor (PR_SET_PDEATHSIG), so even a killed
// supervisor leaves none behind.
#include "wrapper/replay/Children.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

extern char **environ;

namespace r3::replay {

namespace {
constexpr off_t LastWordsBytes = 2000;

/// "NAME=value" of those of Names that are set.
std::vector<std::string> select(const std::vector<std::string> &Names) {
  std::vector<std::string> Result;
  for (char **At = environ; *At; ++At)
    for (const std::string &Name : Names)
      if (!std::strncmp(*At, Name.c_str(), Name.size()) &&
          (*At)[Name.size()] == '=')
        Result.emplace_back(*At);
  return Result;
}
} // namespace

void Children::add(pid_t Pid) {
  std::lock_guard Guard(Lock);
  Pids.insert(Pid);
  if (Ended)
    ::kill(Pid, SIGKILL);
}

void Children::remove(pid_t Pid) {
  std::lock_guard Guard(Lock);
  Pids.erase(Pid);
}

void Children::endAll() {
  {
    std::lock_guard Guard(Lock);
    Ended = true;
    for (pid_t Pid : Pids)
      ::kill(Pid, SIGKILL);
  }
  for (int I = 0; I < 1000; ++I) {
    const pid_t Got = ::waitpid(-1, nullptr, WNOHANG);
    if (Got < 0)
      return; // none left
    if (Got == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

bool Children::ended() const {
  std::lock_guard Guard(Lock);
  return Ended;
}

Child::Child(Process Runs, OwnedFd Protocol, OwnedFd Passing, OwnedFd Errors,
             Children &All, bool Group)
    : Runs(std::move(Runs)), Protocol(std::move(Protocol)),
      Passing(std::move(Passing)), Errors(std::move(Errors)), All(&All),
      Group(Group) {
  All.add(listed());
}

Child::~Child() {
  if (Runs.pid() > 0)
    end(std::chrono::milliseconds(0));
}

Expected<Child> Child::start(const Options &O, Children &All) {
  auto Protocol = socketPair();
  if (!Protocol)
    return Protocol.error();
  auto Passing = socketPair();
  if (!Passing)
    return Passing.error();
  auto Errors = memoryFile("r3-stderr", 0);
  if (!Errors)
    return Errors.error();
  constexpr int ProtocolFd = 3, PassingFd = 4;
  SpawnOptions S;
  S.Arguments = O.Launcher;
  S.Arguments.insert(S.Arguments.end(),
                     {O.Program, std::to_string(ProtocolFd)});
  const bool Launched = !O.Launcher.empty();
  auto Variables = O.Variables;
  if (Launched)
    Variables.push_back("PATH");
  S.Environment = select(Variables);
  S.NewGroup = Launched;
  S.Stdin = -2;
  S.Stdout = Launched ? Errors->get() : -2;
  S.Stderr = Errors->get();
  S.Descriptors = {{Protocol->second.get(), ProtocolFd}};
  if (O.PassDescriptors) {
    S.Arguments.push_back(std::to_string(PassingFd));
    S.Descriptors.push_back({Passing->second.get(), PassingFd});
  }
  if (Launched)
    S.Arguments.push_back("leave");
  S.DieWithParent = true;
  auto Runs = Process::spawn(S);
  if (!Runs)
    return Runs.error();
  return Child(std::move(*Runs), std::move(Protocol->first),
               std::move(Passing->first), std::move(*Errors), All, Launched);
}

ExitStatus Child::end(std::chrono::milliseconds Patience) {
  const pid_t Pid = listed();
  ExitStatus Status = Runs.wait(Patience);
  All->remove(Pid);
  return Status;
}

std::string Child::tail(off_t Bytes) const {
  struct stat Info;
  if (fstat(Errors.get(), &Info) != 0)
    return {};
  const off_t From = std::max<off_t>(0, Info.st_size - Bytes);
  std::string Text(static_cast<size_t>(Info.st_size - From), '\0');
  const ssize_t Got = pread(Errors.get(), Text.data(), Text.size(), From);
  Text.resize(Got > 0 ? static_cast<size_t>(Got) : 0);
  return Text;
}

std::string Child::lastWords() const {
  std::string Text = tail(LastWordsBytes);
  while (!Text.empty() && Text.back() == '\n')
    Text.pop_back();
  std::replace(Text.begin(), Text.end(), '\n', ' ');
  return Text;
}

std::string describe(const ExitStatus &Status) {
  if (Status.TimedOut)
    return "did not end";
  if (Status.Signal)
    return format("signal %d (%s)", Status.Signal, strsignal(Status.Signal));
  return format("exit status %d", Status.Code);
}

} // namespace r3::replay
