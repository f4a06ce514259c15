// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Error codes: of the engine's errors and faults, of the calling thread, and
// their names.
#include "runtime/device/cpu/cudart/Served.h"

#include "runtime/support/Options.h"

#include <unistd.h>

namespace r3::cudart {

namespace {

struct ErrorRow {
  int Number;
  const char *Name, *Description;
};

constexpr ErrorRow Rows[] = {
#define R3_CUDA_ERROR(Number, Name, Description) {Number, #Name, Description},
#include "runtime/device/cpu/cudart/Errors.def"
};

thread_local cudaError_t LastError = cudaSuccess;

const ErrorRow *rowOf(cudaError_t Code) {
  for (const ErrorRow &R : Rows)
    if (R.Number == int(Code))
      return &R;
  return nullptr;
}

} // namespace

//===-- Faults ------------------------------------------------------------===//

static cudaError_t codeOfFault(const DeviceFault &Fault) {
  switch (Fault.Kind) {
  case Outcome::Ok:
    return cudaSuccess;
  case Outcome::OutOfBounds:
    return cudaErrorIllegalAddress;
  case Outcome::Deadlock:
  case Outcome::Timeout:
    return cudaErrorLaunchTimeout;
  case Outcome::OutOfMemory:
    return cudaErrorMemoryAllocation;
  case Outcome::IllegalAccess:
    return Fault.Message.find("assertion") != std::string::npos
               ? cudaErrorAssert
               : cudaErrorLaunchFailure;
  default:
    return cudaErrorLaunchFailure;
  }
}

cudaError_t faultCode() {
  DeviceFault Fault = engine().peekFault();
  if (Fault.Kind != Outcome::Ok)
    sayOnce("CPU device: " + Fault.Message);
  return codeOfFault(Fault);
}

cudaError_t codeOf(const Error &Failure, cudaError_t Otherwise) {
  if (cudaError_t Fault = faultCode())
    return Fault;
  switch (Failure.code()) {
  case ErrorCode::NoSpace:
    return cudaErrorMemoryAllocation;
  case ErrorCode::CannotRunHere:
    return cudaErrorNotSupported;
  default:
    return Otherwise;
  }
}

cudaError_t note(cudaError_t Code) {
  if (Code != cudaSuccess)
    LastError = Code;
  return Code;
}

void sayOnce(const std::string &Text) {
  static const bool Quiet = [] {
    Expected<Environment> Variables = Environment::read();
    return Variables && Variables->flag("R3_QUIET");
  }();
  static auto *Lock = new std::mutex;
  static auto *Said = new std::set<std::string>;
  std::lock_guard Guard(*Lock);
  if (Quiet || !Said->insert(Text).second)
    return;
  // Not stdio: the program may have closed its streams.
  std::string Line = "r3: " + Text + "\n";
  [[maybe_unused]] ssize_t Written =
      ::write(STDERR_FILENO, Line.data(), Line.size());
}

//===-- Served ------------------------------------------------------------===//

cudaError_t servedGetLastError() {
  // A fault stays: only a reset clears it.
  if (cudaError_t Fault = faultCode())
    return Fault;
  return std::exchange(LastError, cudaSuccess);
}

cudaError_t servedPeekAtLastError() {
  if (cudaError_t Fault = faultCode())
    return Fault;
  return LastError;
}

const char *servedGetErrorName(cudaError_t Code) {
  const ErrorRow *Row = rowOf(Code);
  return Row ? Row->Name : "unrecognized error code";
}

const char *servedGetErrorString(cudaError_t Code) {
  const ErrorRow *Row = rowOf(Code);
  return Row ? Row->Description : "unrecognized error code";
}

} // namespace r3::cudart
