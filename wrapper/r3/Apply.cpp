// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3 apply: writes the best variants of the journal into r3.profile, as text,
// and the headers of the units that have to be compiled again: what has passed
// the gate. Weak evidence is applied only where it is accepted by name.
#include "wrapper/r3/Catalogue.h"
#include "wrapper/r3/Command.h"
#include "wrapper/r3/ProfileFolder.h"
#include "wrapper/r3/Text.h"
#include "wrapper/r3/Winner.h"
#include "wrapper/remix/EvidenceText.h"

#include <algorithm>
#include <set>

namespace r3 {

namespace {

/// A variant and what speaks for it.
struct Choice {
  Evaluation Made;
  RatioSpread Gain;
  std::string Level; // "strong" or "weak"
  std::vector<std::string> Warnings;
};

class Apply : public Command {
public:
  void declare(Flags &Options) override {
    Options.texts("KERNEL", Patterns, "",
                  "kernels by name, part of it or key (default: all)");
    Options.choice("--accept", Accept, {"weak"},
                   "apply variants whose evidence is only weak");
    Options.text("--variant", VariantId, "ID",
                 "apply this variant of one kernel, whatever its gain");
  }

  Expected<int> run(Context &Given) override {
    if (!Given.HasRoot)
      return fail(ErrorCode::NotFound,
                  "no r3.toml here or above: `r3 init` makes one in the "
                  "project's root");
    auto From = Given.openStore();
    if (!From)
      return From.error();
    Catalogue All = Catalogue::read(*From);
    auto Kernels = All.select(Given.Backend, Patterns);
    if (!Kernels)
      return Kernels.error();
    auto Chosen = choose(Given, *From, *Kernels);
    if (!Chosen)
      return Chosen.error();
    if (Chosen->empty())
      return fail(ErrorCode::Slower,
                  "no kernel has a gain that has passed the gate; nothing is "
                  "written");
    if (Error E = checkAccepted(*Chosen))
      return E;
    // From here on it is decided what is written.
    return write(Given, *Kernels, *Chosen);
  }

private:
  Expected<std::vector<Choice>>
  choose(Context &Given, const Store &From,
         const std::vector<const CatalogueKernel *> &Kernels) {
    auto Log = Journal::openForReading(From.journalPath());
    if (!Log && Log.error().code() == ErrorCode::NotFound)
      return fail(ErrorCode::NotFound,
                  "%s: no search was made; `r3 remix` does",
                  From.path().c_str());
    if (!Log)
      return Log.error();
    if (!VariantId.empty() && Kernels.size() != 1)
      return fail(ErrorCode::Usage,
                  "--variant belongs to one kernel, %s match: name it",
                  plural(Kernels.size(), "kernel").c_str());
    std::vector<Choice> Chosen;
    for (const CatalogueKernel *K : Kernels) {
      auto Made = (*Log)->evaluations({K->Key, Given.Backend, "", 0});
      if (!Made)
        return Made.error();
      auto Found = (*Log)->evidence(K->Key);
      if (!Found)
        return Found.error();
      if (!VariantId.empty()) {
        auto One = findVariant(*Made, VariantId);
        if (!One)
          return One.error().in(K->Display);
        Chosen.push_back(withEvidence(std::move(*One), *Found));
        continue;
      }
      if (Made->empty())
        leaveOut(Given, *K, "no variant was evaluated");
      for (Winner &W : findWinners(*Made, *Found))
        if (W.Best)
          Chosen.push_back({std::move(*W.Best), W.Found.Gain, W.Found.Level,
                            evidenceWarnings(W.Found)});
        else
          leaveOut(Given, *K, W.Why);
    }
    return Chosen;
  }

  static void leaveOut(Context &Given, const CatalogueKernel &K,
                       const std::string &Why) {
    Given.Out.print("left out: " + printable(K.Display) + ": " + Why + "\n");
  }

  /// A variant that was named may not have passed the gate: what the search saw
  /// of it is weak.
  static Choice withEvidence(Evaluation One, const std::vector<Evidence> &All) {
    Choice Result{std::move(One), {}, "weak", {}};
    Result.Gain = Result.Made.Gain;
    for (const Evidence &E : All)
      if (E.VariantId == Result.Made.Change.id().hex() &&
          E.Setting == Result.Made.Setting && E.Level != "rejected") {
        Result.Gain = E.Gain;
        Result.Level = E.Level;
        Result.Warnings = evidenceWarnings(E);
      }
    return Result;
  }

  /// Leaves out what is weak, unless it was accepted; an error where nothing
  /// remains.
  Error checkAccepted(std::vector<Choice> &Chosen) const {
    if (Accept == "weak")
      return Error::success();
    std::string Names;
    std::erase_if(Chosen, [&](const Choice &C) {
      if (C.Level == "strong")
        return false;
      Names += "\n  " + printable(C.Made.Name) + "  " +
               gainText(C.Gain.Median, C.Gain.Low, C.Gain.High) + "  " +
               C.Made.Note;
      return true;
    });
    if (!Chosen.empty() || Names.empty())
      return Error::success();
    return fail(ErrorCode::Failed,
                "the evidence is weak: no recording that the search did not "
                "see has confirmed it. Record more launches, or `r3 apply "
                "--accept weak` applies all the same:%s",
                Names.c_str());
  }

  Expected<int> write(Context &Given,
                      const std::vector<const CatalogueKernel *> &Kernels,
                      const std::vector<Choice> &Chosen) {
    auto Profile = ProfileFolder::open(Given.Root);
    if (!Profile)
      return Profile.error();
    size_t Changed = 0;
    size_t Applied = 0;
    for (const Choice &C : Chosen) {
      const Evaluation &E = C.Made;
      auto K = std::find_if(Kernels.begin(), Kernels.end(),
                            [&](const auto *One) { return One->Key == E.Key; });
      KernelProfile Kernel = Profile->find(E.Key);
      if (!describe(Given, **K, Kernel))
        continue;
      putEntry(Kernel, C);
      bool Differs = Profile->put(Kernel);
      Changed += Differs;
      ++Applied;
      Given.Out.print(
          (Differs ? "written  r3.profile/" : "kept     r3.profile/") +
          Profile->folderOf(E.Key) + "/kernel.toml  " + printable(E.Name) +
          "  " + gainText(C.Gain.Median, C.Gain.Low, C.Gain.High) + " " +
          C.Level + (Given.Backend == "cpu" ? " (CPU time)" : "") + "  " +
          E.Note + "\n");
      for (const std::string &Text : C.Warnings)
        Given.warn(printable(E.Name + ": " + Text));
    }
    if (!Applied)
      return fail(ErrorCode::Failed, "nothing could be applied");
    if (Error E = Profile->writeKernels())
      return E;
    auto Rewritten = Profile->writeHeaders();
    if (!Rewritten)
      return Rewritten.error();
    for (const std::string &Source : *Rewritten)
      Given.Out.print("rebuild  " + printable(Source) + "\n");
    Given.Out.print(Rewritten->empty()
                        ? "nothing has to be compiled again\n"
                        : "next: build again, with clang-r3 as before\n");
    return 0;
  }

  /// Fills in what the store knows of a kernel; false (said) where that is
  /// not enough for a build to find it.
  static bool describe(Context &Given, const CatalogueKernel &K,
                       KernelProfile &Kernel) {
    std::set<std::string> Sources, WithHeader;
    for (const CatalogueUnit &U : K.Units) {
      Sources.insert(U.Source);
      if (!U.ProfileHeader.empty())
        WithHeader.insert(U.Source);
      Kernel.Fingerprints[U.Arch] = U.Fingerprint;
    }
    if (Sources.empty()) {
      leaveOut(Given, K, "the store has no unit that contains it");
      return false;
    }
    for (const std::string &Source : Sources)
      if (!WithHeader.count(Source))
        Given.warn(printable(Source) +
                   " was built without a profile header: make does not see "
                   "that it has to be compiled again, so delete its object "
                   "file (clang-r3 adds the header by itself)");
    Kernel.Name = K.Display;
    Kernel.Home = K.Home;
    Kernel.Units.assign(Sources.begin(), Sources.end());
    return true;
  }

  static void putEntry(KernelProfile &Kernel, const Choice &C) {
    const Evaluation &E = C.Made;
    std::erase_if(Kernel.Entries, [&](const ProfileEntry &Old) {
      return Old.Device == E.Device && Old.Class == "all";
    });
    ProfileEntry Entry;
    Entry.Device = E.Device;
    Entry.Change = E.Change;
    Entry.Gain = C.Gain.Median;
    Entry.Low = C.Gain.Low;
    Entry.High = C.Gain.High;
    Entry.Evidence = C.Level;
    Entry.Origin = E.Origin;
    Entry.Versions = E.Tools;
    Entry.Code = E.Code;
    Kernel.Entries.push_back(std::move(Entry));
  }

  std::vector<std::string> Patterns;
  std::string Accept, VariantId;
};

} // namespace

std::unique_ptr<Command> makeApply() { return std::make_unique<Apply>(); }

} // namespace r3
