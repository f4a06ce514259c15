// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/support/Process.h"
#include "unittests/support/TestFolder.h"

#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace r3;
using std::chrono::milliseconds;

static SpawnOptions shell(const std::string &Script) {
  SpawnOptions Options;
  Options.Arguments = {"sh", "-c", Script};
  return Options;
}

static RunResult run(const SpawnOptions &Options, const std::string &Input = {},
                     std::optional<milliseconds> Deadline = milliseconds(20000),
                     size_t Limit = 1u << 20) {
  Expected<RunResult> Result = runProcess(Options, Input, Deadline, Limit);
  EXPECT_TRUE(Result) << Result.error().message();
  return Result ? *Result : RunResult{};
}

TEST(Process, OutputsAndCode) {
  RunResult Result = run(shell("echo out; echo err >&2; exit 3"));
  EXPECT_EQ(Result.Out, "out\n");
  EXPECT_EQ(Result.Err, "err\n");
  EXPECT_EQ(Result.Status.Code, 3);
  EXPECT_FALSE(Result.Status.ok());
}

TEST(Process, Signal) {
  RunResult Result = run(shell("kill -SEGV $$"));
  EXPECT_EQ(Result.Status.Signal, SIGSEGV);
  EXPECT_EQ(Result.Status.Code, 128 + SIGSEGV);
}

TEST(Process, InputAndLimit) {
  std::string Large(3 << 20, 'x');
  EXPECT_EQ(run(shell("wc -c"), Large).Out, "3145728\n");
  EXPECT_EQ(run(shell("cat"), Large, milliseconds(20000), 1000).Out.size(),
            1000u);
  // A child that reads nothing does not block.
  EXPECT_TRUE(run(shell("exit 0"), Large).Status.ok());
  EXPECT_EQ(run(shell("cat")).Out, "");
}

TEST(Process, MissingProgram) {
  SpawnOptions Options;
  Options.Arguments = {"r3-no-such-program"};
  Expected<Process> Child = Process::spawn(Options);
  ASSERT_FALSE(Child);
  EXPECT_EQ(Child.error().code(), ErrorCode::NotFound);
  Options.Arguments = {"/no/such/program"};
  EXPECT_TRUE(failsWith(runProcess(Options), "No such file"));
  Options.Arguments = {};
  EXPECT_TRUE(failsWith(runProcess(Options), "no program"));
}

TEST(Process, EnvironmentAndDirectory) {
  TestFolder Folder;
  SpawnOptions Options = shell("echo $R3_TEST; pwd");
  Options.Environment = {"R3_TEST=yes", "PATH=/usr/bin:/bin"};
  Options.Directory = Folder.Path;
  EXPECT_EQ(run(Options).Out, "yes\n" + Folder.Path + "\n");
}

TEST(Process, DescriptorsDoNotClobberEachOther) {
  int A[2], B[2];
  ASSERT_FALSE(pipe2(A, O_CLOEXEC) || pipe2(B, O_CLOEXEC));
  SpawnOptions Options = shell("echo a >&3; echo b >&4");
  // Crossed on purpose: each target is the other's source.
  ASSERT_EQ(dup2(A[1], 104), 104);
  ASSERT_EQ(dup2(B[1], 103), 103);
  Options.Descriptors = {{104, 103}, {103, 104}};
  Options.Arguments[2] = "echo a >/proc/self/fd/103; echo b >/proc/self/fd/104";
  EXPECT_TRUE(run(Options).Status.ok());
  char Text[2];
  ASSERT_EQ(read(A[0], Text, 2), 2);
  EXPECT_EQ(Text[0], 'a');
  ASSERT_EQ(read(B[0], Text, 2), 2);
  EXPECT_EQ(Text[0], 'b');
  for (int Fd : {A[0], A[1], B[0], B[1], 103, 104})
    close(Fd);
}

TEST(Process, DeadlineKills) {
  auto Begin = std::chrono::steady_clock::now();
  RunResult Result = run(shell("exec sleep 60"), {}, milliseconds(100));
  EXPECT_TRUE(Result.Status.TimedOut);
  EXPECT_LT(std::chrono::steady_clock::now() - Begin, milliseconds(10000));
}

static bool isAlive(pid_t Pid) {
  // A zombie of another parent counts as dead.
  Expected<std::string> Text = readTextFile(format("/proc/%d/stat", int(Pid)));
  return Text && Text->find(") Z") == std::string::npos;
}

static bool diesSoon(pid_t Pid) {
  for (int I = 0; I != 500 && isAlive(Pid); ++I)
    std::this_thread::sleep_for(milliseconds(10));
  return !isAlive(Pid);
}

TEST(Process, DeadlineKillsTheGroup) {
  TestFolder Folder;
  SpawnOptions Options =
      shell("sleep 60 & echo $! > " + (Folder / "pid") + "; wait");
  Options.NewGroup = true;
  Expected<Process> Child = Process::spawn(Options);
  ASSERT_TRUE(Child);
  ExitStatus Status = Child->wait(milliseconds(1000));
  EXPECT_TRUE(Status.TimedOut);
  EXPECT_EQ(Status.Signal, SIGKILL);
  pid_t Grandchild = pid_t(std::stoi(*readTextFile(Folder / "pid")));
  EXPECT_TRUE(diesSoon(Grandchild));
  EXPECT_TRUE(Child->wait().TimedOut) << "the status is kept";
}

TEST(Process, DestructorKillsAndReaps) {
  pid_t Pid;
  {
    Expected<Process> Child = Process::spawn(shell("exec sleep 60"));
    ASSERT_TRUE(Child);
    Pid = Child->pid();
    EXPECT_FALSE(Child->poll());
    Process Moved = std::move(*Child);
    EXPECT_TRUE(isAlive(Pid));
  }
  EXPECT_EQ(::kill(Pid, 0), -1) << "not reaped";
}

TEST(Process, DiesWithParent) {
  TestFolder Folder;
  // A child that starts a grandchild in this way, and is then killed.
  pid_t Middle = fork();
  if (Middle == 0) {
    SpawnOptions Options = shell("exec sleep 60");
    Options.DieWithParent = true;
    Expected<Process> Child = Process::spawn(Options);
    (void)writeFileAtomically(Folder / "pid",
                              std::to_string(Child ? Child->pid() : 0));
    for (;;)
      pause();
  }
  Expected<std::string> Text = readTextFile(Folder / "pid");
  while (!Text)
    Text = readTextFile(Folder / "pid");
  pid_t Grandchild = pid_t(std::stoi(*Text));
  ASSERT_GT(Grandchild, 0);
  ::kill(Middle, SIGKILL);
  waitpid(Middle, nullptr, 0);
  EXPECT_TRUE(diesSoon(Grandchild));
}

TEST(Process, OutputHeldByGrandchildDoesNotBlock) {
  auto Begin = std::chrono::steady_clock::now();
  SpawnOptions Options = shell("echo now; sleep 30 &");
  Options.NewGroup = true;
  EXPECT_EQ(run(Options).Out, "now\n");
  EXPECT_LT(std::chrono::steady_clock::now() - Begin, milliseconds(15000));
}

TEST(Process, MemoryLimit) {
  SpawnOptions Options = shell("ulimit -v; ulimit -t");
  Options.MemoryLimitBytes = 512ull << 20;
  Options.CpuLimitSeconds = 7;
  EXPECT_EQ(run(Options).Out, "524288\n7\n");
}

TEST(Process, IgnoredPipeSignalIsNotInherited) {
  signal(SIGPIPE, SIG_IGN);
  RunResult Result = run(shell("kill -PIPE $$; echo survived"));
  signal(SIGPIPE, SIG_DFL);
  EXPECT_EQ(Result.Status.Signal, SIGPIPE);
}

TEST(Process, InstallationPath) {
  std::string Path = installationPath("lib/nothing.so");
  EXPECT_TRUE(Path.starts_with("/")) << Path;
  EXPECT_TRUE(Path.ends_with("/lib/nothing.so")) << Path;
  EXPECT_EQ(Path.find("/unittests/"), std::string::npos) << Path;
}
