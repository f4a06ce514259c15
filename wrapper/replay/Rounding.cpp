// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a variant's floating-point results differ from the record: the original
// is replayed 16 times with each operation rounded at random, and once with
// float code evaluated in double, and the variant judged by what the first do
// to its results and by how far it is from the second (Tolerance.h). Done only
// when it is needed, once a recording.
#include "wrapper/replay/Compare.h"
#include "wrapper/replay/Session.h"

#include "wrapper/trust/Values.h"

#include <algorithm>

namespace r3::replay {

namespace {

/// Each operation is a call.
constexpr unsigned RoundedSlower = 20; // than others may take
constexpr unsigned DoubleSlower = 64;  // where a device has little of double
/// Of chunks that differ in one replay; each element is looked at 16 times.
constexpr uint64_t MostBytes = 256ull << 20;

bool isFloat(const std::optional<trust::RoundingModel> &Model) {
  return Model && Model->buffer().Type == ValueType::F32;
}

} // namespace

/// Builds and loads the original's code, once a kernel; a sentence where that
/// is not possible.
std::string Session::loadInstrumented(const char *Slot,
                                      const char *Instrument) {
  const auto [Known, New] = Instrumented.try_emplace(Slot);
  std::string &Why = Known->second;
  if (!New)
    return Why;
  Build B = Compiler->build("{}", Setup.BuildDeadlineMs, Instrument);
  if (B.Ending != Outcome::Ok)
    return Why = std::string("the build '") + Instrument +
                 "' fails: " + B.Message;
  if (!B.Unseen.empty())
    return Why = B.Unseen.front();
  Attempt A = Device->setCode(Slot, std::move(B.Binary), Kernel->first().Name);
  if (!A.ok())
    Why = std::string("the build '") + Instrument +
          "' cannot be loaded: " + A.Message;
  return Why;
}

bool Session::modelRounding(size_t Index, std::map<std::string, double> &Ms) {
  Prepared &P = Preparations[Index];
  const auto &Buffers = P.Base->buffers();
  if (std::none_of(Buffers.begin(), Buffers.end(), [](const trust::Buffer &B) {
        return trust::hasTolerance(B.Type);
      }))
    return false; // nobody expects any
  if (P.Rounding.empty() && P.NoRounding.empty()) {
    P.NoRounding = replayRounded(Index, P, Ms);
    if (P.NoRounding.empty() &&
        std::any_of(P.Rounding.begin(), P.Rounding.end(), isFloat))
      P.NoDouble = replayInDouble(Index, P, Ms);
    if (!P.NoRounding.empty() || Cancelled)
      P.Rounding.clear();
    if (Cancelled) // of no meaning for the next request
      P.NoRounding.clear();
  }
  return !P.Rounding.empty();
}

/// Why there are no models; empty where there are.
std::string Session::replayRounded(size_t Index, Prepared &P,
                                   std::map<std::string, double> &Ms) {
  if (std::string Why = loadInstrumented(RoundedSlot, "round"); !Why.empty())
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
    Ms["rounding"] += A.Ms["launch"];
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

/// Why there is no evaluation in double; empty where there is.
std::string Session::replayInDouble(size_t Index, Prepared &P,
                                    std::map<std::string, double> &Ms) {
  P.InDouble.clear();
  if (std::string Why = loadInstrumented(DoubleSlot, "double"); !Why.empty())
    return Why;
  DeviceLink::RunRequest R{Index, DoubleSlot};
  R.DeadlineMs = deadlineMs(Index, DoubleSlower);
  Attempt A = Device->run(R);
  Ms["double"] += A.Ms["launch"];
  if (!A.ok())
    return "in double: " + A.Message;
  uint64_t Bytes = 0;
  std::string Why;
  auto Compared = compareRun(
      *Kernel, Index, *Device, A.Digests,
      [&](const trust::DifferingChunk &Chunk) {
        Bytes += Chunk.Got.size();
        if (!P.Rounding[Chunk.Buffer])
          Why = P.Base->buffers()[Chunk.Buffer].Name +
                " is no floating-point buffer, and evaluation in double "
                "changes it";
        else if (Bytes > MostBytes)
          Why = format("more than %llu MiB are other ones in double",
                       static_cast<unsigned long long>(MostBytes >> 20));
        else
          P.InDouble[{Chunk.Buffer, Chunk.Offset}].assign(Chunk.Got.begin(),
                                                          Chunk.Got.end());
        return Why.empty();
      });
  if (!Compared)
    return Compared.error().message();
  if (!Compared->Guards.ok())
    return "in double: " + Compared->Guards.Message;
  return Why;
}

/// What an evaluation in double gives for a chunk; nothing where there is none.
std::vector<double>
Session::valuesInDouble(const Prepared &P, const trust::DifferingChunk &Chunk) {
  std::vector<double> Values;
  if (!P.NoDouble.empty() || !isFloat(P.Rounding[Chunk.Buffer]))
    return Values;
  const auto Found = P.InDouble.find({Chunk.Buffer, Chunk.Offset});
  const auto Bytes = Found == P.InDouble.end()
                         ? Chunk.Expected
                         : std::span<const uint8_t>(Found->second);
  const size_t Size = trust::elementSize(ValueType::F32);
  for (size_t O = 0; O + Size <= Bytes.size(); O += Size)
    Values.push_back(trust::valueAt(Bytes, O, ValueType::F32));
  return Values;
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
                               Check->addChunk(Chunk, valuesInDouble(P, Chunk));
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
  if (!P.NoDouble.empty())
    Said += "; not compared with an evaluation in double: " + P.NoDouble;
  return {};
}

} // namespace r3::replay
