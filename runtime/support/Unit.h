// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The descriptor of a compiled unit: which kernels it has, how their
// parameters are laid out, which globals they use, and its unoptimised device
// code for each architecture. The plugin writes it into the object file, in a
// section that is not loaded; the runtime and the tools read it from there.
//
// section ".r3.unit." + first 16 digits of the id :=
//   "R3UNIT\0\0" u32 version(1) u32 modules  string json
//   module... u64 checksum(XXH3-64 of all before)
// module := string arch  u64 rawBytes  digest(of the raw bytes)  bytes zstd
// The id of a unit is the contentDigest of its section without the checksum.
// In JSON, members are the field names below in lower camel case.
#pragma once

#include "runtime/support/Digest.h"
#include "runtime/support/Error.h"
#include "runtime/support/Recording.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace r3 {

/// What a kernel is for one architecture.
struct KernelCode {
  std::string Key;         // identity: fingerprint + home, 32 hex digits
  std::string Fingerprint; // of the normalised IR closure, 32 hex digits
  std::string Reason;      // Reason.def name; empty: replayable
  std::string Detail;      // for people: what and where
  std::vector<std::string> Globals; // device names of module globals it uses
};

/// One parameter as the launch passes it: args[i] points to Size bytes that
/// belong at Offset of the argument buffer. Fields are finer (a struct has
/// several).
struct UnitParameter {
  uint32_t Offset = 0;
  uint32_t Size = 0;
};

struct UnitKernel {
  std::string Name;    // mangled name in the device module
  std::string Display; // "stencil3d<double>"
  std::string Home;    // "src/a.cu:main": file from the root, function
  uint32_t Line = 0;   // 0 where unknown
  uint32_t ArgumentBytes = 0;
  std::vector<UnitParameter> Parameters; // JSON: [[offset, size], ...]
  std::vector<ArgumentField> Fields;
  /// Element type of stores through each pointer field, by field index.
  std::map<uint32_t, ValueType> Written;
  std::map<std::string, KernelCode> Code; // by architecture
};

struct UnitGlobal {
  std::string Name; // in the device module, unique and visible at run time
  std::string Display;
  uint64_t Size = 0;
  bool Constant = false; // __constant__ memory
  bool HostVisible = false; // registered with the CUDA runtime
  ValueType Element = ValueType::Bytes;
};

struct UnitModule {
  std::string Arch;
  Digest Content; // contentDigest of Bitcode
  std::vector<uint8_t> Bitcode;
};

struct Unit {
  std::string Id; // 32 hex digits; set by parseSection and serialize
  std::string Source; // from the root
  std::string Level;  // "O0".."O3", "Os"
  std::string Compiler; // "clang 22.1.8"
  std::string Plugin;   // buildId()
  std::string ProfileHeader; // path from the root, empty where there is none
  std::map<std::string, std::vector<std::string>> Commands; // cc1 by arch
  std::vector<UnitKernel> Kernels;
  std::vector<UnitGlobal> Globals;
  std::vector<UnitModule> Modules;

  const UnitKernel *findKernel(const std::string &Name) const;

  std::string json() const; // without modules' bytes
  static Expected<Unit> parseJson(std::string_view Json);
  /// The section's bytes, and the id they give.
  std::vector<uint8_t> serialize(std::string &Id) const;
  static Expected<Unit> parseSection(std::span<const uint8_t> Bytes,
                                     const std::string &Name);
};

/// The folder in which a recorded cc1 command ran; empty where it does not say.
std::string compileDirectory(const std::vector<std::string> &Command);

/// Reads the sections whose names begin with ".r3.unit." from an ELF file
/// (executable, shared library or object). Damaged sections are errors.
Expected<std::vector<Unit>> readUnits(const std::string &ElfPath);
/// The same from memory.
Expected<std::vector<Unit>> parseElfUnits(std::span<const uint8_t> Elf,
                                          const std::string &Name);

} // namespace r3
