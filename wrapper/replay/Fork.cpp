// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The result travels through a pipe:
//   u8 1  u64 steps  (string name, u64 microseconds)...  sites unseen
//     u64 count  u64 numbers...  u64 runs  string pass  string place
//     string ir  string same-as  bytes
//     sites, unseen: u64 count, strings
//   u8 0  string message
#include "wrapper/replay/Fork.h"

#include "wrapper/replay/Descriptors.h"

#include "runtime/support/Bytes.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace r3::replay {

namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t MostBytes = 1ull << 30;
constexpr size_t LastWordsBytes = 2000;

/// Hard: at which the kernel kills; below it, it sends SIGXCPU first.
void limit(__rlimit_resource What, uint64_t Soft, uint64_t Hard) {
  rlimit L{Soft, Hard};
  (void)setrlimit(What, &L);
}

void writeAll(int Fd, std::span<const uint8_t> Bytes) {
  while (!Bytes.empty()) {
    const ssize_t Put = ::write(Fd, Bytes.data(), Bytes.size());
    if (Put < 0 && errno == EINTR)
      continue;
    if (Put <= 0)
      return;
    Bytes = Bytes.subspan(static_cast<size_t>(Put));
  }
}

void writeTexts(ByteWriter &W, const std::vector<std::string> &Texts) {
  W.u64(Texts.size());
  for (const std::string &Text : Texts)
    W.string(Text);
}

std::vector<std::string> readTexts(ByteReader &R) {
  std::vector<std::string> Texts(R.count(/*MinBytes=*/8));
  for (std::string &Text : Texts)
    Text = R.string();
  return Texts;
}

/// noexcept: memory that runs out ends the copy, whoever asked for it.
[[noreturn]] void work(const ForkLimits &Limits,
                       const std::function<Expected<ForkProduct>()> &Work,
                       int Output, int Errors, pid_t Parent) noexcept {
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != Parent)
    _exit(1);
  (void)dup2(Errors, 2);
  limit(RLIMIT_CORE, 0, 0);
  limit(RLIMIT_CPU, Limits.CpuSeconds, Limits.CpuSeconds + 2);
#ifndef __SANITIZE_ADDRESS__ // which reserves terabytes
  limit(RLIMIT_AS, Limits.MemoryBytes, Limits.MemoryBytes);
#endif
  auto Product = Work();
  ByteWriter W;
  W.u8(static_cast<bool>(Product));
  if (Product) {
    W.u64(Product->Ms.size());
    for (const auto &[Step, Ms] : Product->Ms) {
      W.string(Step);
      W.u64(static_cast<uint64_t>(Ms * 1000));
    }
    writeTexts(W, Product->Sites);
    writeTexts(W, Product->Unseen);
    W.u64(Product->Numbers.size());
    for (uint64_t Offset : Product->Numbers)
      W.u64(Offset);
    W.u64(Product->Passes.Runs);
    W.string(Product->Passes.NextPass);
    W.string(Product->Passes.NextPlace);
    W.string(Product->Ir);
    W.string(Product->SameAs);
    W.bytes(Product->Bytes);
  } else {
    W.string(Product.error().message());
  }
  writeAll(Output, W.data());
  _exit(0);
}

/// Reads to the end of the pipe; false where the deadline passed.
bool readAll(int Fd, std::vector<uint8_t> &To, Clock::time_point Deadline) {
  uint8_t Buffer[65536];
  for (;;) {
    const auto Left = std::chrono::duration_cast<std::chrono::milliseconds>(
        Deadline - Clock::now());
    pollfd P{Fd, POLLIN, 0};
    const int Ready =
        poll(&P, 1, static_cast<int>(std::max<int64_t>(0, Left.count())));
    if (Ready < 0 && errno == EINTR)
      continue;
    if (Ready <= 0)
      return false;
    const ssize_t Got = ::read(Fd, Buffer, sizeof(Buffer));
    if (Got < 0 && errno == EINTR)
      continue;
    if (Got <= 0)
      return true;
    if (To.size() + static_cast<size_t>(Got) > MostBytes)
      return true;
    To.insert(To.end(), Buffer, Buffer + Got);
  }
}

std::string lastWords(int Errors) {
  const off_t Size = lseek(Errors, 0, SEEK_END);
  const off_t From =
      std::max<off_t>(0, Size - static_cast<off_t>(LastWordsBytes));
  std::string Text(static_cast<size_t>(std::max<off_t>(0, Size - From)), '\0');
  const ssize_t Got = pread(Errors, Text.data(), Text.size(), From);
  Text.resize(Got > 0 ? static_cast<size_t>(Got) : 0);
  while (!Text.empty() && Text.back() == '\n')
    Text.pop_back();
  std::replace(Text.begin(), Text.end(), '\n', ' ');
  return Text;
}

ForkResult failed(Outcome Ending, std::string Message) {
  ForkResult R;
  R.Ending = Ending;
  R.Message = std::move(Message);
  return R;
}

ForkResult decode(const std::vector<uint8_t> &Bytes) {
  ByteReader R(Bytes, "build");
  if (!R.u8())
    return failed(Outcome::BuildFailed, R.string());
  ForkResult Result;
  for (size_t Steps = R.count(16); Steps; --Steps) {
    const std::string Step = R.string();
    Result.Product.Ms[Step] = static_cast<double>(R.u64()) / 1000;
  }
  Result.Product.Sites = readTexts(R);
  Result.Product.Unseen = readTexts(R);
  for (size_t Left = R.count(8); Left; --Left)
    Result.Product.Numbers.push_back(R.u64());
  Result.Product.Passes.Runs = R.u64();
  Result.Product.Passes.NextPass = R.string();
  Result.Product.Passes.NextPlace = R.string();
  Result.Product.Ir = R.string();
  Result.Product.SameAs = R.string();
  Result.Product.Bytes = R.bytes();
  if (Error E = R.finish())
    return failed(Outcome::BuildCrashed, E.message());
  return Result;
}

} // namespace

ForkResult runForked(const ForkLimits &Limits,
                     const std::function<Expected<ForkProduct>()> &Work) {
  int Ends[2];
  if (pipe2(Ends, O_CLOEXEC) != 0)
    return failed(Outcome::BuildFailed, "no pipe for the build");
  OwnedFd Read(Ends[0]), Write(Ends[1]);
  auto Errors = memoryFile("r3-build-stderr", 0);
  if (!Errors)
    return failed(Outcome::BuildFailed, Errors.error().message());
  const pid_t Parent = getpid();
  const pid_t Pid = fork();
  if (Pid < 0)
    return failed(Outcome::OutOfMemory,
                  std::string("fork: ") + std::strerror(errno));
  if (Pid == 0)
    work(Limits, Work, Write.get(), Errors->get(), Parent);
  Write.reset();
  std::vector<uint8_t> Output;
  const bool InTime =
      readAll(Read.get(), Output,
              Clock::now() + std::chrono::milliseconds(Limits.DeadlineMs));
  if (!InTime)
    kill(Pid, SIGKILL);
  int Status = 0;
  while (waitpid(Pid, &Status, 0) < 0 && errno == EINTR)
    ;
  if (!InTime)
    return failed(Outcome::BuildTimeout,
                  format("the compiler did not end within %llu ms",
                         static_cast<unsigned long long>(Limits.DeadlineMs)));
  if (WIFSIGNALED(Status) && WTERMSIG(Status) == SIGXCPU)
    return failed(Outcome::BuildTimeout,
                  format("the compiler used more than %llu s of CPU time",
                         static_cast<unsigned long long>(Limits.CpuSeconds)));
  if (WIFSIGNALED(Status) || WEXITSTATUS(Status) || Output.empty()) {
    std::string Text = lastWords(Errors->get());
    if (WIFSIGNALED(Status))
      Text = format("the compiler died of signal %d (%s)%s%s", WTERMSIG(Status),
                    strsignal(WTERMSIG(Status)), Text.empty() ? "" : ": ",
                    Text.c_str());
    else if (Text.empty())
      Text = format("the compiler ended with status %d", WEXITSTATUS(Status));
    return failed(Outcome::BuildCrashed, Text);
  }
  return decode(Output);
}

} // namespace r3::replay
