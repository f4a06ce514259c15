// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The variant under compute-sanitizer, in a device child of its own: races in
// shared memory, and barriers and warp operations that not all threads reach.
// Global memory is the traced build's affair (memcheck does not see into
// mapped memory), what is not initialised that of the frozen builds.
#include "wrapper/replay/Evaluation.h"

#include "wrapper/trust/Sanitizer.h"

#include "runtime/support/Toolkit.h"

namespace r3::replay {

namespace {

constexpr unsigned SanitizedSlower = 100; // than others may take
constexpr std::chrono::seconds EndPatience(30);

} // namespace

/// One launch on each recording of E.
Session::CheckOutcome Session::sanitize(const std::string &Tool,
                                        const char *Slot, const Evaluation &E) {
  static const auto Programs = toolkitPrograms("compute-sanitizer");
  if (Programs.empty())
    return {
        {},
        "no compute-sanitizer in $CUDA_PATH/bin, PATH or /usr/local/cuda/bin"};
  std::vector<Recording> Launches;
  for (size_t Index : E.Recordings)
    Launches.push_back(Kernel->recordings()[Index].Manifest);
  auto S = derive(Kernel->derive(std::move(Launches), nullptr), E.Recordings,
                  {Programs.front(), "--tool", Tool, "--kernel-name",
                   "kne=" + Kernel->first().Name, "--print-limit", "10"});
  if (!S)
    return {{}, S.error().in(Tool).message()};
  for (size_t I = 0; I < E.Recordings.size() && !Cancelled; ++I) {
    DeviceLink::RunRequest R{I, Slot};
    R.DeadlineMs = deadlineMs(E.Recordings[I], SanitizedSlower);
    if (Attempt A = (*S)->Device->run(R); !A.ok())
      return {{A.Ending, "under " + Tool + ": " + A.Message}, ""};
  }
  const std::string Output = (*S)->Device->finish(EndPatience);
  const auto Report = trust::readSanitizerReport(Output);
  if (!Report)
    return {{},
            Tool + " came to no end: " +
                Output.substr(Output.size() -
                              std::min<size_t>(Output.size(), 200))};
  if (!Report->Findings)
    return {};
  return {{Outcome::Wrong,
           format("%s finds %u hazard%s: ", Tool.c_str(), Report->Findings,
                  Report->Findings == 1 ? "" : "s") +
               Report->First},
          ""};
}

/// The original is asked only where a variant fails: then it may do so, too.
Session::CheckOutcome Session::checkSanitizer(Evaluation &E) {
  if (Device->identity().Backend != "cuda")
    return {{}, "it is a tool for GPUs"};
  std::string NotMade;
  for (const std::string Tool : {"racecheck", "synccheck"}) {
    CheckOutcome Found = sanitize(Tool, VariantSlot, E);
    if (!Found.NotMade.empty())
      return Found;
    if (Found.Verdict.ok())
      continue;
    if (!Insane.count(Tool)) {
      CheckOutcome Original = sanitize(Tool, OriginalSlot, E);
      if (!Original.NotMade.empty())
        return Original;
      Insane[Tool] = Original.Verdict.Message;
    }
    if (Insane[Tool].empty())
      return Found;
    NotMade = "the original itself: " + Insane[Tool];
  }
  return {{}, NotMade};
}

} // namespace r3::replay
