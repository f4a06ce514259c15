// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writing and reading of the section described in Image.h.
#include "runtime/device/cpu/Image.h"

#include "runtime/support/Bytes.h"

#include <cstring>

namespace r3::cpu {

static constexpr char Magic[8] = {'R', '3', 'C', 'P', 'U', 'K', 'N', 0};
static constexpr uint32_t Version = 1;

std::vector<uint8_t> KernelImage::serialize() const {
  ByteWriter Out;
  Out.raw({reinterpret_cast<const uint8_t *>(Magic), sizeof(Magic)});
  Out.u32(Version);
  Out.string(Kernel);
  for (uint32_t Value :
       {ArgumentBytes, StaticShared, StackBytes, LocalBytes, MaxThreads, Flags})
    Out.u32(Value);
  Out.u64(Parameters.size());
  for (const Parameter &P : Parameters) {
    Out.u32(P.Offset);
    Out.u32(P.Size);
  }
  Out.u64(Globals.size());
  for (const ImageGlobal &G : Globals) {
    Out.string(G.Name);
    Out.u64(G.Size);
    Out.u64(G.Align);
  }
  return Out.take();
}

Expected<KernelImage> KernelImage::parse(std::span<const uint8_t> Bytes) {
  ByteReader In(Bytes, "kernel image");
  std::span<const uint8_t> Found = In.raw(sizeof(Magic));
  if (Found.size() == sizeof(Magic) &&
      std::memcmp(Found.data(), Magic, sizeof(Magic)) != 0)
    In.reject("made by something else");
  if (uint32_t Number = In.u32(); !In.failed() && Number != Version)
    In.reject(format("version %u, not %u", Number, Version));
  KernelImage Result;
  Result.Kernel = In.string();
  for (uint32_t *Value :
       {&Result.ArgumentBytes, &Result.StaticShared, &Result.StackBytes,
        &Result.LocalBytes, &Result.MaxThreads, &Result.Flags})
    *Value = In.u32();
  Result.Parameters.resize(In.count(8));
  for (Parameter &P : Result.Parameters) {
    P.Offset = In.u32();
    P.Size = In.u32();
    if (!In.failed() && uint64_t(P.Offset) + P.Size > Result.ArgumentBytes)
      In.reject("a parameter lies outside the arguments");
  }
  Result.Globals.resize(In.count(24));
  for (ImageGlobal &G : Result.Globals) {
    G.Name = In.string();
    G.Size = In.u64();
    G.Align = In.u64();
  }
  if (Error Failure = In.finish())
    return Failure;
  return Result;
}

} // namespace r3::cpu
