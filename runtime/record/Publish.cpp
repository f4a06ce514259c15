// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Content-addressed files are written by whoever comes first; the store
// leaves existing ones alone, so several programs may do this at once.
#include "runtime/record/Publish.h"

#include <map>
#include <unistd.h>

namespace r3::record {

/// Digest of the unit's image, after it is in the store.
static Expected<Digest> writeImage(const Store &Files, const LoadedUnit &Unit) {
  static std::mutex *Lock = new std::mutex;
  static auto *Written = new std::map<const LoadedUnit *, Digest>;
  std::lock_guard Guard(*Lock);
  if (auto It = Written->find(&Unit); It != Written->end())
    return It->second;
  std::span<const uint8_t> Bytes = Unit.fatbin();
  if (Bytes.empty())
    return Digest();
  Digest Name = contentDigest(Bytes);
  if (Error E = Files.writeImage(Name, Bytes))
    return E;
  return Written->emplace(&Unit, Name).first->second;
}

static Error writeModule(const Store &Files, const LoadedUnit &Unit,
                         const Recording &Out) {
  for (const UnitModule &M : Unit.Unit->Modules)
    if (M.Content == Out.Module)
      if (Error E = Files.writeModule(M.Content, M.Bitcode))
        return E;
  return Files.writeUnit(Unit.Unit->Id, Unit.Unit->json());
}

Error writeRecording(const Store &Files, const LoadedUnit &Unit, Recording &Out,
                     bool WithImage, KeptRecording &Place, bool &Replaced) {
  if (Error E = writeModule(Files, Unit, Out))
    return E;
  if (WithImage) {
    Expected<Digest> Image = writeImage(Files, Unit);
    if (!Image)
      return Image.error();
    Out.Image = *Image;
  }
  std::vector<uint8_t> Bytes = Out.serialize();
  std::string Id = Recording::idOf(Bytes).hex();
  if (Error E = Files.writeRecording(Out.Key, Id, Bytes))
    return E;
  std::lock_guard Guard(Place.Lock);
  Replaced = !Place.Id.empty() && Place.Id != Id;
  if (Replaced)
    ::unlink(Files.recordingPath(Out.Key, Place.Id).c_str());
  Place.Id = Id;
  return Error::success();
}

} // namespace r3::record
