// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a store and joins what is in it.
#include "wrapper/r3/Catalogue.h"

#include "runtime/support/Files.h"
#include "runtime/support/Options.h"
#include "runtime/support/Reason.h"
#include "runtime/support/Unit.h"
#include "wrapper/r3/Text.h"

#include <algorithm>
#include <filesystem>

namespace r3 {

size_t CatalogueKernel::replayable() const {
  return std::count_if(Recordings.begin(), Recordings.end(),
                       [](const auto &R) { return R.isReplayable(); });
}

uint64_t CatalogueKernel::footprint() const {
  uint64_t Bytes = 0;
  for (const CatalogueRecording &R : Recordings)
    Bytes += R.Manifest.footprint();
  return Bytes;
}

std::string CatalogueKernel::reason() const {
  if (replayable())
    return "";
  for (const CatalogueRecording &R : Recordings)
    return R.Manifest.Reason;
  for (const CatalogueUnit &U : Units)
    if (!U.Reason.empty())
      return U.Reason;
  return RunReason;
}

std::string CatalogueKernel::state() const {
  if (replayable())
    return "replayable";
  std::string Code = reason();
  if (Code.empty())
    return Launches && Share < ColdShare ? "not kept: cold" : "not recorded";
  std::string Detail;
  for (const CatalogueRecording &R : Recordings)
    if (Detail.empty())
      Detail = R.Manifest.Detail;
  for (const CatalogueUnit &U : Units)
    if (Detail.empty() && U.Reason == Code)
      Detail = U.Detail;
  auto Known = parseReason(Code);
  if (Detail.empty() && Known)
    Detail = std::string(reasonDescription(*Known));
  return Code + (Detail.empty() ? "" : ": " + printable(Detail));
}

std::string backendOfRun(const RunStats &Run) {
  // A DeviceIdentity::Key.
  return Run.Device.empty() || Run.Device.starts_with("sm_") ? "cuda" : "cpu";
}

std::string runOfProcess(const std::string &Stem) {
  // "20260131-142501-4711", then "-PID" for further processes.
  size_t At = Stem.find('-');
  if (At != 8)
    return Stem;
  for (int Part = 0; Part < 2 && At != std::string::npos; ++Part)
    At = Stem.find('-', At + 1);
  return Stem.substr(0, At);
}

namespace {

/// The runs of a store, by the name that `r3 record` gave.
struct RunGroups {
  struct Process {
    std::string Path;
    RunStats Stats;
  };
  std::map<std::string, std::vector<Process>> All;
  std::vector<std::string> Damaged; // messages

  explicit RunGroups(const Store &From) {
    for (const std::string &Path : From.listRuns()) {
      auto Run = RunStats::read(Path);
      if (!Run) {
        Damaged.push_back(Run.error().message());
        continue;
      }
      std::string Name = std::filesystem::path(Path).stem().string();
      All[runOfProcess(Name)].push_back({Path, std::move(*Run)});
    }
    for (const auto &[Name, Runs] : All)
      for (const Process &P : Runs) {
        std::string &Best = Latest[programOf(P)];
        if (Best.empty() || startOf(Name) > startOf(Best))
          Best = Name;
      }
  }

  /// Whether it is part of the latest run of its program.
  bool counts(const std::string &Name, const Process &P) const {
    return Latest.at(programOf(P)) == Name;
  }

private:
  using Program = std::pair<std::string, std::string>; // and backend

  static Program programOf(const Process &P) {
    return {P.Stats.Program, backendOfRun(P.Stats)};
  }
  uint64_t startOf(const std::string &Name) const {
    uint64_t Start = 0;
    for (const Process &P : All.at(Name))
      Start = std::max(Start, P.Stats.StartedAtNs);
    return Start;
  }

  std::map<Program, std::string> Latest;
};

class Reader {
public:
  explicit Reader(const Store &From) : From(From) {}

  Catalogue read() {
    readRuns();
    readRecordings();
    readUnits();
    return finish();
  }

private:
  CatalogueKernel &kernel(const std::string &Backend, const std::string &Key) {
    CatalogueKernel &K = Kernels[{Backend, Key}];
    K.Backend = Backend;
    K.Key = Key;
    return K;
  }

  void readRuns() {
    const RunGroups Groups(From);
    Result.Damaged = Groups.Damaged;
    Result.Runs = Groups.All.size();
    for (const auto &[Name, Runs] : Groups.All)
      for (const RunGroups::Process &P : Runs)
        if (Groups.counts(Name, P))
          addRun(P.Stats);
  }

  void addRun(const RunStats &Run) {
    for (const KernelRunStats &S : Run.Kernels) {
      CatalogueKernel &K = kernel(backendOfRun(Run), S.Key);
      K.Display = S.Name;
      K.TotalNs += S.totalNs();
      K.Launches += S.Launches;
      K.Sampled += S.Sampled;
      if (S.ReasonCount && S.LastReason) {
        K.RunReason = std::string(reasonName(Reason(S.LastReason)));
        K.RunReasonCount += S.ReasonCount;
      }
    }
  }

  void readRecordings() {
    for (const std::string &Path : From.listRecordings()) {
      auto Bytes = readFile(Path);
      if (!Bytes) {
        Result.Damaged.push_back(Bytes.error().message());
        continue;
      }
      auto R = Recording::parse(*Bytes, Path);
      if (!R) {
        Result.Damaged.push_back(R.error().message());
        continue;
      }
      CatalogueKernel &K = kernel(R->Device.Backend, R->Key);
      K.Display = R->Display;
      K.Name = R->Name;
      K.Home = R->Home;
      K.Recordings.push_back(
          {Path, Recording::idOf(*Bytes).hex(), std::move(*R)});
    }
  }

  void readUnits() {
    for (const std::string &Path : From.listUnits()) {
      auto Text = readTextFile(Path);
      auto U = Text ? Unit::parseJson(*Text) : Expected<Unit>(Text.error());
      if (!U) {
        Result.Damaged.push_back(U.error().in(Path).message());
        continue;
      }
      if (U->Id.empty())
        U->Id = std::filesystem::path(Path).stem().string();
      for (const UnitKernel &K : U->Kernels)
        for (const auto &[Arch, Code] : K.Code)
          addUnit(*U, K, Arch, Code);
    }
  }

  void addUnit(const Unit &U, const UnitKernel &K, const std::string &Arch,
               const KernelCode &Code) {
    for (const char *Backend : {"cuda", "cpu"}) {
      auto Known = Kernels.find({Backend, Code.Key});
      if (Known == Kernels.end())
        continue;
      CatalogueKernel &Found = Known->second;
      Found.Units.push_back({U.Id, U.Source, U.ProfileHeader, Arch,
                             Code.Fingerprint, Code.Reason, Code.Detail});
      if (Found.Name.empty())
        Found.Name = K.Name;
      if (Found.Home.empty())
        Found.Home = K.Home;
      Found.Display = K.Display.empty() ? Found.Display : K.Display;
    }
  }

  Catalogue finish() {
    std::map<std::string, double> Totals;
    for (const auto &[Where, K] : Kernels)
      Totals[K.Backend] += K.TotalNs;
    for (auto &[Where, K] : Kernels) {
      double Total = Totals[K.Backend];
      K.Share = Total > 0 ? K.TotalNs / Total : 0;
      if (K.Display.empty())
        K.Display = K.Name.empty() ? K.Key.substr(0, 12) : K.Name;
      std::sort(K.Recordings.begin(), K.Recordings.end(),
                [](const auto &A, const auto &B) {
                  return std::tie(A.Manifest.Class, A.Manifest.Ordinal, A.Id) <
                         std::tie(B.Manifest.Class, B.Manifest.Ordinal, B.Id);
                });
      Result.Kernels.push_back(std::move(K));
    }
    std::stable_sort(
        Result.Kernels.begin(), Result.Kernels.end(),
        [](const auto &A, const auto &B) { return A.TotalNs > B.TotalNs; });
    return std::move(Result);
  }

  const Store &From;
  std::map<std::pair<std::string, std::string>, CatalogueKernel> Kernels;
  Catalogue Result;
};

bool matches(const CatalogueKernel &K, const std::string &Pattern) {
  return K.Display == Pattern || K.Name == Pattern ||
         (Pattern.size() >= 4 && K.Key.starts_with(Pattern)) ||
         K.Display.find(Pattern) != std::string::npos;
}

} // namespace

Catalogue Catalogue::read(const Store &From) { return Reader(From).read(); }

std::vector<std::string> supersededRuns(const Store &From) {
  const RunGroups Groups(From);
  std::vector<std::string> Paths;
  for (const auto &[Name, Runs] : Groups.All)
    for (const RunGroups::Process &P : Runs)
      if (!Groups.counts(Name, P))
        Paths.push_back(P.Path);
  return Paths;
}

Expected<std::vector<const CatalogueKernel *>>
Catalogue::select(const std::string &Backend,
                  const std::vector<std::string> &Patterns) const {
  std::vector<const CatalogueKernel *> Found;
  std::vector<std::string_view> Names;
  size_t Others = 0;
  for (const CatalogueKernel &K : Kernels) {
    if (K.Backend != Backend) {
      ++Others;
      continue;
    }
    Names.push_back(K.Display);
    if (Patterns.empty() ||
        std::any_of(Patterns.begin(), Patterns.end(),
                    [&](const std::string &P) { return matches(K, P); }))
      Found.push_back(&K);
  }
  for (const std::string &Pattern : Patterns) {
    bool Hit = std::any_of(Found.begin(), Found.end(),
                           [&](const auto *K) { return matches(*K, Pattern); });
    if (Hit)
      continue;
    std::string Near = nearestName(Pattern, Names);
    return fail(ErrorCode::NotFound, "no kernel '%s'%s; `r3 list` shows all",
                Pattern.c_str(),
                Near.empty() ? "" : (" (did you mean " + Near + "?)").c_str());
  }
  if (Found.empty() && Others)
    return fail(ErrorCode::NotFound,
                "nothing was recorded on device %s, but %s on %s: add --device "
                "%s or set R3_DEVICE=%s",
                Backend.c_str(), plural(Others, "kernel").c_str(),
                Backend == "cpu" ? "cuda" : "cpu",
                Backend == "cpu" ? "cuda" : "cpu",
                Backend == "cpu" ? "cuda" : "cpu");
  if (Found.empty())
    return fail(ErrorCode::NotFound,
                "nothing was recorded; `r3 record -- PROGRAM` does, with a "
                "program that clang-r3 built");
  return Found;
}

Expected<const CatalogueKernel *>
Catalogue::selectOne(const std::string &Backend,
                     const std::string &Pattern) const {
  auto Found = select(Backend, {Pattern});
  if (!Found)
    return Found.error();
  if (Found->size() == 1)
    return Found->front();
  std::string Names;
  for (const CatalogueKernel *K : *Found)
    Names += (Names.empty() ? "" : ", ") + K->Display + " (" +
             K->Key.substr(0, 12) + ")";
  return fail(ErrorCode::Usage, "'%s' is %s: %s", Pattern.c_str(),
              plural(Found->size(), "kernel").c_str(), Names.c_str());
}

} // namespace r3
