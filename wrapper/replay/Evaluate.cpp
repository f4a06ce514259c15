// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One variant: build, run once and compare, then time against the original in
// A B B A order. Every launch starts from restored memory and, on a GPU, a
// flushed cache, and the result of every launch is compared, timed ones
// included.
#include "wrapper/replay/Compare.h"
#include "wrapper/replay/Session.h"

#include "runtime/support/Variant.h"

#include <algorithm>
#include <random>
#include <set>

namespace r3::replay {

namespace {

constexpr unsigned MostPairs = 10000;
constexpr unsigned ImplicitRepetitions = 3;

std::string jsonOf(const json::Value &Value) {
  rapidjson::StringBuffer Buffer;
  json::Writer W(Buffer);
  Value.Accept(W);
  return {Buffer.GetString(), Buffer.GetSize()};
}

/// Why the worker does not take a variant on; empty where it does.
std::string refusal(const Variant &V, const std::string &Backend) {
  if (!V.Launch.empty())
    return "launch maps are not applied yet";
  if (!V.Specialise.empty())
    return "specialised scalars are not applied yet";
  if (!V.Guards.empty())
    return "guarded variants are not applied yet";
  if (Backend == "cpu" && V.MaxRegisters)
    return "a register limit has no meaning on the cpu device";
  if (Backend == "cpu" && !V.PtxasLevel.empty())
    return "a ptxas level has no meaning on the cpu device";
  return {};
}

} // namespace

struct Session::Evaluation {
  Build B;
  trust::Judgement Verdict;
  std::vector<double> OriginalNs, VariantNs;
  bool MayRound = false; // what rounding explains is right
  std::string Tolerance; // that was needed; empty: bit for bit
  /// Results that were right, by recording: most launches of a variant give
  /// the same, and judging values takes longer than a launch.
  std::set<std::pair<size_t, Digest>> Accepted;
  std::map<std::string, double> Ms;

  std::string json() const {
    return Message("reply")
        .outcome(Verdict.Result, Verdict.Message)
        .text("tolerance", Verdict.ok() ? Tolerance : "")
        .text("code", B.Code)
        .number("registers", B.Registers)
        .number("shared", B.Shared)
        .number("spills", B.Spills)
        .reals("originalNs", OriginalNs)
        .reals("variantNs", VariantNs)
        .times(Ms)
        .json();
  }
};

Build Session::buildVariant(const std::string &VariantJson) {
  if (VariantJson != "{}")
    return Compiler->build(VariantJson, Setup.BuildDeadlineMs);
  Build B;
  B.Code = OriginalCode;
  B.Binary = OriginalBinary;
  return B;
}

trust::Judgement Session::judgeRun(size_t Index, const Attempt &A) {
  trust::VariantCheck Check(*Preparations[Index].Base);
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

/// One launch of a slot and its comparison. What differs from the record is
/// held against what rounding does to the original.
trust::Judgement Session::runSlot(size_t Index, const char *Slot,
                                  size_t Pattern, double &Ns, Evaluation &E) {
  const DeviceLink::RunRequest R =
      request(Index, Slot, Preparations[Index].Where, Pattern);
  Attempt A = Device->run(R);
  for (const auto &[Step, Value] : A.Ms)
    E.Ms[Step] += Value;
  if (!A.ok())
    return {A.Ending, A.Message};
  Ns = A.Ns;
  const bool IsVariant = std::string_view(Slot) == VariantSlot;
  const std::pair Results{Index, digestOf(A.Digests)};
  if (IsVariant && E.Accepted.count(Results))
    return {};
  if (IsVariant && E.MayRound && !Preparations[Index].Rounding.empty())
    return noteRight(judgeRounding(Index, A, E.Tolerance), Results, E);
  trust::Judgement J = judgeRun(Index, A);
  if (J.Result != Outcome::Wrong || !IsVariant || !E.MayRound)
    return J;
  if (!modelRounding(Index)) {
    if (!Preparations[Index].NoRounding.empty())
      J.Message += "; no tolerance: " + Preparations[Index].NoRounding;
    return J;
  }
  // The models' replays came in between.
  A = Device->run(R);
  if (!A.ok())
    return {A.Ending, A.Message};
  return noteRight(judgeRounding(Index, A, E.Tolerance),
                   {Index, digestOf(A.Digests)}, E);
}

/// The first launches of each side are verified and not counted. Then pairs in
/// the order A B B A, which side is A by a coin for each two pairs. Memory that
/// must be written is poisoned before every launch: a variant that looks
/// whether it is watched finds that it always is.
trust::Judgement Session::timePairs(size_t Index, unsigned Pairs,
                                    std::mt19937_64 &Random, Evaluation &E) {
  constexpr size_t Patterns = std::size(PoisonBytes);
  auto Launch = [&](bool Variant, size_t Pattern, std::vector<double> *Times) {
    double Ns = 0;
    trust::Judgement J =
        runSlot(Index, Variant ? VariantSlot : OriginalSlot, Pattern, Ns, E);
    if (J.ok() && Times)
      Times->push_back(Ns);
    // The original passed before: now it is not the variant that is at fault.
    if (!J.ok() && !Variant)
      return trust::Judgement{
          Outcome::NotVerifiable,
          "the original, between launches of the variant: " + J.Message};
    return J;
  };
  trust::Judgement J;
  for (size_t Pattern = 0; J.ok() && Pattern < Patterns; ++Pattern)
    J = Launch(/*Variant=*/true, Pattern, nullptr);
  if (J.ok() && Pairs)
    J = Launch(/*Variant=*/false, 0, nullptr);
  bool First = false;
  for (unsigned Pair = 0; J.ok() && Pair < Pairs; ++Pair) {
    First = Pair % 2 ? !First : Random() & 1;
    for (bool Variant : {First, !First})
      if (J.ok() && !Cancelled)
        J = Launch(Variant, Random() % Patterns,
                   Variant ? &E.VariantNs : &E.OriginalNs);
  }
  return J;
}

Session::Reply Session::evaluate(const json::Value &Request) {
  if (!Kernel)
    return Error(ErrorCode::Usage, "evaluate before load");
  const json::Value *Text = json::object(Request, "variant");
  if (!Text)
    return Error(ErrorCode::Usage, "evaluate names no variant");
  auto V = Variant::parse(jsonOf(*Text));
  if (!V)
    return V.error().in("variant");
  const uint64_t Pairs = json::number(Request, "pairs", 0);
  if (Pairs > MostPairs)
    return fail(ErrorCode::Usage, "at most %u pairs", MostPairs);
  std::vector<size_t> Indexes;
  if (const json::Value *List = json::array(Request, "recordings"))
    for (const json::Value &Item : List->GetArray()) {
      if (!Item.IsUint64() || Item.GetUint64() >= Preparations.size())
        return fail(ErrorCode::Usage, "%zu recordings are loaded",
                    Preparations.size());
      Indexes.push_back(Item.GetUint64());
    }
  if (Indexes.empty())
    return Error(ErrorCode::Usage, "evaluate names no recordings");
  Evaluation E;
  E.MayRound = json::boolean(Request, "rounding", false);
  if (std::string Why = refusal(*V, Device->identity().Backend); !Why.empty()) {
    E.Verdict = {Outcome::Refused, Why};
    return E.json();
  }

  // Build; a binary that the caller knows is not run again.
  E.B = buildVariant(V->canonicalJson());
  E.Ms = E.B.Ms;
  if (E.B.Ending != Outcome::Ok) {
    E.Verdict = {E.B.Ending, E.B.Message};
    return E.json();
  }
  if (const json::Value *Known = json::array(Request, "known"))
    for (const json::Value &Code : Known->GetArray())
      if (Code.IsString() && Code.GetString() == E.B.Code) {
        E.Verdict = {Outcome::Duplicate, "its binary is known"};
        return E.json();
      }
  if (E.Verdict = traceVariant(*V, Indexes); !E.Verdict.ok())
    return E.json();
  Attempt Loaded =
      Device->setCode(VariantSlot, std::move(E.B.Binary), Kernel->first().Name);
  if (!Loaded.ok()) {
    E.Verdict = {Loaded.Ending, Loaded.Message};
    return E.json();
  }
  if (!E.B.Registers)
    E.B.Registers = Loaded.Registers;
  if (!E.B.Shared)
    E.B.Shared = Loaded.Shared;

  // Verify and time on each recording.
  std::mt19937_64 Random(json::number(Request, "seed", 0));
  for (size_t Index : Indexes) {
    if (!Preparations[Index].Done)
      if (Error Failure = replayOriginal(Index, ImplicitRepetitions))
        return Failure;
    E.Verdict = Preparations[Index].Verdict;
    // A source by itself was traced.
    if (E.Verdict.ok() && (V->Patch.empty() || !V->Pipeline.empty()))
      E.Verdict = checkAccesses(Index, V->canonicalJson(), E.Ms);
    if (E.Verdict.ok())
      E.Verdict = timePairs(Index, static_cast<unsigned>(Pairs), Random, E);
    if (Cancelled)
      return Error(ErrorCode::Interrupted, "cancelled");
    if (!E.Verdict.ok()) {
      E.Verdict.Message = "recording " +
                          Kernel->recordings()[Index].Id.substr(0, 8) + ": " +
                          E.Verdict.Message;
      break;
    }
  }
  return E.json();
}

} // namespace r3::replay
