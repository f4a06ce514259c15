// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Faults, each in a process of its own, and memory that outlives a process.
#include "bench/gpu/SelfTest.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <sys/wait.h>
#include <unistd.h>

using namespace r3;
using namespace r3::selftest;

namespace {

constexpr uint64_t Size = 64ull << 20;

/// A fresh device in this process, with the test kernels.
struct Part {
  Report R;
  std::unique_ptr<Device> D;
  std::unique_ptr<DeviceModule> Module;
  std::unique_ptr<Bench> B;

  Part() {
    D = R.take(openCudaDevice(0), "open");
    B.reset(new Bench{*D, R});
    B->Stream = R.take(D->createStream(), "createStream");
    Module = R.take(D->load(testKernels()), "load");
    B->Module = Module.get();
  }

  /// Work must end with the sticky fault.
  int expect(Outcome Kind, const Error &Launched) {
    R.check(Launched, "launch");
    Error E = B->finish();
    DeviceFault Fault = D->fault();
    R.line(E && Fault.Kind == Kind && Fault.Sticky, "fault", Fault.Message);
    Expected<Address> Later = D->allocate(64);
    R.check(!Later, "later calls fail");
    return R.finish();
  }
};

int illegalAccess() {
  Part P;
  return P.expect(Outcome::IllegalAccess,
                  P.B->run("st_store", grid(1, 1), Address(0x10), 1));
}

int misaligned() {
  Part P;
  Address Where = P.R.take(P.D->allocate(64), "allocate");
  return P.expect(Outcome::IllegalAccess,
                  P.B->run("st_store", grid(1, 1), Where + 2, 1));
}

int trap() {
  Part P;
  Address Where = P.R.take(P.D->allocate(64), "allocate");
  P.R.check(P.D->fill(Where, 0, 64, P.B->Stream), "fill");
  return P.expect(Outcome::IllegalAccess,
                  P.B->run("st_trap", grid(1, 1), Where));
}

int readOnlyStore() {
  Part P;
  Address Where = P.R.take(P.D->reserve(0, Size), "reserve");
  MemoryHandle Memory = P.R.take(P.D->createMemory(Size), "createMemory");
  P.R.check(P.D->map(Where, Size, Memory), "map");
  P.R.check(P.D->protect(Where, Size, MemoryAccess::Read), "protect");
  return P.expect(Outcome::IllegalAccess,
                  P.B->run("st_store", grid(1, 1), Where, 1));
}

int unmappedStore() {
  Part P;
  Address Where = P.R.take(P.D->reserve(0, Size), "reserve");
  return P.expect(Outcome::IllegalAccess,
                  P.B->run("st_store", grid(1, 1), Where, 1));
}

/// Runs until it is killed.
int endless() {
  Part P;
  Address Where = P.R.take(P.D->allocate(64), "allocate");
  P.R.check(P.D->fill(Where, 0, 64, P.B->Stream), "fill");
  P.R.check(P.B->run("st_endless", grid(1, 1), Where), "launch");
  std::puts("running");
  std::fflush(stdout);
  pause();
  return 1;
}

/// Makes and fills memory, loses its context to an illegal access, and becomes
/// the taker, which has nothing but the descriptor.
int maker() {
  Part P;
  Address Where = P.R.take(P.D->reserve(0, Size), "reserve");
  MemoryHandle Memory = P.R.take(P.D->createMemory(Size), "createMemory");
  P.R.check(P.D->map(Where, Size, Memory), "map");
  std::vector<uint8_t> Bytes = pattern(Size, 9);
  P.B->upload(Where, Bytes.data(), Size);
  int Fd = P.R.take(P.D->exportMemory(Memory), "exportMemory");
  int Failed = P.expect(Outcome::IllegalAccess,
                        P.B->run("st_store", grid(1, 1), Address(0x10), 1));
  std::string Kept = std::to_string(dup(Fd)); // without close-on-exec
  if (!Failed)
    execl("/proc/self/exe", "r3-gpu-selftest", "--part", "taker", Kept.c_str(),
          nullptr);
  return 1;
}

int taker(const std::string &Fd) {
  auto Begin = std::chrono::steady_clock::now();
  Part P;
  MemoryHandle Memory =
      P.R.take(P.D->importMemory(std::stoi(Fd), Size), "importMemory");
  Address Where = P.R.take(P.D->reserve(0, Size), "reserve");
  P.R.check(P.D->map(Where, Size, Memory), "map");
  std::chrono::duration<double, std::milli> Took =
      std::chrono::steady_clock::now() - Begin;
  std::vector<uint8_t> Back(Size);
  P.B->download(Back.data(), Where, Size);
  P.R.line(Back == pattern(Size, 9), "memory outlives its maker",
           format("mapped again after %.0f ms", Took.count()));
  return P.R.finish();
}

/// This program with --part Name; its exit status, or -signal.
int runChild(const std::string &Name, unsigned KillAfterMs) {
  pid_t Child = fork();
  if (Child == 0) {
    execl("/proc/self/exe", "r3-gpu-selftest", "--part", Name.c_str(), nullptr);
    _exit(127);
  }
  if (KillAfterMs) {
    usleep(KillAfterMs * 1000);
    kill(Child, SIGKILL);
  }
  int Status = 0;
  waitpid(Child, &Status, 0);
  return WIFEXITED(Status) ? WEXITSTATUS(Status) : -WTERMSIG(Status);
}

} // namespace

int selftest::runPart(const std::string &Name,
                      const std::vector<std::string> &Arguments) {
  const std::map<std::string, int (*)()> Parts = {
      {"illegal-access", illegalAccess},
      {"misaligned", misaligned},
      {"trap", trap},
      {"read-only-store", readOnlyStore},
      {"unmapped-store", unmappedStore},
      {"endless", endless},
      {"maker", maker}};
  if (Name == "taker" && Arguments.size() == 1)
    return taker(Arguments[0]);
  auto Found = Parts.find(Name);
  return Found == Parts.end() ? 2 : Found->second();
}

void selftest::testFaults(Report &R) {
  for (const char *Name : {"illegal-access", "misaligned", "trap",
                           "read-only-store", "unmapped-store", "maker"}) {
    std::printf("-- %s, in a process of its own\n", Name);
    std::fflush(stdout);
    int Status = runChild(Name, 0);
    R.line(Status == 0, Name, format("exit status %d", Status));
  }
  std::printf("-- an endless kernel, killed after 2 s\n");
  std::fflush(stdout);
  int Status = runChild("endless", 2000);
  R.line(Status == -SIGKILL, "endless", format("exit status %d", Status));
  auto Begin = std::chrono::steady_clock::now();
  Status = runChild("trap", 0);
  std::chrono::duration<double> Took = std::chrono::steady_clock::now() - Begin;
  R.line(Status == 0 && Took.count() < 5, "the device is free again",
         format("%.2f s for the next process", Took.count()));
}
