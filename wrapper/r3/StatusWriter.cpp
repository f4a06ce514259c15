// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/r3/StatusWriter.h"

#include <algorithm>
#include <ctime>

namespace r3 {

StatusWriter::StatusWriter(std::string Path, size_t Kernels,
                           SearchObserver &Next)
    : Path(std::move(Path)), Next(Next), Now(SearchStatus::own()),
      Started(std::chrono::steady_clock::now()) {
  Now.KernelsToSearch = Kernels;
  Now.StartedAt = uint64_t(std::time(nullptr));
}

void StatusWriter::started(const Session &S, const DeviceIdentity &Device) {
  Now.Device = Device.Key;
  Now.Backend = Device.Backend;
  takeSession(S);
  write(/*Always=*/true);
  Next.started(S, Device);
}

void StatusWriter::preparing(const SearchKernel &K) {
  kernel(K.About.Name);
  write(/*Always=*/true);
  Next.preparing(K);
}

void StatusWriter::evaluated(const KernelProgress &P, const Evaluation &E,
                             const Session &S, bool IsFresh) {
  Fresh += IsFresh;
  KernelStatus &K = kernel(P.Kernel->About.Name);
  K.Tried = P.Tried;
  for (const auto &[Result, Count] : P.Counts)
    K.Outcomes[std::string(outcomeName(Result))] = Count;
  if (P.Best) {
    K.BestNote = P.Best->Note;
    K.Best = P.Best->Gain;
  }
  takeSession(S);
  write(/*Always=*/false);
  Next.evaluated(P, E, S, IsFresh);
}

void StatusWriter::confirming(const std::string &Kernel) {
  Now.Phase = "confirming";
  const auto Which =
      std::find_if(Now.Kernels.begin(), Now.Kernels.end(),
                   [&](const KernelStatus &K) { return K.Name == Kernel; });
  if (Which != Now.Kernels.end()) // the last one has its turn
    std::rotate(Which, Which + 1, Now.Kernels.end());
  write(/*Always=*/true);
}

void StatusWriter::ended(const std::string &How) {
  Now.Phase = "ended";
  Now.Ending = How;
  Now.LeftMs = 0;
  write(/*Always=*/true);
}

KernelStatus &StatusWriter::kernel(const std::string &Name) {
  if (Now.Kernels.empty() || Now.Kernels.back().Name != Name)
    Now.Kernels.push_back({Name});
  return Now.Kernels.back();
}

void StatusWriter::takeSession(const Session &S) {
  Now.SpentMs = S.SpentMs;
  Now.BudgetMs = S.BudgetMs;
  Now.Evaluations = S.Evaluations;
  Now.MaxEvaluations = S.MaxEvaluations;
  const std::chrono::duration<double> Passed =
      std::chrono::steady_clock::now() - Started;
  Now.PerSecond = Passed.count() > 0 ? double(Fresh) / Passed.count() : 0;
  Now.LeftMs = S.BudgetMs - std::min(S.BudgetMs, S.SpentMs);
  if (S.MaxEvaluations && Now.PerSecond > 0) {
    const double Left =
        double(S.MaxEvaluations - std::min(S.MaxEvaluations, S.Evaluations));
    Now.LeftMs = std::min(Now.LeftMs, uint64_t(Left / Now.PerSecond * 1000));
  }
}

void StatusWriter::write(bool Always) {
  const Time At = std::chrono::steady_clock::now();
  if (Failed || (!Always && At - Written < std::chrono::seconds(1)))
    return;
  Written = At;
  Now.UpdatedAt = uint64_t(std::time(nullptr));
  if (Error E = Now.write(Path)) {
    Failed = true;
    Next.warn("`r3 status` will not know of this search: " + E.message());
  }
}

} // namespace r3
