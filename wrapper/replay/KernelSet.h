// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loaded recordings of one kernel, as the supervisor sees them: manifests
// with expected results, element types of written buffers, and the packs.
#pragma once

#include "wrapper/replay/DerivedChunks.h"
#include "wrapper/replay/Descriptors.h"
#include "wrapper/replay/Footprint.h"
#include "wrapper/replay/Plan.h"
#include "wrapper/trust/Unordered.h"
#include "wrapper/trust/Verdict.h"

#include "runtime/support/Pack.h"
#include "runtime/support/Recording.h"
#include "runtime/support/Store.h"
#include "runtime/support/Unit.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace r3::replay {

/// One recording with what its replay is compared to.
struct LoadedRecording {
  Recording Manifest;
  std::string Id;
  /// Digests of all chunks of all plan ranges before and after the launch, and
  /// where each range begins in them.
  std::vector<Digest> Before, After;
  std::vector<size_t> RangeStart;
  /// One a recorded allocation, in order: the first ranges of the plan.
  std::vector<trust::Buffer> Buffers;
  std::vector<trust::UnorderedRecords> Unordered;
};

/// Finds chunks in packs; those that are stored compressed are unpacked into
/// an anonymous file, so that the child reads plain bytes only. Derived: chunks
/// that come from no program; may be null.
class PackSource : public ChunkSource {
public:
  PackSource(const PackSet &Packs, const DerivedChunks *Derived)
      : Packs(Packs), Derived(Derived) {}
  Expected<Place> find(const Digest &Name, uint32_t Size) override;
  /// Descriptors by Place::File.
  const std::vector<OwnedFd> &files() const { return Files; }

private:
  Expected<uint32_t> openPack(uint32_t Index);
  Expected<Place> unpack(const Digest &Name);
  Expected<Place> derived(uint64_t Offset);
  const PackSet &Packs;
  const DerivedChunks *Derived;
  int64_t DerivedFile = -1; // -1: not yet
  std::vector<OwnedFd> Files;
  std::vector<int64_t> Opened; // pack -> Files, -1: not yet
  int64_t UnpackedFile = -1;
  uint64_t UnpackedBytes = 0;
};

class KernelSet {
public:
  /// Reads manifests, the unit descriptor and the pack indexes. All recordings
  /// must be of one kernel of one build, replayable, and from this backend.
  static Expected<KernelSet> read(const Store &S,
                                  const std::vector<std::string> &Manifests,
                                  const DeviceIdentity &Device);

  /// Other launches of this kernel, made from this set's recordings, with
  /// contents of Chunks beside the recorded ones. What comes of them is not
  /// known until setOutcome.
  KernelSet derive(std::vector<Recording> Launches,
                   std::shared_ptr<DerivedChunks> Chunks) const;
  /// Records of these sizes, by the buffer's name, may come in any order. An
  /// argument's are where it points to and behind, up to the next argument's. A
  /// name that no recording has is an error.
  Error setUnordered(std::map<std::string, uint64_t> Sizes);
  /// What the original writes is known.
  void setWritten(size_t Index, const Footprint &Original);
  /// For people; empty: there are none.
  std::string unorderedText() const;
  /// After: digests of all chunks of all plan ranges.
  void setOutcome(size_t Index, const std::vector<Digest> &After);

  /// The plan for a device, with the pack descriptors that its load needs.
  Expected<ReplayPlan> plan(uint64_t Granularity, uint64_t Alignment);
  std::vector<int> packFds() const;
  /// No more reading of packs by the child: closes packFds.
  void closePacks() { Source.reset(); }

  const std::vector<LoadedRecording> &recordings() const { return Loaded; }
  const Recording &first() const { return Loaded.front().Manifest; }
  /// The unit's descriptor, where the store has it.
  const std::optional<Unit> &unit() const { return TheUnit; }
  /// Recorded or derived bytes of a chunk.
  Expected<std::vector<uint8_t>> chunk(const Digest &Name) const {
    auto Known = Derived ? Derived->read(Name) : std::nullopt;
    return Known ? std::move(*Known) : Packs->read(Name);
  }
  /// The unoptimised bitcode and the program's own device code; NotFound where
  /// the store does not have them.
  Expected<std::vector<uint8_t>> bitcode(const Store &S) const;
  Expected<std::vector<uint8_t>> image(const Store &S) const;

private:
  Error add(const std::string &Path, const DeviceIdentity &Device);
  std::vector<LoadedRecording> Loaded;
  std::optional<Unit> TheUnit;
  std::shared_ptr<const PackSet> Packs;
  std::shared_ptr<const DerivedChunks> Derived;
  std::unique_ptr<PackSource> Source;
  std::map<std::string, uint64_t> Unordered;
};

/// Names and element types of a recording's allocations. Kernel may be null
/// (types unknown).
std::vector<trust::Buffer> nameBuffers(const Recording &R, const Unit *U);

/// The part of a recorded allocation that is called Name; empty: none. Of an
/// argument that points into it, from there to the next one's or the end.
Interval placeOf(const std::string &Name, const Recording &R, size_t Index,
                 const std::string &BufferName);

} // namespace r3::replay
