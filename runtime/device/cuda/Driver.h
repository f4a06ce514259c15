// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CUDA driver, opened at run time: nothing of R3 links libcuda, so R3
// installs and starts on machines without it. Functions are the rows of
// Driver.def. Each call is written R3_CUDA_CALL(Name(arguments)), which keeps
// its text for the message.
#pragma once

#include "runtime/support/Error.h"
#include "runtime/support/Outcome.h"

#include <cuda.h>
#include <type_traits>

namespace r3 {

struct Driver {
#define R3_DRIVER(Name, Symbol) decltype(&cu##Name) Name = nullptr;
#define R3_DRIVER_OPTIONAL(Name, Symbol, ...)                                  \
  std::add_pointer_t<__VA_ARGS__> Name = nullptr;
#include "runtime/device/cuda/Driver.def"

  /// "CUDA_ERROR_NOT_FOUND: named symbol not found"
  std::string describe(CUresult Result) const;
};

/// In a class with `const Driver &Api` and `Error check(CUresult, const char
/// *)`.
#define R3_CUDA_CALL(Call) check(Api.Call, "cu" #Call)

/// Opens a driver library and finds every function. CannotRunHere with the
/// loader's message where there is none or a function is missing.
Expected<Driver> openDriver(const char *Library);
/// The process's driver (libcuda.so.1), opened by the first caller and kept.
/// Any thread.
Expected<const Driver *> loadDriver();

/// What a failed driver call means to R3.
struct CudaFault {
  ErrorCode Code;
  Outcome Kind;
  bool Sticky; // the context is lost: the process must be replaced
};
CudaFault classify(CUresult Result);

} // namespace r3
