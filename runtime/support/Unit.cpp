// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The section of a unit: its descriptor and its modules. The descriptor's JSON
// is in UnitJson.cpp, the reading of ELF files in Elf.cpp.
#include "runtime/support/Unit.h"

#include "runtime/support/Bytes.h"
#include "runtime/support/UnitSection.h"

#include <cstring>
#include <zstd.h>

namespace r3 {

static constexpr char Magic[8] = {'R', '3', 'U', 'N', 'I', 'T', 0, 0};
static constexpr uint32_t Version = 1;
// Far above any device module; a forged number must not exhaust the memory.
static constexpr uint64_t ModuleLimit = 256u << 20;
static constexpr int CompressionLevel = 9;

const UnitKernel *Unit::findKernel(const std::string &Name) const {
  for (const UnitKernel &Kernel : Kernels)
    if (Kernel.Name == Name)
      return &Kernel;
  return nullptr;
}

static std::vector<uint8_t> compress(std::span<const uint8_t> Bytes) {
  std::vector<uint8_t> Result(ZSTD_compressBound(Bytes.size()));
  size_t Size = ZSTD_compress(Result.data(), Result.size(), Bytes.data(),
                              Bytes.size(), CompressionLevel);
  // Only out of memory is left as a reason; a reader then says "damaged".
  Result.resize(ZSTD_isError(Size) ? 0 : Size);
  return Result;
}

std::vector<uint8_t> Unit::serialize(std::string &Id) const {
  ByteWriter Out;
  Out.raw({reinterpret_cast<const uint8_t *>(Magic), sizeof(Magic)});
  Out.u32(Version);
  Out.u32(uint32_t(Modules.size()));
  Out.string(json());
  for (const UnitModule &Module : Modules) {
    Out.string(Module.Arch);
    Out.u64(Module.Bitcode.size());
    Out.digest(Module.Content);
    Out.bytes(compress(Module.Bitcode));
  }
  Id = contentDigest(Out.data()).hex();
  Out.u64(checksum(Out.data()));
  return Out.take();
}

static UnitModule readModule(ByteReader &In) {
  UnitModule Module;
  Module.Arch = In.string();
  uint64_t RawBytes = In.u64();
  Module.Content = In.digest();
  std::span<const uint8_t> Stored = In.raw(In.count(1));
  if (In.failed())
    return Module;
  if (RawBytes > ModuleLimit ||
      ZSTD_getFrameContentSize(Stored.data(), Stored.size()) != RawBytes) {
    In.reject("the size of a module is not that of its compressed form");
    return Module;
  }
  Module.Bitcode.resize(RawBytes);
  size_t Got = ZSTD_decompress(Module.Bitcode.data(), RawBytes, Stored.data(),
                               Stored.size());
  if (ZSTD_isError(Got) || Got != RawBytes ||
      contentDigest(Module.Bitcode) != Module.Content)
    In.reject("a module cannot be decompressed");
  return Module;
}

/// Offset and length of the descriptor and all modules: found and checked
/// before anything is decompressed or parsed.
static std::span<const uint8_t> checkedUnit(std::span<const uint8_t> Bytes,
                                            ByteReader &In) {
  std::span<const uint8_t> Start = In.raw(sizeof(Magic));
  if (!In.failed() && std::memcmp(Start.data(), Magic, sizeof(Magic)))
    In.reject("not a unit of r3");
  uint32_t Found = In.u32();
  if (!In.failed() && Found != Version)
    In.reject(format("version %u, this r3 reads %u", Found, Version));
  uint32_t Modules = In.u32();
  In.raw(In.count(1));
  for (uint32_t I = 0; I != Modules && !In.failed(); ++I) {
    In.raw(In.count(1)); // arch
    In.u64();
    In.digest();
    In.raw(In.count(1));
  }
  if (In.failed())
    return {};
  std::span<const uint8_t> Covered = Bytes.first(In.offset());
  if (In.u64() != checksum(Covered))
    In.reject("checksum differs");
  return Covered;
}

Expected<Unit> readUnit(std::span<const uint8_t> Bytes, const std::string &Name,
                        size_t &Used) {
  ByteReader Check(Bytes, Name);
  std::span<const uint8_t> Covered = checkedUnit(Bytes, Check);
  if (Check.failed())
    return Check.error();
  Used = Check.offset();
  ByteReader In(Covered, Name);
  In.raw(sizeof(Magic) + 4);
  uint32_t Modules = In.u32();
  Expected<Unit> Result = Unit::parseJson(In.string());
  if (!Result)
    return Result.error().in(Name);
  if (Modules != Result->Modules.size())
    In.reject(
        format("%u modules, %zu described", Modules, Result->Modules.size()));
  for (uint32_t I = 0; I != Modules && !In.failed(); ++I) {
    UnitModule Module = readModule(In);
    const UnitModule &Described = Result->Modules[I];
    if (Module.Arch != Described.Arch || Module.Content != Described.Content)
      In.reject("a module is not the one that is described");
    Result->Modules[I] = std::move(Module);
  }
  if (Error E = In.finish())
    return E;
  Result->Id = contentDigest(Covered).hex();
  return Result;
}

std::string compileDirectory(const std::vector<std::string> &Command) {
  const std::string Option = "-fdebug-compilation-dir=";
  for (const std::string &Word : Command)
    if (Word.starts_with(Option))
      return Word.substr(Option.size());
  return {};
}

Expected<Unit> Unit::parseSection(std::span<const uint8_t> Bytes,
                                  const std::string &Name) {
  size_t Used = 0;
  Expected<Unit> Result = readUnit(Bytes, Name, Used);
  if (Result && Used != Bytes.size())
    return fail(ErrorCode::Damaged, "%s: offset %zu: %zu bytes too many",
                Name.c_str(), Used, Bytes.size() - Used);
  return Result;
}

} // namespace r3
