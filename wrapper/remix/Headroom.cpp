// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/remix/Headroom.h"

#include <algorithm>

namespace r3 {

namespace {

/// One recording's share of the kernel's, or why it is not known.
std::string addRecording(Evaluator &Worker, size_t Index, unsigned Repetitions,
                         Headroom &Sum) {
  auto Report = Worker.prepare(Index, Repetitions);
  if (!Report)
    return Report.error().message();
  if (Report->Result != Outcome::Ok)
    return "the original does not reproduce";
  if (!Report->Untraced.empty())
    return Report->Untraced;
  if (Report->Floor.ColdUs <= 0 || Report->OriginalNs.empty())
    return "no floor";
  // A search times with cold caches.
  if (Report->ProgramNs > 0 && Report->ProgramNs / 1e3 < Report->Floor.ColdUs)
    return "in the program its data is in the caches";
  Sum.TimeUs += quantile(Report->OriginalNs, 0.5) / 1e3;
  Sum.FloorUs += Report->Floor.ColdUs;
  return {};
}

Headroom measureOne(Evaluator &Worker, const SearchKernel &Kernel,
                    unsigned Repetitions) {
  Headroom Found;
  std::vector<std::string> Paths;
  for (const SearchRecording &R : Kernel.Recordings)
    Paths.push_back(R.Path);
  if (Error E = Worker.load(Paths))
    return {0, 0, E.message()};
  if (auto Rates = Worker.rates(); !Rates) // floors follow from them
    return {0, 0, Rates.error().message()};
  for (size_t I = 0; I < Paths.size(); ++I)
    if (std::string Why = addRecording(Worker, I, Repetitions, Found);
        !Why.empty())
      return {0, 0, Why};
  Found.Unknown.clear();
  return Found;
}

} // namespace

std::optional<double> Headroom::part() const {
  if (!Unknown.empty() || TimeUs <= 0)
    return std::nullopt;
  return std::clamp(1 - FloorUs / TimeUs, 0.0, 1.0);
}

bool Headroom::isNone() const {
  return Unknown.empty() && TimeUs > 0 && TimeUs <= AtFloor * FloorUs;
}

Error measureHeadroom(const EvaluatorSource &Source,
                      std::vector<SearchKernel> &Kernels, unsigned Repetitions,
                      const std::function<void(const SearchKernel &)> &Tell,
                      const std::atomic<bool> &Stop) {
  std::unique_ptr<Evaluator> Worker;
  for (SearchKernel &K : Kernels) {
    if (Stop)
      return fail(ErrorCode::Interrupted, "interrupted");
    if (K.Recordings[0].About.Backend == "cpu") {
      K.Above.Unknown = "times of the CPU device tell nothing of it";
      continue;
    }
    Tell(K);
    if (!Worker || Worker->isLost()) {
      auto Started = Source();
      if (!Started)
        return Started.error().in("the worker did not start");
      Worker = std::move(*Started);
    }
    K.Above = measureOne(*Worker, K, Repetitions);
  }
  return Error::success();
}

std::string headroomText(const Headroom &Of) {
  const auto Part = Of.part();
  if (!Part)
    return "-";
  return Of.isNone() ? "none" : format("%.1f %%", *Part * 100);
}

} // namespace r3
