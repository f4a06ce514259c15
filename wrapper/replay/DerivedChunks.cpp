// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/replay/DerivedChunks.h"

#include <unistd.h>

namespace r3::replay {

Expected<DerivedChunks> DerivedChunks::create() {
  auto File = memoryFile("r3-derived", 0);
  if (!File)
    return File.error();
  DerivedChunks Chunks;
  Chunks.File = std::move(*File);
  return Chunks;
}

Expected<Digest> DerivedChunks::addInput(std::span<const uint8_t> Input) {
  const Digest Name = chunkDigest(Input);
  if (Inputs.count(Name))
    return Name;
  if (Error E = writeAt(File.get(), Input, Bytes))
    return E.in("derived memory");
  Inputs[Name] = {Bytes, static_cast<uint32_t>(Input.size())};
  Bytes += Input.size();
  return Name;
}

Digest DerivedChunks::addResult(std::vector<uint8_t> Result) {
  const Digest Name = chunkDigest(Result);
  Results.emplace(Name, std::move(Result));
  return Name;
}

std::optional<std::vector<uint8_t>>
DerivedChunks::read(const Digest &Name) const {
  if (auto Found = Results.find(Name); Found != Results.end())
    return Found->second;
  auto Found = Inputs.find(Name);
  if (Found == Inputs.end())
    return std::nullopt;
  std::vector<uint8_t> Input(Found->second.Size);
  const ssize_t Got = pread(File.get(), Input.data(), Input.size(),
                            static_cast<off_t>(Found->second.Offset));
  if (Got != static_cast<ssize_t>(Input.size()))
    return std::nullopt;
  return Input;
}

std::optional<uint64_t> DerivedChunks::offsetOf(const Digest &Name,
                                                uint32_t Size) const {
  auto Found = Inputs.find(Name);
  if (Found == Inputs.end() || Found->second.Size != Size)
    return std::nullopt;
  return Found->second.Offset;
}

} // namespace r3::replay
