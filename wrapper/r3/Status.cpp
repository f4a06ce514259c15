// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3 status: what the latest search of the store does, or did.
#include "runtime/support/Json.h"
#include "wrapper/r3/Command.h"
#include "wrapper/r3/Text.h"
#include "wrapper/remix/Search.h"
#include "wrapper/remix/SearchStatus.h"

#include <ctime>

namespace r3 {

namespace {

std::string whenText(uint64_t Seconds) {
  const auto At = std::time_t(Seconds);
  std::tm Local{};
  localtime_r(&At, &Local);
  char Text[32];
  std::strftime(Text, sizeof(Text), "%F %T", &Local);
  return Text;
}

class Status : public Command {
public:
  void declare(Flags &Options) override {
    Options.flag("--json", Json, "print JSON");
  }

  Expected<int> run(Context &Given) override {
    auto From = Given.openStore();
    if (!From)
      return From.error();
    auto Found = SearchStatus::read(From->statusPath());
    const bool Never = !Found && Found.error().code() == ErrorCode::NotFound;
    if (!Found && !Never)
      return Found.error();
    if (Json)
      Given.Out.print(jsonText(Never ? nullptr : &*Found));
    else if (Never)
      Given.Out.print("no search has run; `r3 remix` starts one\n");
    else
      print(Given, *Found);
    return 0;
  }

private:
  /// Running is null where nobody here can know.
  static std::string jsonText(const SearchStatus *Found) {
    rapidjson::StringBuffer Buffer;
    json::PrettyWriter W(Buffer);
    W.StartObject();
    W.Key("running");
    if (Found && Found->life() == SearchStatus::Life::Elsewhere)
      W.Null();
    else
      W.Bool(Found && Found->life() == SearchStatus::Life::Running);
    W.Key("search");
    if (Found) {
      W.StartObject();
      Found->writeMembers(W);
      W.EndObject();
    } else {
      W.Null();
    }
    W.EndObject();
    return std::string(Buffer.GetString()) + "\n";
  }

  static std::string lifeText(const SearchStatus &S) {
    const std::string Process = format(
        "pid %llu on %s since %s", static_cast<unsigned long long>(S.Pid),
        printable(S.Host).c_str(), whenText(S.StartedAt).c_str());
    const std::string Heard = ", last heard of " + whenText(S.UpdatedAt);
    switch (S.life()) {
    case SearchStatus::Life::Running:
      return "running: " + Process;
    case SearchStatus::Life::Elsewhere:
      return "running on another machine, for all that is known: " + Process +
             Heard;
    case SearchStatus::Life::Gone:
      break;
    }
    if (S.Phase == "ended")
      return "not running: ended " + whenText(S.UpdatedAt) + ", " +
             printable(S.Ending);
    return "not running: " + Process + " is gone without a word" + Heard +
           "; the same r3 remix goes on";
  }

  static void print(Context &Given, const SearchStatus &S) {
    const bool Running = S.life() != SearchStatus::Life::Gone;
    std::string Text = lifeText(S) + "\n";
    if (!S.Device.empty())
      Text += "device " + printable(S.Device) + "\n";
    if (Running && !S.Kernels.empty())
      Text += S.Phase + " " + printable(S.Kernels.back().Name) +
              format(" (%zu of %llu)\n", S.Kernels.size(),
                     static_cast<unsigned long long>(S.KernelsToSearch));
    if (!S.Kernels.empty()) {
      Table Lines({"KERNEL", ">TRIED", ">RANKED", "BY", "OUTCOMES"});
      for (const KernelStatus &K : S.Kernels)
        Lines.add({shortened(printable(K.Name), 48), countText(K.Tried),
                   K.BestNote.empty()
                       ? "-"
                       : gainText(K.Best.Median, K.Best.Low, K.Best.High),
                   shortened(printable(K.BestNote), 40), outcomes(K)});
      Text += Lines.text();
    }
    const bool Timed = S.BudgetMs < NoTimeLimit;
    if (Timed)
      Text +=
          clockText(S.SpentMs) + " of " + clockText(S.BudgetMs) + " spent, ";
    Text += plural(S.Evaluations, "evaluation") +
            (S.MaxEvaluations ? " of " + countText(S.MaxEvaluations) : "") +
            format(", %.1f variants a second", S.PerSecond) +
            (Running && S.Phase == "searching" && S.LeftMs < NoTimeLimit / 2
                 ? ", at most " + clockText(S.LeftMs) + " left"
                 : "") +
            "\n";
    Given.Out.print(Text);
  }

  static std::string outcomes(const KernelStatus &K) {
    std::string Text;
    for (const auto &[Name, Count] : K.Outcomes)
      Text +=
          (Text.empty() ? "" : "  ") + countText(Count) + " " + printable(Name);
    return Text;
  }

  bool Json = false;
};

} // namespace

std::unique_ptr<Command> makeStatus() { return std::make_unique<Status>(); }

} // namespace r3
