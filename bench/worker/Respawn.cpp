// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3-bench-respawn STORE BACKEND: how long a worker takes to be back after an
// evaluation that ended badly. The store holds recordings of
// bench/programs/faults.cu, whose kernels go wrong at -O0. For each kernel: the
// original evaluated against itself, then the fault, then the original again.
// Prints one line a fault: KERNEL OUTCOME MILLISECONDS, the time by which the
// evaluation after the fault took longer than the one before it.
#include "runtime/support/Files.h"
#include "runtime/support/Store.h"
#include "runtime/support/Worker.h"

#include <chrono>
#include <cstdio>
#include <map>

using namespace r3;

namespace {

using Clock = std::chrono::steady_clock;

struct Timed {
  Outcome Result;
  double Ms;
};

Expected<Timed> evaluate(Worker &W, const std::string &Pipeline,
                         const std::string &Level) {
  Variant Change;
  Change.Pipeline = Pipeline;
  Change.Level = Level;
  auto Begin = Clock::now();
  auto Report = W.evaluate({Change, {0}, /*Pairs=*/1, /*Seed=*/1});
  if (!Report)
    return Report.error();
  return Timed{
      Report->Result,
      std::chrono::duration<double, std::milli>(Clock::now() - Begin).count()};
}

Error measure(const WorkerOptions &Options, const std::string &Name,
              const std::string &Path, const std::string &Pipeline,
              const std::string &Level) {
  auto Started = Worker::start(Options);
  if (!Started)
    return Started.error();
  Worker &W = **Started;
  if (Error Problem = W.load({Path}))
    return Problem;
  auto Ready = W.prepare(0, 2);
  if (!Ready)
    return Ready.error();
  // Warm: the second evaluation is the one that counts.
  if (auto First = evaluate(W, "default<O3>", "O3"); !First)
    return First.error();
  auto Before = evaluate(W, "default<O3>", "O3");
  if (!Before)
    return Before.error();
  auto Fault = evaluate(W, Pipeline, Level);
  if (!Fault)
    return Fault.error();
  auto After = evaluate(W, "default<O3>", "O3");
  if (!After)
    return After.error();
  if (After->Result != Before->Result)
    return fail(ErrorCode::Wrong, "%s: %s before the fault, %s after it",
                Name.c_str(), std::string(outcomeName(Before->Result)).c_str(),
                std::string(outcomeName(After->Result)).c_str());
  printf("%s %s %.1f\n", Name.c_str(),
         std::string(outcomeName(Fault->Result)).c_str(),
         After->Ms - Before->Ms);
  fflush(stdout);
  return Error::success();
}

Error run(const std::string &Folder, const std::string &Backend) {
  auto Opened = Store::open(Folder, /*Create=*/false);
  if (!Opened)
    return Opened.error();
  WorkerOptions Options;
  Options.Backend = Backend;
  Options.StorePath = Folder;
  std::map<std::string, std::string> Paths; // one recording a kernel
  for (const std::string &Path : Opened->listRecordings()) {
    auto Bytes = readFile(Path);
    if (!Bytes)
      return Bytes.error();
    auto Read = Recording::parse(*Bytes, Path);
    if (!Read)
      return Read.error();
    Paths[Read->Display] = Path;
  }
  for (const auto &[Name, Path] : Paths)
    if (Error Problem = measure(Options, Name, Path, "default<O0>", "O0"))
      return Problem.in(Name);
  // A pipeline that aborts LLVM.
  if (!Paths.empty())
    return measure(Options, "llvm-abort", Paths.begin()->second,
                   "function(loop(licm))", "O3");
  return fail(ErrorCode::NotFound, "%s: holds no recording", Folder.c_str());
}

} // namespace

int main(int Count, char **Values) {
  if (Count != 3) {
    fprintf(stderr, "usage: r3-bench-respawn STORE BACKEND\n");
    return 2;
  }
  Error Problem = run(Values[1], Values[2]);
  if (Problem)
    fprintf(stderr, "error: %s\n", Problem.message().c_str());
  return Problem ? exitCode(Problem.code()) : 0;
}
