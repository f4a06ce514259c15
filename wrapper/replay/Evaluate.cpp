// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One variant: build, run once and compare, then time against the original in
// A B B A order. Every launch starts from restored memory and, on a GPU, a
// flushed cache, and the result of every launch is compared, timed ones
// included.
#include "wrapper/replay/Compare.h"
#include "wrapper/replay/Evaluation.h"

#include "wrapper/trust/Race.h"

#include "runtime/support/Variant.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

namespace r3::replay {

namespace {

using Clock = std::chrono::steady_clock;
constexpr unsigned MostPairs = 10000;
constexpr unsigned ImplicitRepetitions = 3;

} // namespace

std::string Session::Evaluation::json() const {
  std::vector<std::string> Made;
  for (const CheckResult &C : Checks)
    Made.push_back(Message()
                       .text("check", checkName(C.What))
                       .flag("made", C.Made)
                       .outcome(C.Result, C.Message)
                       .real("milliseconds", C.Ms)
                       .json());
  std::vector<std::string> Least;
  for (const FloorReport &F : Floors)
    Least.push_back(floorJson(F));
  return Message("reply")
      .outcome(Verdict.Result, Verdict.Message)
      .text("tolerance", Verdict.ok() ? leniency() : "")
      .text("code", B.Code)
      .number("registers", B.Registers)
      .number("shared", B.Shared)
      .number("spills", B.Spills)
      .reals("originalNs", OriginalNs)
      .reals("variantNs", VariantNs)
      .raws("checks", Made)
      .raws("floors", Least)
      .numbers("excluded", {Excluded.begin(), Excluded.end()})
      .text("guards", Guards)
      .number("pairs", Rounds)
      .number("passRuns", B.PassRuns)
      .text("nextPass", B.NextPass)
      .text("nextPlace", B.NextPlace)
      .text("ir", B.Ir)
      .text("ptx", B.Ptx)
      .times(Ms)
      .json();
}

Build Session::buildVariant(const Evaluation &E) {
  if (!E.Change.isOriginal())
    return Compiler->build(E.Change.canonicalJson(), Setup.BuildDeadlineMs, "",
                           E.Once && E.Launches.empty() ? &Known : nullptr);
  Build B;
  B.Code = OriginalCode;
  B.Binary = OriginalBinary;
  return B;
}

trust::Judgement Session::judgeRun(size_t Index, const Attempt &A,
                                   double CloseTo) {
  trust::VariantCheck Check(*Preparations[Index].Base, CloseTo);
  auto Compared = compareRun(*Kernel, Index, *Device, A.Digests,
                             [&](const trust::DifferingChunk &Chunk) {
                               Check.addChunk(Chunk);
                               return !Check.decided();
                             });
  if (!Compared)
    return {Outcome::Crashed, Compared.error().message()};
  if (!Compared->Guards.ok())
    return Compared->Guards;
  return Check.verdict(Compared->Complete);
}

static Digest digestOf(const std::vector<Digest> &All) {
  ByteWriter Bytes;
  for (const Digest &Each : All)
    Bytes.digest(Each);
  return contentDigest(Bytes.data());
}

trust::Judgement Session::noteRight(trust::Judgement J,
                                    const std::pair<size_t, Digest> &Results,
                                    Evaluation &E) {
  if (J.ok())
    E.Accepted.insert(Results);
  return J;
}

/// What a launch has left: right before, or held against the record or, where
/// there are models, what rounding does to the original.
trust::Judgement Session::judgeResult(size_t Index, bool IsVariant,
                                      const Attempt &A, Evaluation &E) {
  E.Left = A.Digests;
  const std::pair Results{Index, digestOf(A.Digests)};
  if (IsVariant && E.Accepted.count(Results))
    return {};
  if (IsVariant && E.MayRound && !Preparations[Index].Rounding.empty())
    return noteRight(judgeRounding(Index, A, E.Tolerance), Results, E);
  if (IsVariant && E.CloseTo > 0) {
    if (A.Digests != Kernel->recordings()[Index].After)
      E.Tolerance = format("a difference of %.3g was allowed", E.CloseTo);
    return noteRight(judgeRun(Index, A, E.CloseTo), Results, E);
  }
  return judgeRun(Index, A);
}

trust::Judgement Session::runSlot(size_t Index, const char *Slot,
                                  size_t Pattern, double &Ns, Evaluation &E) {
  const DeviceLink::RunRequest R =
      E.wants(Check::Poison)
          ? request(Index, Slot, Preparations[Index].Where, Pattern)
          : request(Index, Slot, Poison(), 0);
  return launchAndJudge(R, Ns, E);
}

/// A variant's result is not right by the rules so far: whether there are
/// models now, and were none, so that rounding may explain it.
bool Session::findModels(size_t Index, trust::Judgement &J, Evaluation &E) {
  const Prepared &P = Preparations[Index];
  if (J.Result != Outcome::Wrong || !E.MayRound || E.CloseTo > 0 ||
      !P.Rounding.empty())
    return false;
  const bool Found = modelRounding(Index, E.Ms);
  if (!Found && !P.NoRounding.empty())
    J.Message += "; no tolerance: " + P.NoRounding;
  return Found;
}

/// Models are made where the first result differs from the record.
trust::Judgement Session::launchAndJudge(DeviceLink::RunRequest R, double &Ns,
                                         Evaluation &E) {
  if (!E.wants(Check::ReadOnly))
    R.Written.reset();
  const size_t Index = R.Launch;
  Attempt A = Device->run(R);
  for (const auto &[Step, Value] : A.Ms)
    E.Ms[Step] += Value;
  if (!A.ok())
    return judgeEnding(Index, A);
  Ns = A.Ns;
  const bool IsVariant = R.Slot != OriginalSlot;
  trust::Judgement J = judgeResult(Index, IsVariant, A, E);
  if (!IsVariant || !findModels(Index, J, E))
    return J;
  // The models' replays came in between.
  A = Device->run(R);
  if (!A.ok())
    return judgeEnding(Index, A);
  return judgeResult(Index, IsVariant, A, E);
}

/// One launch with each pattern.
trust::Judgement Session::verify(size_t Index, Evaluation &E) {
  trust::Judgement J;
  if (isCheckedFirst(E.Change, E.PassLimit))
    J = checkAccesses(Index, E.Change.canonicalJson(), E.Launches, E.Ms,
                      std::exchange(E.Checked, std::nullopt));
  double Ns = 0;
  for (size_t Pattern = 0; J.ok() && Pattern < std::size(PoisonBytes);
       ++Pattern)
    J = runSlot(Index, VariantSlot, Pattern, Ns, E);
  return J;
}

/// Memory that must be written is poisoned before every launch: a variant that
/// looks whether it is watched finds that it always is.
trust::Judgement Session::timeLaunch(size_t Index, bool Variant, size_t Pattern,
                                     double &Ns, Evaluation &E) {
  trust::Judgement J =
      runSlot(Index, Variant ? VariantSlot : OriginalSlot, Pattern, Ns, E);
  // The original passed before: now it is not the variant that is at fault.
  if (!J.ok() && !Variant)
    return {Outcome::NotVerifiable,
            "the original, between launches of the variant: " + J.Message};
  return J;
}

/// The first launch of each side is not counted. Then rounds of one pair on
/// each recording, in the order A B B A, which side is A by a coin for each two
/// pairs, until there are enough or the variant cannot win.
trust::Judgement Session::timePairs(unsigned Pairs, uint64_t Seed,
                                    Evaluation &E) {
  std::mt19937_64 Random(Seed);
  double Ns[2] = {}; // of a pair: the original's and the variant's
  trust::Judgement J;
  for (bool Variant : {true, false})
    if (J.ok())
      J = forEach(E.Recordings, [&](size_t Index) {
        return timeLaunch(Index, Variant, 0, Ns[Variant], E);
      });
  trust::Race Race(E.Beat);
  std::vector<bool> VariantFirst(E.Recordings.size());
  for (; J.ok() && E.Rounds < Pairs && !Race.isLost() && !Cancelled;
       ++E.Rounds) {
    size_t At = 0;
    J = forEach(E.Recordings, [&](size_t Index) {
      const bool First =
          E.Rounds % 2 ? !VariantFirst[At] : static_cast<bool>(Random() & 1);
      VariantFirst[At++] = First;
      trust::Judgement Pair;
      for (bool Variant : {First, !First})
        if (Pair.ok())
          Pair = timeLaunch(Index, Variant, Random() % std::size(PoisonBytes),
                            Ns[Variant], E);
      if (!Pair.ok())
        return Pair;
      E.OriginalNs.push_back(Ns[0]);
      E.VariantNs.push_back(Ns[1]);
      Race.add(Ns[0], Ns[1]);
      return Pair;
    });
    Race.endRound();
  }
  return J;
}

Expected<Session::Evaluation>
Session::readEvaluation(const json::Value &Request) const {
  Evaluation E;
  const json::Value *Text = json::object(Request, "variant");
  if (!Text)
    return Error(ErrorCode::Usage, "evaluate names no variant");
  auto V = Variant::parse(json::print(*Text));
  if (!V)
    return V.error().in("variant");
  E.Change = std::move(*V);
  if (const json::Value *List = json::array(Request, "recordings"))
    for (const json::Value &Item : List->GetArray()) {
      if (!Item.IsUint64() || Item.GetUint64() >= Preparations.size())
        return fail(ErrorCode::Usage, "%zu recordings are loaded",
                    Preparations.size());
      E.Recordings.push_back(Item.GetUint64());
    }
  if (E.Recordings.empty())
    return Error(ErrorCode::Usage, "evaluate names no recordings");
  for (const std::string &Name : readTexts(Request, "checks")) {
    auto What = parseCheck(Name);
    if (!What)
      return Error(ErrorCode::Usage, What.error().message());
    E.Wanted.insert(*What);
  }
  E.MayRound = json::boolean(Request, "rounding", false);
  E.CloseTo = json::real(Request, "closeTo", 0);
  if (!(E.CloseTo >= 0 && E.CloseTo < 1))
    return Error(ErrorCode::Usage, "closeTo: 0 or more, and less than 1");
  E.AllowPrecision = json::boolean(Request, "allowPrecision", false);
  E.Seed = json::number(Request, "seed", 0);
  if (const auto Limit = json::number(Request, "passLimit"))
    E.PassLimit = *Limit;
  E.WantsFloors = json::boolean(Request, "floors", false);
  E.Once = json::boolean(Request, "once", false);
  E.Beat = json::real(Request, "beat", 0);
  E.Unordered = Kernel->unorderedText();
  return E;
}

static bool isKnown(const json::Value &Request, const std::string &Code) {
  const json::Value *Known = json::array(Request, "known");
  return Known && std::any_of(Known->Begin(), Known->End(),
                              [&](const json::Value &Each) {
                                return Each.IsString() &&
                                       Each.GetString() == Code;
                              });
}

/// A step for each recording; the message of one that fails names it.
trust::Judgement
Session::forEach(const std::vector<size_t> &Recordings,
                 const std::function<trust::Judgement(size_t)> &Step) {
  for (size_t Index : Recordings)
    if (trust::Judgement J = Step(Index); !J.ok()) {
      J.Message = "recording " + Kernel->recordings()[Index].Id.substr(0, 8) +
                  ": " + J.Message;
      return J;
    }
  return {};
}

Error Session::judge(Evaluation &E, unsigned Pairs, uint64_t Seed) {
  for (size_t Index : E.Recordings)
    if (!Preparations[Index].Done)
      if (Error Failure = replayOriginal(Index, ImplicitRepetitions))
        return Failure;
  E.Verdict = forEach(
      E.Recordings, [&](size_t Index) { return Preparations[Index].Verdict; });
  if (!E.Verdict.ok())
    return {};
  Attempt Loaded = loadVariant(VariantSlot, std::move(E.B.Binary), E);
  E.Verdict = Loaded.ok() ? checkLimitsOf(E)
                          : trust::Judgement{Loaded.Ending, Loaded.Message};
  if (E.Verdict.ok())
    E.Verdict = checkBefore(E);
  if (!E.Verdict.ok())
    return {};
  if (!E.B.Registers)
    E.B.Registers = Loaded.Registers;
  if (!E.B.Shared)
    E.B.Shared = Loaded.Shared;
  E.Verdict =
      forEach(E.Recordings, [&](size_t Index) { return verify(Index, E); });
  if (E.Verdict.ok())
    E.Verdict = checkAfter(E);
  if (E.Verdict.ok() && Pairs)
    E.Verdict = timePairs(Pairs, Seed, E);
  if (std::string Why = lookAtPristine(); !Why.empty())
    E.Verdict = {Outcome::NotVerifiable, Why};
  return {};
}

void Session::build(Evaluation &E) {
  if (std::string Why = refusal(E.Change, Device->identity().Backend);
      !Why.empty())
    E.Verdict = {Outcome::Refused, Why};
  if (E.Verdict.ok())
    E.Verdict = chooseRecordings(E);
  if (E.Verdict.ok())
    E.Verdict = mapLaunches(E);
  if (!E.Verdict.ok())
    return;
  const auto Start = Clock::now();
  if (auto Made = Ahead.take(RequestId)) {
    E.B = std::move(Made->Plain);
    E.Checked = std::move(Made->Checked);
  } else {
    Compiler->limitPasses(E.PassLimit);
    E.B = buildVariant(E);
    Compiler->limitPasses({});
  }
  E.Ms = E.B.Ms;
  E.Ms["wait for the build"] =
      std::chrono::duration<double, std::milli>(Clock::now() - Start).count();
  if (E.B.Ending != Outcome::Ok)
    E.Verdict = {E.B.Ending, E.B.Message};
}

Session::Reply Session::evaluate(const json::Value &Request) {
  if (!Kernel)
    return Error(ErrorCode::Usage, "evaluate before load");
  const uint64_t Pairs = json::number(Request, "pairs", 0);
  if (Pairs > MostPairs)
    return fail(ErrorCode::Usage, "at most %u pairs", MostPairs);
  auto Read = readEvaluation(Request);
  if (!Read)
    return Read.error();
  Evaluation &E = *Read;
  build(E);
  if (Cancelled)
    return Error(ErrorCode::Interrupted, "cancelled");
  // Where it is launched alike, what came of it is known, too.
  const bool Repeats =
      isKnown(Request, E.B.Code) || (E.Once && Known.has(E.B.Code));
  if (E.Verdict.ok() && E.Launches.empty() && Repeats)
    E.Verdict = {Outcome::Duplicate, "its binary is known"};
  else if (E.Verdict.ok())
    if (Error Failure = judge(E, static_cast<unsigned>(Pairs),
                              json::number(Request, "seed", 0)))
      return Failure;
  if (E.Verdict.ok() && E.WantsFloors && Rates)
    findFloors(E);
  if (Cancelled)
    return Error(ErrorCode::Interrupted, "cancelled");
  if (E.Once && E.Launches.empty() && !E.B.Code.empty())
    Known.add(E.B.Code, E.B.Ir, E.B.Ptx);
  return E.json();
}

} // namespace r3::replay
