// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the recorder does at each intercepted function. A row without a hook
// of its own is passed on: through the gate where it puts work on the device
// or changes memory (isWork), freely where it only asks or waits. Hooks run
// only while something is recorded, on the thread that called.
#pragma once

#include "runtime/record/Recorder.h"
#include "runtime/record/Rows.h"

#include <type_traits>

namespace r3::record {

/// Rows that are kept out while a launch is recorded.
constexpr bool isWork(Row R) {
  switch (R) {
#define R3_WORK(Name) case Row::Name##_:
#include "runtime/record/Work.def"
    return true;
  default:
    return false;
  }
}

/// Rows that wait: afterwards times can be read.
constexpr bool isWait(Row R) {
  return R == Row::cudaDeviceSynchronize_ || R == Row::cudaStreamSynchronize_ ||
         R == Row::cudaEventSynchronize_ || R == Row::cudaStreamQuery_ ||
         R == Row::cudaEventQuery_ || R == Row::cudaMemcpy_;
}

/// The stream that a call works in: its stream argument, else the default.
template <typename... A> StreamHandle streamOf(bool PerThread, A... Arguments) {
  StreamHandle Stream = nullptr;
  auto Look = [&](auto Argument) {
    if constexpr (std::is_same_v<decltype(Argument), cudaStream_t>)
      Stream = Argument;
  };
  (Look(Arguments), ...);
  return !Stream && PerThread ? PerThreadStream : Stream;
}

/// In the gate, and afterwards the work in the thread's own stream is marked.
class Working {
public:
  Working(Recorder &R, StreamHandle Stream)
      : R(R), Stream(Stream), Pass(R.gate()) {}
  ~Working() { R.workIssued(Stream); }

private:
  Recorder &R;
  StreamHandle Stream;
  GatePass Pass;
};

template <Row Which> struct Hook {
  template <typename Ret, typename... A>
  static Ret call(Recorder &R, bool PerThread, Ret (*Real)(A...),
                  std::type_identity_t<A>... Arguments) {
    if constexpr (isWork(Which)) {
      Ret Result;
      {
        Working W(R, streamOf(PerThread, Arguments...));
        Result = Real(Arguments...);
      }
      if constexpr (isWait(Which))
        R.collect();
      return Result;
    } else if constexpr (isWait(Which)) {
      Ret Result = Real(Arguments...);
      R.collect();
      return Result;
    } else {
      return Real(Arguments...);
    }
  }
};

template <typename T> Address addressOf(T *Pointer) {
  return reinterpret_cast<Address>(Pointer);
}

/// A row's own hook: R3_HOOK(name, parameters) { body that uses R, PerThread
/// and Real }.
#define R3_HOOK(Name, ...)                                                     \
  template <> struct Hook<Row::Name##_> {                                      \
    static cudaError_t call(Recorder &R, bool PerThread,                       \
                            decltype(&::Name) Real, __VA_ARGS__);              \
  };                                                                           \
  inline cudaError_t Hook<Row::Name##_>::call(                                 \
      [[maybe_unused]] Recorder &R, [[maybe_unused]] bool PerThread,           \
      decltype(&::Name) Real, __VA_ARGS__)

} // namespace r3::record
