// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The assembler of the CUDA Toolkit as a process: PTX in, cubin and resource
// figures out.
#pragma once

#include "runtime/support/Error.h"
#include "runtime/support/Outcome.h"

#include <cstdint>
#include <string>
#include <vector>

namespace r3::replay {

struct PtxasOptions {
  std::string Arch;   // "sm_90"
  std::string Level;  // "O0".."O3"
  std::string Kernel; // whose figures are wanted
  uint64_t DeadlineMs = 20000;
};

struct PtxasResult {
  Outcome Ending = Outcome::Ok;
  std::string Message;
  std::vector<uint8_t> Cubin;
  uint32_t Registers = 0, Shared = 0, Spills = 0; // spills: bytes stored
};

/// ptxas of $CUDA_PATH, of PATH, or of /usr/local/cuda; CannotRunHere where
/// there is none.
Expected<std::string> findPtxas();
/// All of them, in that order: the first may be a script that stands elsewhere
/// than the toolkit.
std::vector<std::string> allPtxas();

PtxasResult runPtxas(const std::string &Ptx, const PtxasOptions &Options);

/// Reads the figures of Kernel out of what `ptxas -v` prints.
void readFigures(const std::string &Text, const std::string &Kernel,
                 PtxasResult &Result);

/// The line of the first error in what a program of the toolkit printed.
std::string firstErrorLine(const std::string &Text);

} // namespace r3::replay
