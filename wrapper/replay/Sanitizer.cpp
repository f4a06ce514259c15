// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The variant under compute-sanitizer, in a device child of its own: races in
// shared memory, and barriers and warp operations that not all threads reach.
// Global memory is seen through in plain memory alone: Memcheck.cpp.
#include "wrapper/replay/Sanitizer.h"

#include "wrapper/replay/Evaluation.h"

#include "wrapper/trust/Sanitizer.h"

#include "runtime/support/Toolkit.h"

#include <algorithm>

namespace r3::replay {

std::vector<std::string> underSanitizer(const std::string &Tool,
                                        const std::string &Kernel) {
  static const auto Programs = toolkitPrograms("compute-sanitizer");
  if (Programs.empty())
    return {};
  return {Programs.front(), "--tool",        Tool, "--kernel-name",
          "kne=" + Kernel,  "--print-limit", "10"};
}

trust::Judgement judgeSanitizer(const std::string &Tool,
                                const std::string &Output, const Attempt &Last,
                                std::string &NotMade) {
  const auto Report = trust::readSanitizerReport(Output);
  // What it finds may end the launch.
  if (Report && Report->Findings)
    return {Tool == "memcheck" ? Outcome::OutOfBounds : Outcome::Wrong,
            format("%s finds %u %s%s: ", Tool.c_str(), Report->Findings,
                   Tool == "racecheck" ? "hazard" : "error",
                   Report->Findings == 1 ? "" : "s") +
                Report->First};
  if (!Last.ok())
    return {Last.Ending, "under " + Tool + ": " + Last.Message};
  if (!Report)
    NotMade =
        Tool + " came to no end: " +
        Output.substr(Output.size() - std::min<size_t>(Output.size(), 200));
  return {};
}

void ToolsReport::add(const std::string &Tool, const std::string &WhyNot) {
  if (WhyNot.empty())
    Made += (Made.empty() ? "" : ", ") + Tool;
  else
    Left += (Left.empty() ? "no " : "; no ") + Tool + ": " + WhyNot;
}

std::string ToolsReport::text(const std::string &More) const {
  return Made + More + (Left.empty() ? "" : "; " + Left);
}

/// One launch on each recording of E.
Session::CheckOutcome Session::sanitize(const std::string &Tool,
                                        const char *Slot, const Evaluation &E) {
  std::vector<Recording> Launches;
  for (size_t Index : E.Recordings)
    Launches.push_back(Kernel->recordings()[Index].Manifest);
  auto S = derive(Kernel->derive(std::move(Launches), nullptr), E.Recordings,
                  underSanitizer(Tool, Kernel->first().Name));
  if (!S)
    return {{}, S.error().in(Tool).message()};
  Attempt Last;
  for (size_t I = 0; I < E.Recordings.size() && Last.ok() && !Cancelled; ++I) {
    DeviceLink::RunRequest R{I, Slot};
    R.DeadlineMs = deadlineMs(E.Recordings[I], SanitizedSlower);
    Last = (*S)->Device->run(R);
  }
  CheckOutcome Found;
  Found.Verdict = judgeSanitizer(Tool, (*S)->Device->finish(SanitizerPatience),
                                 Last, Found.NotMade);
  return Found;
}

/// The original is asked only where a variant fails: then it may do so, too.
Session::CheckOutcome Session::blame(const std::string &Tool,
                                     const ToolRun &Run) {
  CheckOutcome Found = Run(VariantSlot);
  if (!Found.NotMade.empty() || Found.Verdict.ok())
    return Found;
  if (!Insane.count(Tool)) {
    CheckOutcome Original = Run(OriginalSlot);
    if (!Original.NotMade.empty())
      return Original;
    Insane[Tool] = Original.Verdict.Message;
  }
  return Insane[Tool].empty()
             ? Found
             : CheckOutcome{{}, "the original itself: " + Insane[Tool]};
}

/// Why there is nothing for a tool to find in the variant, which costs a
/// context and the tool's start; empty where there may be.
std::string Session::needsNo(const std::string &Tool, Evaluation &E) {
  if (!readPtx(E.Change.canonicalJson(), E.Ptx).ok())
    return {};
  const bool Shares =
      E.Ptx->SharesMemory ||
      std::ranges::any_of(E.Recordings, [&](size_t Index) {
        return (E.Launches.empty() ? Kernel->recordings()[Index].Manifest.Launch
                                   : E.Launches[Index])
                   .DynamicShared > 0;
      });
  if (Tool == "racecheck")
    return Shares ? "" : "no shared memory";
  return trust::synchronizes(*E.Ptx) ? "" : "no barriers";
}

Session::CheckOutcome Session::checkSanitizer(Evaluation &E) {
  if (Device->identity().Backend != "cuda")
    return {{}, "it is a tool for GPUs"};
  if (underSanitizer("", "").empty())
    return {{}, NoSanitizer};
  ToolsReport Report;
  for (const std::string Tool : {"racecheck", "synccheck"}) {
    CheckOutcome Found;
    Found.NotMade = needsNo(Tool, E);
    if (Found.NotMade.empty())
      Found = blame(Tool,
                    [&](const char *Slot) { return sanitize(Tool, Slot, E); });
    if (!Found.Verdict.ok())
      return Found;
    Report.add(Tool, Found.NotMade);
  }
  if (Report.Made.empty())
    return {{}, Report.Left};
  return {{Outcome::Ok, Report.text()}, ""};
}

} // namespace r3::replay
