// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a variant's floating-point results differ from the record: the original
// is replayed 16 times with each operation rounded at random, and the variant
// judged by what that does to its results (Tolerance.h). Done only when it is
// needed, once a recording.
#include "wrapper/replay/Compare.h"
#include "wrapper/replay/Session.h"

#include "wrapper/trust/Values.h"

namespace r3::replay {

namespace {

/// Each operation is a call.
constexpr unsigned RoundedSlower = 20; // than others may take
/// Of chunks that differ in one replay; each element is looked at 16 times.
constexpr uint64_t MostBytes = 64ull << 20;

} // namespace

/// Builds and loads the code, once a kernel; a sentence where that is not
/// possible.
std::string Session::loadRounded() {
  if (Rounded)
    return *Rounded;
  Rounded.emplace();
  Build B = Compiler->build("{}", Setup.BuildDeadlineMs, "round");
  if (B.Ending != Outcome::Ok)
    return *Rounded = "the build with random rounding fails: " + B.Message;
  Attempt A =
      Device->setCode(RoundedSlot, std::move(B.Binary), Kernel->first().Name);
  if (!A.ok())
    *Rounded = "the code with random rounding cannot be loaded: " + A.Message;
  return *Rounded;
}

bool Session::modelRounding(size_t Index) {
  Prepared &P = Preparations[Index];
  if (P.Rounding.empty() && P.NoRounding.empty()) {
    P.NoRounding = replayRounded(Index, P);
    if (!P.NoRounding.empty())
      P.Rounding.clear();
    if (Cancelled) // of no meaning for the next request
      P.NoRounding.clear();
  }
  return !P.Rounding.empty();
}

/// Why there are no models; empty where there are.
std::string Session::replayRounded(size_t Index, Prepared &P) {
  if (std::string Why = loadRounded(); !Why.empty())
    return Why;
  for (const trust::Buffer &B : P.Base->buffers()) {
    P.Rounding.emplace_back();
    if (trust::hasTolerance(B.Type))
      P.Rounding.back().emplace(B);
  }
  for (unsigned I = 0; I < trust::RoundingModel::Replays; ++I) {
    if (Cancelled)
      return "cancelled";
    DeviceLink::RunRequest R{Index, RoundedSlot};
    R.RoundSeed = I + 1;
    R.DeadlineMs = deadlineMs(Index, RoundedSlower);
    Attempt A = Device->run(R);
    P.Ms["rounding"] += A.Ms["launch"];
    if (!A.ok())
      return "with random rounding: " + A.Message;
    for (auto &Model : P.Rounding)
      if (Model)
        Model->beginReplay();
    uint64_t Bytes = 0;
    std::string Why;
    auto Compared = compareRun(
        *Kernel, Index, *Device, A.Digests,
        [&](const trust::DifferingChunk &Chunk) {
          Bytes += Chunk.Expected.size();
          if (!P.Rounding[Chunk.Buffer])
            Why = P.Base->buffers()[Chunk.Buffer].Name +
                  " is no floating-point buffer, and rounding changes it";
          else if (Bytes > MostBytes)
            Why = format("more than %llu MiB depend on rounding",
                         static_cast<unsigned long long>(MostBytes >> 20));
          else
            P.Rounding[Chunk.Buffer]->addChunk(Chunk);
          return Why.empty();
        });
    if (!Compared)
      return Compared.error().message();
    if (!Compared->Guards.ok())
      return "with random rounding: " + Compared->Guards.Message;
    if (!Why.empty())
      return Why;
  }
  for (auto &Model : P.Rounding)
    if (Model)
      if (trust::Judgement J = Model->finish(); !J.ok())
        return J.Message;
  return {};
}

trust::Judgement Session::judgeRounding(size_t Index, const Attempt &A,
                                        std::string &Said) {
  const Prepared &P = Preparations[Index];
  std::vector<std::optional<trust::ToleranceCheck>> Checks(P.Rounding.size());
  trust::VariantCheck Exact(*P.Base); // of the other buffers
  auto Compared = compareRun(*Kernel, Index, *Device, A.Digests,
                             [&](const trust::DifferingChunk &Chunk) {
                               auto &Check = Checks[Chunk.Buffer];
                               if (!P.Rounding[Chunk.Buffer]) {
                                 Exact.addChunk(Chunk);
                                 return !Exact.decided();
                               }
                               if (!Check)
                                 Check.emplace(*P.Rounding[Chunk.Buffer]);
                               Check->addChunk(Chunk);
                               return !Check->decided();
                             });
  if (!Compared)
    return {Outcome::Crashed, Compared.error().message()};
  if (!Compared->Guards.ok())
    return Compared->Guards;
  if (trust::Judgement J = Exact.verdict(Compared->Complete); !J.ok())
    return J;
  for (const auto &Check : Checks)
    if (Check)
      if (trust::Judgement J = Check->verdict(Compared->Complete); !J.ok())
        return J;
  Said.clear();
  for (const auto &Check : Checks)
    if (Check)
      Said += (Said.empty() ? "" : "; ") + Check->describe();
  return {};
}

} // namespace r3::replay
