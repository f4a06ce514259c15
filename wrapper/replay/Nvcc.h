// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What nvcc makes of a recorded unit: the command that clang got, in nvcc's
// words, and of the PTX that comes out the one kernel, under the names that it
// and its variables have in the recording.
#pragma once

#include "wrapper/replay/FrontEnd.h"

#include "runtime/support/Error.h"
#include "runtime/support/Outcome.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace r3::replay {

struct NvccResult {
  Outcome Ending = Outcome::Ok;
  std::string Message;
  std::string Ptx;
};

/// From clang's options (cc1) to nvcc's. What only says how clang works is left
/// out; what would make another program of the source, and what nvcc has no
/// word for, is refused by name.
Expected<std::vector<std::string>>
nvccOptions(const std::vector<std::string> &Command);

/// The PTX of the whole unit at -O3, by the nvcc beside ptxas.
NvccResult runNvcc(const SourceUnit &Unit, const std::string &Arch,
                   uint64_t DeadlineMs);

/// The kernel out of nvcc's PTX of its unit. The compilers name differently
/// what is static or in an unnamed namespace: then that is meant which reads
/// the same. Clang: the PTX of the kernel as recorded, for its variables.
/// Fails where nothing, or more than one kernel, reads the same.
Expected<std::string> kernelOfNvcc(std::string_view Nvcc,
                                   std::string_view Clang,
                                   const std::string &Kernel);

} // namespace r3::replay
