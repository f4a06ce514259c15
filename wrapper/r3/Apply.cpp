// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3 apply: writes the best variants of the journal into r3.profile, as text,
// and the headers of the units that have to be compiled again. The thin search
// gives weak evidence, so nothing is written unless it is accepted by name.
#include "wrapper/r3/Catalogue.h"
#include "wrapper/r3/Command.h"
#include "wrapper/r3/ProfileFolder.h"
#include "wrapper/r3/Text.h"
#include "wrapper/r3/Winner.h"

#include <algorithm>
#include <set>

namespace r3 {

namespace {

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
                  "no kernel has an unconfirmed gain above the noise; nothing "
                  "is written");
    if (Error E = checkAccepted(*Chosen))
      return E;
    // From here on it is decided what is written.
    return write(Given, *From, *Kernels, *Chosen);
  }

private:
  Expected<std::vector<Evaluation>>
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
    std::vector<Evaluation> Chosen;
    for (const CatalogueKernel *K : Kernels) {
      auto Made = (*Log)->evaluations({K->Key, Given.Backend, "", 0});
      if (!Made)
        return Made.error();
      if (!VariantId.empty()) {
        auto One = findVariant(*Made, VariantId);
        if (!One)
          return One.error().in(K->Display);
        Chosen.push_back(std::move(*One));
        continue;
      }
      if (Made->empty())
        leaveOut(Given, *K, "no variant was evaluated");
      for (Winner &W : findWinners(*Made))
        if (W.Best)
          Chosen.push_back(std::move(*W.Best));
        else
          leaveOut(Given, *K, W.Why);
    }
    return Chosen;
  }

  static void leaveOut(Context &Given, const CatalogueKernel &K,
                       const std::string &Why) {
    Given.Out.print("left out: " + printable(K.Display) + ": " + Why + "\n");
  }

  Error checkAccepted(const std::vector<Evaluation> &Chosen) const {
    if (Accept == "weak")
      return Error::success();
    std::string Names;
    for (const Evaluation &E : Chosen)
      Names += "\n  " + printable(E.Name) + "  " +
               gainText(E.Gain.Median, E.Gain.Low, E.Gain.High) + "  " + E.Note;
    return fail(
        ErrorCode::Failed,
        "the evidence is weak: every variant gave the recorded results, "
        "but on the recordings of the search alone, and its timings "
        "rank, they prove nothing. `r3 apply --accept weak` applies all "
        "the same:%s",
        Names.c_str());
  }

  Expected<int> write(Context &Given, const Store &From,
                      const std::vector<const CatalogueKernel *> &Kernels,
                      const std::vector<Evaluation> &Chosen) {
    auto Profile = ProfileFolder::open(Given.Root);
    if (!Profile)
      return Profile.error();
    size_t Changed = 0;
    std::vector<const Evaluation *> Applied;
    for (const Evaluation &E : Chosen) {
      auto K = std::find_if(Kernels.begin(), Kernels.end(),
                            [&](const auto *One) { return One->Key == E.Key; });
      KernelProfile Kernel = Profile->find(E.Key);
      if (!describe(Given, **K, Kernel))
        continue;
      putEntry(Kernel, E);
      bool Differs = Profile->put(Kernel);
      Changed += Differs;
      Applied.push_back(&E);
      Given.Out.print(
          (Differs ? "written  r3.profile/" : "kept     r3.profile/") +
          Profile->folderOf(E.Key) + "/kernel.toml  " + printable(E.Name) +
          "  " + gainText(E.Gain.Median, E.Gain.Low, E.Gain.High) +
          " unconfirmed" + (Given.Backend == "cpu" ? " (CPU time)" : "") +
          "  " + E.Note + "\n");
    }
    if (Applied.empty())
      return fail(ErrorCode::Failed, "nothing could be applied");
    if (Error E = Profile->writeKernels())
      return E;
    auto Rewritten = Profile->writeHeaders();
    if (!Rewritten)
      return Rewritten.error();
    for (const std::string &Source : *Rewritten)
      Given.Out.print("rebuild  " + printable(Source) + "\n");
    if (Error E = noteEvidence(From, Applied))
      Given.warn("the journal does not know of it: " + E.message());
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

  static void putEntry(KernelProfile &Kernel, const Evaluation &E) {
    std::erase_if(Kernel.Entries, [&](const ProfileEntry &Old) {
      return Old.Device == E.Device && Old.Class == "all";
    });
    ProfileEntry Entry;
    Entry.Device = E.Device;
    Entry.Change = E.Change;
    Entry.Gain = E.Gain.Median;
    Entry.Low = E.Gain.Low;
    Entry.High = E.Gain.High;
    Entry.Evidence = "weak";
    Entry.Origin = E.Origin;
    Entry.Versions = E.Tools;
    Entry.Code = E.Code;
    Kernel.Entries.push_back(std::move(Entry));
  }

  static Error noteEvidence(const Store &From,
                            const std::vector<const Evaluation *> &Applied) {
    auto Log = Journal::openForWriting(From.journalPath(), "r3 apply");
    if (!Log)
      return Log.error();
    for (const Evaluation *E : Applied) {
      Evidence Found;
      Found.Key = E->Key;
      Found.Device = E->Device;
      Found.VariantId = E->Change.id().hex();
      Found.Level = "weak";
      Found.Evaluation = E->Id;
      Found.Gain = E->Gain;
      Found.Detail = "applied";
      if (Error Failure = (*Log)->addEvidence(Found))
        return Failure;
    }
    return Error::success();
  }

  std::vector<std::string> Patterns;
  std::string Accept, VariantId;
};

} // namespace

std::unique_ptr<Command> makeApply() { return std::make_unique<Apply>(); }

} // namespace r3
