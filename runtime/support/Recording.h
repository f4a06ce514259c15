// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A recording: one captured launch, and the manifest file that holds it.
//
// Grammar of a manifest (little-endian; string = u64 length + bytes;
// list<X> = u64 count + X...; dim3 = 3 x u32; digest = 16 bytes):
//   file       := "R3REC\0\0\0" u32 version(1) u32 0 body u64 checksum
//   checksum   := XXH3-64 of all bytes before it
//   body       := kernel launch device arguments list<allocation>
//                 list<symbolic> outcome
//   kernel     := string key, name, display, home, arch, unit
//                 digest module, image  string level
//   launch     := dim3 grid, block, cluster  u32 dynamicShared
//                 u32 staticShared  u8 cooperative  u8 cacheConfig
//                 u32 maxDynamicShared  u32 carveout(0xffffffff: default)
//   device     := string backend, name, arch, deviceKey, driver, tools
//                 u32 multiprocessors  u64 l2Bytes, memoryBytes
//   arguments  := bytes raw  list<field>  string class
//   field      := u32 offset, size  u8 type  string name
//   allocation := u64 address, size  u8 kind  string global
//                 list<digest> before  list<changed> after
//   changed    := u64 chunk  digest
//   symbolic   := u32 allocation  u64 offset  u8 kind  string name  u64 addend
//   outcome    := u64 durationNs, ordinal, launchesSeen  u32 rank
//                 string reason  string detail  u64 takenAt(unix s)
// The chunks themselves are in packs (Pack.h), by digest.
#pragma once

#include "runtime/support/Digest.h"
#include "runtime/support/Error.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace r3 {

using Dim3 = std::array<uint32_t, 3>;

/// What the bytes of a parameter field, or of a written buffer, hold.
enum class ValueType : uint8_t {
  Bytes, I8, I16, I32, I64, F16, BF16, F32, F64, Pointer
};

/// "bytes", "i8" .. "f64", "pointer".
std::string_view valueTypeName(ValueType Value);
Expected<ValueType> parseValueType(std::string_view Name);

struct ArgumentField {
  uint32_t Offset = 0;
  uint32_t Size = 0;
  ValueType Type = ValueType::Bytes;
  std::string Name; // "n", "view.data"; "arg2" where there is none
};

struct LaunchConfig {
  Dim3 Grid{1, 1, 1};
  Dim3 Block{1, 1, 1};
  Dim3 Cluster{0, 0, 0}; // 0: no cluster launch
  uint32_t DynamicShared = 0;
  uint32_t StaticShared = 0;
  bool Cooperative = false;
  uint8_t CacheConfig = 0;          // cudaFuncCache
  uint32_t MaxDynamicShared = 0;    // cudaFuncAttributeMaxDynamicSharedMemorySize
  uint32_t Carveout = 0xffffffffu;  // preferred shared memory, percent
};

enum class MemoryKind : uint8_t {
  Device,     // cudaMalloc and relatives
  Managed,    // replayed as device memory
  MappedHost, // pinned host memory that the device reads in place
  Pool,       // cudaMallocAsync
  Global,     // a module global; Global holds its name
};

struct ChangedChunk {
  uint64_t Chunk = 0;
  Digest After;
};

struct RecordedAllocation {
  uint64_t Address = 0;
  uint64_t Size = 0;
  MemoryKind Kind = MemoryKind::Device;
  std::string Global;               // name in the module, Kind == Global
  std::vector<Digest> Before;       // one a chunk
  std::vector<ChangedChunk> After;  // ascending
};

/// A word whose value is an address that differs in every process.
struct SymbolicWord {
  enum class Kind : uint8_t { ModuleGlobal, Function, VTable };
  uint32_t Allocation = 0xffffffffu; // 0xffffffff: in the argument bytes
  uint64_t Offset = 0;
  Kind What = Kind::ModuleGlobal;
  std::string Name;
  uint64_t Addend = 0;
};

struct DeviceIdentity {
  std::string Backend;   // "cuda" or "cpu"
  std::string Name;      // "NVIDIA H200"
  std::string Arch;      // "sm_90", "x86-64"
  std::string Key;       // architecture + name + SM count + L2 size
  std::string Driver;    // version, or empty
  std::string Tools;     // versions of LLVM and R3
  uint32_t Multiprocessors = 0;
  uint64_t L2Bytes = 0;
  uint64_t MemoryBytes = 0;
};

struct Recording {
  // Kernel.
  std::string Key;     // 32 hex digits
  std::string Name;    // mangled, as in the module
  std::string Display; // for people: "stencil3d<double>"
  std::string Home;    // "src/a.cu:main"
  std::string Arch;    // "sm_90": which embedded module
  std::string Unit;    // id of the unit descriptor in the store
  Digest Module;       // unoptimised bitcode in the store
  Digest Image;        // fatbinary in the store; zero on the CPU device
  std::string Level;   // "O2": how the unit was compiled

  LaunchConfig Launch;
  DeviceIdentity Device;

  std::vector<uint8_t> Arguments;
  std::vector<ArgumentField> Fields;
  std::string Class; // canonical argument class

  std::vector<RecordedAllocation> Allocations;
  std::vector<SymbolicWord> Symbolic;

  uint64_t DurationNs = 0; // in the program; 0: not measured
  uint64_t Ordinal = 0;    // of this kernel's launches in the process
  uint64_t LaunchesSeen = 0;
  uint32_t Rank = 0;
  std::string Reason; // empty, or why it cannot be replayed (Reason.def name)
  std::string Detail;
  uint64_t TakenAt = 0;

  /// Bytes of all allocations.
  uint64_t footprint() const;
  /// Bytes of chunk Index of an allocation of Size bytes.
  static uint64_t chunkSize(uint64_t Size, uint64_t Index);

  std::vector<uint8_t> serialize() const;
  static Expected<Recording> parse(std::span<const uint8_t> Bytes,
                                   const std::string &Name);
  /// contentDigest of the serialized form.
  static Digest idOf(std::span<const uint8_t> Serialized);
};

/// The canonical text of an argument class: block, shared, cooperative,
/// cluster; bucket and divisibility of integer scalars and grid; alignment and
/// null of pointers, which pointers are equal; zero/finite/not of floats.
/// Parts are separated by blanks: "block=256,1,1 shared=0 grid=2^10/128,1/1,1/1
/// n=2^20/64 a=@256 b=@256=a x=finite" ("2^B/D": B is the exponent of the
/// power-of-two bucket, D the largest power of two up to 128 that divides).
std::string argumentClass(const LaunchConfig &Launch,
                          std::span<const uint8_t> Arguments,
                          std::span<const ArgumentField> Fields);

} // namespace r3
