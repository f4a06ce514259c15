// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffers of which the original reads something and a new source not one byte:
// whatever is in them, the source's results are the same. So other contents are
// put there, and the original says whether it needs them: where its results
// change, the source has its own from elsewhere. Where they do not (a read that
// is not needed), the source is right to leave it out.
//
// Other contents are such as the program itself might have: the first piece of
// what the original reads of the buffer in place of all others; in a second
// draw the first piece that differs from it. So an index stays an index.
#include "wrapper/replay/Evaluation.h"

#include <algorithm>
#include <set>

namespace r3::replay {

namespace {

/// Of a piece, where what is read is not in smaller ones: a number of any type.
constexpr uint64_t PieceBytes = 8;
/// Of new contents; further buffers stay.
constexpr uint64_t MostBytes = 4ull << 30;

using Piece = std::vector<uint8_t>;

class Replacer {
public:
  explicit Replacer(const KernelSet &Kernel) : Kernel(Kernel) {}

  DerivedLaunches Result;
  std::set<std::string> Unread; // names of such buffers
  std::set<std::string> Alike;  // of those, whose pieces are all the same

  Error open() {
    auto Chunks = DerivedChunks::create();
    if (!Chunks)
      return Chunks.error();
    Result.Chunks = std::make_shared<DerivedChunks>(std::move(*Chunks));
    return {};
  }

  /// Adds the draws of a recording, each with one buffer replaced.
  Error add(size_t Index, const Footprint &Original, const Footprint &Variant) {
    const LoadedRecording &L = Kernel.recordings()[Index];
    for (size_t A = 0; A < L.Manifest.Allocations.size(); ++A) {
      const IntervalSet &Needed = Original.Ranges[A].Inherited;
      if (Needed.empty() ||
          (A < Variant.Ranges.size() && !Variant.Ranges[A].Inherited.empty()))
        continue;
      Unread.insert(L.Buffers[A].Name);
      auto Pieces = differentPieces(L.Manifest.Allocations[A], Needed);
      if (!Pieces)
        return Pieces.error();
      if (Pieces->size() < 2)
        Alike.insert(L.Buffers[A].Name);
      else
        for (const Piece &P : *Pieces)
          if (Error E = replace(Index, A, Needed, P))
            return E;
    }
    return {};
  }

private:
  /// The first piece of what is needed, and the first that differs from it.
  Expected<std::vector<Piece>> differentPieces(const RecordedAllocation &A,
                                               const IntervalSet &Needed) {
    const uint64_t Size =
        std::min(PieceBytes, Needed.intervals().front().size());
    std::vector<Piece> Found;
    for (uint64_t C = 0; C < A.Before.size() && Found.size() < 2; ++C) {
      const uint64_t Begin = C * ChunkBytes;
      const auto Inside =
          Needed.within(Begin, Begin + Recording::chunkSize(A.Size, C));
      if (Inside.empty())
        continue;
      auto Bytes = Kernel.chunk(A.Before[C]);
      if (!Bytes)
        return Bytes.error();
      for (const Interval &I : Inside)
        for (uint64_t At = I.Begin; At + Size <= I.End && Found.size() < 2;
             At += Size) {
          const auto From = Bytes->begin() + std::ptrdiff_t(At - Begin);
          Piece Here(From, From + std::ptrdiff_t(Size));
          if (Found.empty() || Found.front() != Here)
            Found.push_back(std::move(Here));
        }
    }
    return Found;
  }

  Error replace(size_t Index, size_t Allocation, const IntervalSet &Needed,
                const Piece &By) {
    Recording Drawn = Kernel.recordings()[Index].Manifest;
    RecordedAllocation &A = Drawn.Allocations[Allocation];
    if (Bytes + A.Size > MostBytes)
      return {};
    Bytes += A.Size;
    for (uint64_t C = 0; C < A.Before.size(); ++C) {
      const uint64_t Begin = C * ChunkBytes;
      const auto Inside =
          Needed.within(Begin, Begin + Recording::chunkSize(A.Size, C));
      if (Inside.empty())
        continue;
      auto Now = Kernel.chunk(A.Before[C]);
      if (!Now)
        return Now.error();
      for (const Interval &I : Inside)
        for (uint64_t At = I.Begin; At < I.End; ++At)
          (*Now)[At - Begin] = By[(At - I.Begin) % By.size()];
      auto Added = Result.Chunks->addInput(*Now);
      if (!Added)
        return Added.error();
      A.Before[C] = *Added;
    }
    Result.List.push_back(std::move(Drawn));
    Result.Origins.push_back(Index);
    return {};
  }

  const KernelSet &Kernel;
  uint64_t Bytes = 0;
};

std::string listed(const std::set<std::string> &Names) {
  std::string Text;
  for (const std::string &Name : Names)
    Text += (Text.empty() ? "" : ", ") + Name;
  return Text;
}

} // namespace

Session::CheckOutcome Session::checkUnread(Evaluation &E) {
  if (E.Change.Patch.empty())
    return {{}, "the source is the original's"};
  if (!E.wants(Check::Trace))
    return {{}, "it was not traced"};
  if (std::string Why = untraced(E); !Why.empty())
    return {{}, Why};
  Replacer Inputs(*Kernel);
  Error Failure = Inputs.open();
  for (size_t At = 0; At < E.Recordings.size() && !Failure; ++At)
    if (const auto &Print = TracedSource.Prints[At])
      Failure = Inputs.add(E.Recordings[At],
                           *Preparations[E.Recordings[At]].Print, *Print);
  if (Failure)
    return {{}, Failure.message()};
  if (Inputs.Unread.empty())
    return {{}, "it reads of each buffer that the original reads of"};
  const std::string Names = listed(Inputs.Unread);
  if (Inputs.Result.List.empty())
    return {{},
            "nothing else is known to put into " + Names +
                ", which it does not read"};
  auto Done = runDerived(Inputs.Result, E, nullptr);
  if (!Done)
    return {{}, Done.error().message()};
  if (!Done->Verdict.ok())
    return {{Done->Verdict.Result,
             "with other contents of " + Names +
                 ", which it does not read: " + Done->Verdict.Message},
            ""};
  if (!Done->Made)
    return {{},
            format("none of %zu other contents of ", Done->Dropped) + Names +
                " can be judged: " + Done->Why};
  return {{Outcome::Ok, format("%zu other contents of ", Done->Made) + Names +
                            ", which it does not read" + Done->dropped()},
          ""};
}

} // namespace r3::replay
