// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/remix/Gate.h"

#include "wrapper/trust/MedianBound.h"

#include <algorithm>
#include <map>

namespace r3 {

namespace {

constexpr size_t MostTimed = 3;         // recordings
constexpr double BaselineError = 0.025; // on each side
constexpr unsigned FewProcesses = 2, ManyProcesses = 4, AaProcesses = 10;

std::vector<double> originalTimes(const std::vector<Batch> &All) {
  std::vector<double> Times;
  for (const Batch &B : All)
    Times.insert(Times.end(), B.OriginalUs.begin(), B.OriginalUs.end());
  return Times;
}

std::vector<double> variantTimes(const std::vector<Batch> &All) {
  std::vector<double> Times;
  for (const Batch &B : All)
    Times.insert(Times.end(), B.VariantUs.begin(), B.VariantUs.end());
  return Times;
}

double medianOf(const std::vector<double> &Values) {
  return Values.empty() ? 0 : trust::median(Values);
}

std::vector<double> ratiosOf(const std::vector<Batch> &All, double SubtractUs) {
  std::vector<double> Ratios;
  for (const Batch &B : trust::steadyBatches(All))
    Ratios.push_back(trust::batchRatio(B, SubtractUs));
  return Ratios;
}

void addNew(std::vector<std::string> &List, const std::string &Text) {
  if (!Text.empty() && std::find(List.begin(), List.end(), Text) == List.end())
    List.push_back(Text);
}

/// Whether the source is the original's, and blocks get another shape only by a
/// pass that keeps what they compute.
bool keepsMeaning(const Variant &V) {
  return V.Patch.empty() && V.Ptx.empty() &&
         (V.Launch.empty() || !V.Remap.empty());
}

} // namespace

/// One recording in both cache modes.
struct Gate::Timed {
  size_t Recording = 0; // in Report.Recordings
  struct Side {
    std::vector<Batch> Batches;
    double SubtractUs = 0;
    std::string TooShort; // why there are no times
  } Cold, Warm;
  std::vector<double> AaRatios;
  std::optional<CacheMode> Mode; // that decides
  std::vector<std::string> Warnings;
  unsigned Processes = 0;

  Side &side(CacheMode M) { return M == CacheMode::Cold ? Cold : Warm; }
  const Side &side(CacheMode M) const {
    return M == CacheMode::Cold ? Cold : Warm;
  }
};

void holdOut(std::vector<SearchRecording> &Recordings) {
  std::map<std::string, std::vector<SearchRecording *>> Classes;
  for (SearchRecording &R : Recordings) {
    R.Held = false;
    Classes[R.About.Class].push_back(&R);
  }
  for (auto &[Name, List] : Classes)
    if (List.size() > 1)
      List.back()->Held = true;
}

Error Gate::stopped() const {
  return Stop ? fail(ErrorCode::Interrupted, "interrupted") : Error::success();
}

Expected<GateReport> Gate::run(const std::vector<SearchRecording> &Recordings,
                               const Variant &Change) {
  Report = GateReport();
  Processes = 0;
  if (Error E = verify(Recordings, Change))
    return E;
  if (Report.Result == Outcome::Ok && Options.Batches)
    if (Error E = time(Change))
      return E;
  if (Report.Accepted)
    if (Error E = timeBaselines())
      return E;
  return std::move(Report);
}

Error Gate::verify(const std::vector<SearchRecording> &Recordings,
                   const Variant &Change) {
  Tell("replaying the original", 0);
  auto W = Source();
  if (!W)
    return W.error().in("the worker did not start");
  Report.Device = (*W)->identity();
  std::vector<std::string> Paths;
  for (const SearchRecording &R : Recordings)
    Paths.push_back(R.Path);
  if (Error E = (*W)->load(Paths))
    return E;
  if (Options.Batches) // the floor needs them
    if (auto Rates = (*W)->rates(); !Rates)
      return Rates.error();
  std::vector<size_t> Usable;
  for (size_t I = 0; I < Recordings.size(); ++I) {
    if (Error E = stopped())
      return E;
    auto Replayed = (*W)->prepare(I, Options.Repetitions);
    if (!Replayed)
      return Replayed.error();
    if (Replayed->Result != Outcome::Ok) {
      Report.LeftOut.push_back("recording " +
                               Recordings[I].About.Digest.substr(0, 8) + ": " +
                               std::string(outcomeName(Replayed->Result)) +
                               ": " + Replayed->Message);
      continue;
    }
    Usable.push_back(I);
    Report.Recordings.push_back(Recordings[I]);
  }
  if (Usable.empty()) {
    Report.Result = Outcome::NotVerifiable;
    Report.Message =
        Report.LeftOut.empty() ? "no recordings" : Report.LeftOut[0];
    return Error::success();
  }
  Tell("verifying", 0.2);
  auto Original = (*W)->evaluate({Variant(), {Usable[0]}});
  if (!Original)
    return Original.error();
  Report.Original = std::move(*Original);
  EvaluationRequest What{Change, Usable, /*Pairs=*/0, Options.Seed};
  What.Known = {Report.Original.Code};
  What.Which = Options.Which;
  What.CloseTo = Options.CloseTo;
  What.AllowPrecision = Options.AllowPrecision;
  What.Checks = Options.Checks;
  What.Floors = Options.Batches > 0;
  auto Found = (*W)->evaluate(What);
  if (!Found)
    return Found.error();
  Report.Variant = std::move(*Found);
  for (size_t I = Usable.size(); I--;)
    if (std::ranges::count(Report.Variant.Excluded, Usable[I]))
      leaveOut(I);
  Report.Result = Report.Variant.Result;
  Report.Message = Report.Variant.Message;
  if (Report.Result == Outcome::Ok && !keepsMeaning(Change))
    for (const SearchRecording &R : Report.Recordings)
      addNew(Report.OnlyClasses, R.About.Class);
  if (!Change.Ptx.empty())
    Report.Weakness = "of PTX nobody knows what it takes for granted";
  else if (std::none_of(Report.Recordings.begin(), Report.Recordings.end(),
                        [](const SearchRecording &R) { return R.Held; }))
    Report.Weakness = "no recording was held out";
  return Error::success();
}

/// A recording that the variant is not for.
void Gate::leaveOut(size_t Index) {
  Report.Recordings.erase(Report.Recordings.begin() +
                          static_cast<std::ptrdiff_t>(Index));
}

/// The longest recording of each class in the program, held-out ones first.
void Gate::chooseTimed(std::vector<Timed> &All) const {
  std::map<std::string, size_t> OfClass;
  for (size_t I = 0; I < Report.Recordings.size(); ++I) {
    auto [It, New] = OfClass.emplace(Report.Recordings[I].About.Class, I);
    if (!New && Report.Recordings[I].Held)
      It->second = I;
  }
  for (const auto &[Class, Index] : OfClass) {
    All.emplace_back();
    All.back().Recording = Index;
  }
  std::stable_sort(All.begin(), All.end(), [&](const Timed &A, const Timed &B) {
    return Report.Recordings[A.Recording].About.ProgramNs >
           Report.Recordings[B.Recording].About.ProgramNs;
  });
  if (All.size() > MostTimed)
    All.resize(MostTimed);
}

Error Gate::time(const Variant &Change) {
  std::vector<Timed> All;
  chooseTimed(All);
  unsigned Wanted = FewProcesses, AaWanted = FewProcesses;
  while (Processes < std::max(Wanted, AaWanted)) {
    if (Error E = stopped())
      return E;
    Tell("timing", 0.4 + 0.6 * Processes / std::max(Wanted, AaWanted));
    if (Error E = timeOnce(Change, All, /*AaOnly=*/Processes >= Wanted))
      return E;
    if (Report.Result != Outcome::Ok)
      return Error::success();
    ++Processes;
    judge(All);
    // Not faster in one process is not accepted in however many.
    const trust::Gain &First = Report.Gains[0].Judged;
    if (Processes == 1 && First.Ratio <= 1)
      return Error::success();
    if (Processes == FewProcesses && First.Ratio > 1 &&
        trust::gainNeeded(All[0].AaRatios) > trust::LeastGain) {
      Wanted = ManyProcesses;
      AaWanted = AaProcesses;
    }
  }
  return Error::success();
}

/// Whether there are times; not for a kernel that is too short, or wrong (which
/// is in the report then).
Expected<bool> Gate::measure(Evaluator &W, const Variant &Change, Timed &T,
                             CacheMode Mode) {
  Timed::Side &Side = T.side(Mode);
  if (!Side.TooShort.empty())
    return false;
  const size_t Needed =
      std::max<size_t>(Options.Batches, trust::batchesNeeded(Options.Try));
  MeasurementRequest What{Change, T.Recording, Mode};
  What.Batches = unsigned((Needed + FewProcesses - 1) / FewProcesses);
  What.Seed = Options.Seed + Processes;
  What.Which = Options.Which;
  What.CloseTo = Options.CloseTo;
  What.AllowPrecision = Options.AllowPrecision;
  auto M = W.measure(What);
  if (!M)
    return M.error();
  addNew(T.Warnings, M->HostWarning);
  if (Report.Device.Backend != "cpu") // it has none
    addNew(T.Warnings, M->ClocksUnread);
  if (M->Result == Outcome::BelowResolution) {
    Side.TooShort = M->Message;
    return false;
  }
  if (M->Result != Outcome::Ok) {
    Report.Result = M->Result;
    Report.Message = "while it was timed: " + M->Message;
    return false;
  }
  for (Batch &B : M->Batches) {
    B.Process = Processes;
    Side.Batches.push_back(B);
  }
  Side.SubtractUs = std::max(Side.SubtractUs, M->SubtractUs);
  return true;
}

Error Gate::measureAa(Evaluator &W, Timed &T) {
  Timed Aa;
  Aa.Recording = T.Recording;
  auto Made = measure(W, Variant(), Aa, *T.Mode);
  if (!Made)
    return Made.error();
  const Timed::Side &Side = Aa.side(*T.Mode);
  if (auto Ratios = ratiosOf(Side.Batches, Side.SubtractUs); !Ratios.empty())
    T.AaRatios.push_back(trust::median(Ratios));
  return Error::success();
}

Error Gate::timeOnce(const Variant &Change, std::vector<Timed> &All,
                     bool AaOnly) {
  auto W = Source();
  if (!W)
    return W.error().in("the worker did not start");
  std::vector<std::string> Paths;
  for (const SearchRecording &R : Report.Recordings)
    Paths.push_back(R.Path);
  if (Error E = (*W)->load(Paths))
    return E;
  const bool OnlyWarm = Report.Device.Backend == "cpu"; // nothing is flushed
  for (Timed &T : All) {
    if (Error E = stopped())
      return E;
    for (CacheMode Mode : {CacheMode::Cold, CacheMode::Warm}) {
      if (AaOnly || (OnlyWarm && Mode == CacheMode::Cold))
        continue;
      if (auto Made = measure(**W, Change, T, Mode); !Made)
        return Made.error();
      if (Report.Result != Outcome::Ok)
        return Error::success();
    }
    if (!AaOnly)
      ++T.Processes;
    if (!T.Mode) {
      const double Cold = medianOf(originalTimes(T.Cold.Batches));
      const double Warm = medianOf(originalTimes(T.Warm.Batches));
      const double Program =
          double(Report.Recordings[T.Recording].About.ProgramNs) / 1e3;
      T.Mode = Cold > 0 ? CacheMode::Cold : CacheMode::Warm;
      if (Cold > 0 && Warm > 0 && Program > 0) {
        auto Choice = trust::chooseMode(Program, Cold, Warm);
        T.Mode = Choice.Mode;
        addNew(T.Warnings, Choice.Warning);
      }
    }
    if (T.side(*T.Mode).Batches.empty())
      continue;
    if (Error E = measureAa(**W, T))
      return E;
  }
  return Error::success();
}

/// Who else compiles the original's source.
struct Gate::Rival {
  std::string Name;
  Accept Which; // what its results may be
  /// Its code, as a variant of the kernel that the worker has loaded. Not Ok:
  /// there is none, and why.
  std::function<Expected<NvccReport>(Evaluator &, Variant &)> Compile;
};

Error Gate::timeBaselines() {
  const bool Cuda = Report.Device.Backend == "cuda";
  std::vector<Rival> All = {
      {"clang -O3", Options.Which, [&](Evaluator &, Variant &Code) {
         Code.Pipeline = "default<O3>";
         Code.Level = "O3";
         if (Cuda)
           Code.PtxasLevel = "O3";
         return Expected<NvccReport>(NvccReport());
       }}};
  if (Cuda) // another compiler rounds elsewhere
    All.push_back(
        {"nvcc -O3", Accept::Rounding, [](Evaluator &W, Variant &Code) {
           auto Made = W.nvcc();
           Code.Ptx = Made ? Made->Ptx : "";
           Code.PtxasLevel = "O3";
           return Made;
         }});
  for (const Rival &R : All) {
    if (Error E = stopped())
      return E;
    Tell("timing " + R.Name, 0.95);
    auto Made = timeBaseline(R);
    if (Error E = stopped())
      return E;
    Report.Baselines.push_back(Made ? std::move(*Made)
                                    : Baseline{R.Name, Made.error().message()});
  }
  return Error::success();
}

Expected<Baseline> Gate::timeBaseline(const Rival &R) {
  auto W = Source();
  if (!W)
    return W.error().in("the worker did not start");
  const RecordingGain &Longest = Report.Gains[0];
  if (Error E = (*W)->load({Report.Recordings[Longest.Recording].Path}))
    return E;
  Baseline B{R.Name};
  auto Failed = [&](Outcome Result, const std::string &Why) {
    B.Message = std::string(outcomeName(Result)) + ": " + Why;
    return B;
  };
  Variant Code;
  auto Compiled = R.Compile(**W, Code);
  if (!Compiled)
    return Compiled.error();
  if (Compiled->Result != Outcome::Ok)
    return Failed(Compiled->Result, Compiled->Message);
  EvaluationRequest Built{Code, {0}};
  Built.Known = {Report.Original.Code};
  Built.Which = R.Which;
  Built.CloseTo = Options.CloseTo;
  auto Found = (*W)->evaluate(Built);
  if (!Found)
    return Found.error();
  if (Found->Result == Outcome::Duplicate) {
    B.Message = "the same code as the original's";
    return B;
  }
  if (Found->Result != Outcome::Ok)
    return Failed(Found->Result, Found->Message);
  MeasurementRequest What{Code, 0, Longest.Mode};
  What.Batches = std::max(Options.Batches / FewProcesses,
                          unsigned(trust::valuesNeeded(BaselineError)));
  What.Seed = Options.Seed;
  What.Which = R.Which;
  What.CloseTo = Options.CloseTo;
  auto M = (*W)->measure(What);
  if (!M)
    return M.error();
  if (M->Result != Outcome::Ok)
    return Failed(M->Result, M->Message);
  const auto Ratios = ratiosOf(M->Batches, M->SubtractUs);
  if (Ratios.empty())
    return Failed(Outcome::BelowResolution, "no batch was steady");
  B.Ratio = trust::median(Ratios);
  B.AtLeast = trust::medianAtLeast(Ratios, BaselineError).value_or(0);
  B.AtMost = trust::medianAtMost(Ratios, BaselineError).value_or(0);
  return B;
}

void Gate::judge(const std::vector<Timed> &All) {
  Report.Gains.clear();
  for (const Timed &T : All) {
    RecordingGain G;
    G.Recording = T.Recording;
    G.Mode = *T.Mode;
    G.AaRatios = T.AaRatios;
    G.Processes = T.Processes;
    G.Warnings = T.Warnings;
    if (T.Recording < Report.Variant.Floors.size())
      G.Floor = Report.Variant.Floors[T.Recording];
    const bool IsCold = G.Mode == CacheMode::Cold;
    G.FloorUs = IsCold ? G.Floor.ColdUs : G.Floor.WarmUs;
    G.FloorBy = IsCold ? G.Floor.ColdBy : G.Floor.WarmBy;
    const Timed::Side &Own = T.side(G.Mode);
    const Timed::Side &Other =
        T.side(G.Mode == CacheMode::Cold ? CacheMode::Warm : CacheMode::Cold);
    if (Own.Batches.empty()) {
      G.TooShort = Own.TooShort;
      Report.Gains.push_back(std::move(G));
      continue;
    }
    const trust::Measurement OtherSide{Other.Batches, Other.SubtractUs};
    G.Judged = trust::judgeGain({Own.Batches, Own.SubtractUs},
                                Other.Batches.empty() ? nullptr : &OtherSide,
                                T.AaRatios, Options.Try);
    G.AtMost = trust::medianAtMost(ratiosOf(Own.Batches, Own.SubtractUs),
                                   G.Judged.Error);
    G.OriginalUs = medianOf(originalTimes(Own.Batches)) - Own.SubtractUs;
    G.VariantUs = medianOf(variantTimes(Own.Batches)) - Own.SubtractUs;
    if (G.FloorUs > 0 &&
        trust::isBelowFloor(G.VariantUs + Own.SubtractUs, G.FloorUs))
      addNew(G.Warnings,
             format("%.2f us is below what memory and arithmetic allow "
                    "(%.2f us): look at how it was verified",
                    G.VariantUs + Own.SubtractUs, G.FloorUs));
    Report.Gains.push_back(std::move(G));
  }
  // The longest decides, and no other class may lose.
  Report.Accepted = Report.Gains[0].Judged.Accepted &&
                    std::none_of(Report.Gains.begin(), Report.Gains.end(),
                                 [](const RecordingGain &G) {
                                   return G.AtMost.value_or(1) < 1;
                                 });
  Report.Message = Report.Gains[0].TooShort;
}

} // namespace r3
