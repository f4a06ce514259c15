// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A variant: everything that makes a kernel's code or launch differ from the
// original. Its canonical JSON has exactly these members in this order, empty
// or zero ones left out:
//   patch      unified diff of source files (string)
//   ptx        PTX to take for the code (string), with ptxas, launch and guards
//              alone beside it: all others need the compiler
//   pipeline   LLVM pass pipeline as for opt -passes (string)
//   level      LLVM code generation level, "O0".."O3" (string)
//   options    object {option of LLVM: integer}, see LlvmOptions.def
//   codegen    object, for CUDA devices: {maxnreg: integer, ptxas: "O0".."O3",
//              maxthreads: integer, minblocks: integer, loads: "ca" "cg" "cs",
//              stores: "wb" "cg" "cs" "wt", arch: "sm_90a"}
//   remap      another shape of block (string): parameters of the pass r3-remap
//   launch     array of {"target": "grid.x", "value": "<expression>"}
//   specialise object {scalar name: integer}
//   guards     array of strings: align(p,N) divides(N,x) x==C distinct(p,q)
// The variant's id is the contentDigest of the canonical JSON. The original
// is the variant with nothing set: "{}".
#pragma once

#include "runtime/support/Digest.h"
#include "runtime/support/Error.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace r3 {

struct LaunchRule {
  std::string Target; // grid.x|y|z, block.x|y|z, shared
  std::string Value;  // expression, see Expression.h
};

struct Variant {
  std::string Patch;
  std::string Ptx;
  std::string Pipeline;
  std::string Level;
  std::map<std::string, int64_t> Options; // while the pipeline runs
  uint32_t MaxRegisters = 0;              // 0: the compiler's choice
  std::string PtxasLevel;    // "O0".."O3", empty: ptxas' own default
  uint32_t MaxThreads = 0;   // of a block: a promise to the compiler
  uint32_t MinBlocks = 0;    // on a multiprocessor at a time: a wish
  std::string Loads, Stores; // cache operators of PTX for global memory
  std::string Arch;          // empty: the program's own
  std::string Remap;         // see plugin/ir/BlockShape.h
  std::vector<LaunchRule> Launch;
  std::map<std::string, int64_t> Specialise;
  std::vector<std::string> Guards;

  bool isOriginal() const;
  std::string canonicalJson() const;
  Digest id() const;
  /// Whether it asks for something that a compiler does: all but ptx, ptxas,
  /// launch and guards.
  bool needsCompiler() const;
  /// Strict: unknown members, wrong types and malformed values are errors.
  static Expected<Variant> parse(std::string_view Json);
};

} // namespace r3
