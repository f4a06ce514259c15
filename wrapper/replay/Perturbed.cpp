// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The variant on other numbers than the recorded ones: three draws of each
// recording. Which words are numbers and nothing else is known from the traced
// launch of the original; how they change: Perturb.h. Integers and addresses
// stay, so that what a kernel does with its memory stays about the same. The
// scalar arguments that are only numbers change, too.
//
// A variant that knows the recorded results computes the right ones from other
// inputs, if it looks first; but then it takes longer there than the original
// does.
#include "wrapper/replay/Evaluation.h"

#include "wrapper/trust/Perturb.h"
#include "wrapper/trust/Values.h"

#include <algorithm>
#include <set>

namespace r3::replay {

namespace {

constexpr unsigned Draws = 3;
/// Of new contents, all draws together; further buffers stay.
constexpr uint64_t MostBytes = 4ull << 30;

/// The words of one type in one allocation.
struct Numbers {
  size_t Allocation;
  ValueType Type;
  const IntervalSet *Words;
  size_t Next = 0; // interval

  /// Visits what lies in a chunk, as offsets in it; for chunks in order.
  template <typename Function>
  void inChunk(uint64_t Chunk, uint64_t Size, Function Visit) {
    const uint64_t Begin = Chunk * ChunkBytes, End = Begin + Size;
    const auto &List = Words->intervals();
    while (Next < List.size() && List[Next].End <= Begin)
      ++Next;
    for (size_t I = Next; I < List.size() && List[I].Begin < End; ++I)
      Visit(std::max(List[I].Begin, Begin) - Begin,
            std::min(List[I].End, End) - Begin);
  }
  bool touches(uint64_t Chunk, uint64_t Size) {
    bool Found = false;
    inChunk(Chunk, Size, [&](uint64_t, uint64_t) { Found = true; });
    return Found;
  }
};

/// No number lies in two chunks.
bool isOnGrid(const IntervalSet &Words, ValueType Type) {
  return std::all_of(Words.intervals().begin(), Words.intervals().end(),
                     [&](const Interval &I) {
                       return I.Begin % trust::elementSize(Type) == 0;
                     });
}

class Perturber {
public:
  Perturber(const KernelSet &Kernel, uint64_t Seed)
      : Kernel(Kernel), Random(Seed) {}

  DerivedLaunches Result;

  Error open() {
    auto Chunks = DerivedChunks::create();
    if (!Chunks)
      return Chunks.error();
    Result.Chunks = std::make_shared<DerivedChunks>(std::move(*Chunks));
    return {};
  }

  bool empty() const { return !Words && !Arguments; }

  /// What changes in one draw of each recording.
  std::string describe(size_t Made) const {
    std::string Text = counted(Made, "draw") + ": ";
    if (Words)
      Text += counted(Words, "word") + " of " +
              counted(Buffers.size(), "buffer") + (Arguments ? ", " : "");
    if (Arguments)
      Text += counted(Arguments, "scalar argument");
    return Text + " changed";
  }

  /// Adds the draws of a recording.
  Error add(size_t Index, const Footprint &Print,
            const std::vector<uint64_t> &NumberArguments) {
    const LoadedRecording &L = Kernel.recordings()[Index];
    std::vector<Recording> Drawn(Draws, L.Manifest);
    for (size_t A = 0; A < L.Manifest.Allocations.size(); ++A)
      for (auto [Type, Set] :
           {std::pair{ValueType::F32, &Print.Ranges[A].Float},
            {ValueType::F64, &Print.Ranges[A].Double}})
        if (!Set->empty() && isOnGrid(*Set, Type))
          if (Error E = change({A, Type, Set}, L, Drawn))
            return E;
    for (const ArgumentField &F : L.Manifest.Fields)
      if (std::find(NumberArguments.begin(), NumberArguments.end(), F.Offset) !=
          NumberArguments.end())
        changeArgument(F, Drawn);
    for (Recording &R : Drawn) {
      Result.List.push_back(std::move(R));
      Result.Origins.push_back(Index);
    }
    return {};
  }

private:
  const KernelSet &Kernel;
  std::mt19937_64 Random;
  uint64_t Words = 0, Arguments = 0, Bytes = 0;
  std::set<std::string> Buffers;

  static std::string counted(uint64_t Count, const char *What) {
    return format("%llu %s%s", static_cast<unsigned long long>(Count), What,
                  Count == 1 ? "" : "s");
  }

  Error change(Numbers N, const LoadedRecording &L,
               std::vector<Recording> &Drawn) {
    const RecordedAllocation &A = L.Manifest.Allocations[N.Allocation];
    std::vector<uint64_t> Chunks;
    uint64_t Added = 0;
    for (uint64_t C = 0; C < A.Before.size(); ++C)
      if (const uint64_t Size = Recording::chunkSize(A.Size, C);
          N.touches(C, Size)) {
        Chunks.push_back(C);
        Added += Size * Draws;
      }
    if (Bytes + Added > MostBytes)
      return {};
    Bytes += Added;

    trust::NumberCensus Census(N.Type);
    N.Next = 0;
    for (uint64_t C : Chunks) {
      // A chunk that an earlier type has changed counts as it was.
      auto Old = Kernel.chunk(A.Before[C]);
      if (!Old)
        return Old.error();
      N.inChunk(C, Old->size(), [&](uint64_t Begin, uint64_t End) {
        Census.add(std::span(*Old).subspan(Begin, End - Begin));
      });
    }
    std::vector<trust::Perturbation> Changes;
    for (unsigned D = 0; D < Draws; ++D)
      Changes.emplace_back(Census, Random);
    if (Changes.front().empty())
      return {};
    Buffers.insert(L.Buffers[N.Allocation].Name);
    N.Next = 0;
    for (uint64_t C : Chunks)
      for (unsigned D = 0; D < Draws; ++D)
        if (Error E = changeChunk(N, C, Changes[D], Drawn[D], /*Count=*/!D))
          return E;
    return {};
  }

  Error changeChunk(Numbers &N, uint64_t Chunk,
                    const trust::Perturbation &Change, Recording &Drawn,
                    bool Count) {
    Digest &Name = Drawn.Allocations[N.Allocation].Before[Chunk];
    auto Now = Result.Chunks->read(Name);
    if (!Now) {
      auto Old = Kernel.chunk(Name);
      if (!Old)
        return Old.error();
      Now = std::move(*Old);
    }
    uint64_t Changed = 0;
    N.inChunk(Chunk, Now->size(), [&](uint64_t Begin, uint64_t End) {
      Changed += Change.apply(std::span(*Now).subspan(Begin, End - Begin));
    });
    if (!Changed)
      return {};
    Words += Count ? Changed : 0;
    auto Added = Result.Chunks->addInput(*Now);
    if (!Added)
      return Added.error();
    Name = *Added;
    return {};
  }

  void changeArgument(const ArgumentField &F, std::vector<Recording> &Drawn) {
    if (!trust::hasTolerance(F.Type) || F.Size != trust::elementSize(F.Type))
      return;
    bool Changed = false;
    for (Recording &R : Drawn) {
      const auto Value = std::span(R.Arguments).subspan(F.Offset, F.Size);
      trust::NumberCensus Census(F.Type);
      Census.add(Value);
      Changed |= trust::Perturbation(Census, Random).apply(Value) != 0;
    }
    Arguments += Changed;
  }
};

} // namespace

/// Why it is not known what the original does with its memory.
std::string Session::untraced(const Evaluation &E) const {
  for (size_t Index : E.Recordings)
    if (!Preparations[Index].Print)
      return Preparations[Index].Untraced;
  return {};
}

/// Whether the variant takes longer with other numbers, and the original does
/// not. The first look is a short one.
trust::Judgement Session::compareTimes(Session &Derived, size_t Index,
                                       size_t Origin) {
  constexpr double MostSlower = 2, MostOriginal = 1.25, LeastNs = 2e4;
  double Variant = 0, Original = 0;
  for (unsigned Launches : {3, 10, 30}) {
    const double Before = fastestNs(Origin, VariantSlot, Launches);
    const double After = Derived.fastestNs(Index, VariantSlot, Launches);
    if (After <= MostSlower * Before || After - Before < LeastNs)
      return {};
    Variant = After / Before;
    Original = Derived.fastestNs(Index, OriginalSlot, Launches) /
               fastestNs(Origin, OriginalSlot, Launches);
    if (!(Original <= MostOriginal))
      return {};
  }
  return {Outcome::Refused,
          format("it takes %.1f times as long with other numbers as with the "
                 "recorded ones, the original %.1f times",
                 Variant, Original)};
}

Session::CheckOutcome Session::checkPerturbed(Evaluation &E) {
  if (std::string Why = untraced(E); !Why.empty())
    return {{}, Why};
  Perturber Inputs(*Kernel, E.Seed);
  Error Failure = Inputs.open();
  for (size_t Index : E.Recordings)
    if (!Failure)
      Failure = Inputs.add(Index, *Preparations[Index].Print, Traced->Numbers);
  if (Failure)
    return {{}, Failure.message()};
  if (Inputs.empty())
    return {{}, "no word is read only as floating point"};
  auto Done = runDerived(Inputs.Result, E, [&](Session &S, size_t I) {
    return compareTimes(S, I, Inputs.Result.Origins[I]);
  });
  if (!Done)
    return {{}, Done.error().message()};
  if (!Done->Verdict.ok())
    return {
        {Done->Verdict.Result, "with other numbers: " + Done->Verdict.Message},
        ""};
  if (!Done->Made)
    return {{},
            "none of " + std::to_string(Done->Dropped) +
                " draws can be judged: " + Done->Why};
  return {{Outcome::Ok, Inputs.describe(Done->Made) + Done->dropped()}, ""};
}

} // namespace r3::replay
