// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Events. A cudaEvent_t is the engine's handle.
#include "runtime/device/cpu/cudart/Served.h"

namespace r3::cudart {

static constexpr unsigned EventFlags =
    cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;

cudaError_t servedEventCreateWithFlags(cudaEvent_t *Into, unsigned Flags) {
  if (!Into || (Flags & ~EventFlags))
    return cudaErrorInvalidValue;
  if (Flags & cudaEventInterprocess) {
    sayOnce("events of several processes are not served by the CPU device");
    return cudaErrorNotSupported;
  }
  Expected<EventHandle> Made =
      engine().createEvent(!(Flags & cudaEventDisableTiming));
  if (!Made)
    return codeOf(Made.error(), cudaErrorUnknown);
  *Into = static_cast<cudaEvent_t>(*Made);
  std::lock_guard Lock(State::get().Mutex);
  State::get().Events[*Into] = Flags;
  return cudaSuccess;
}

cudaError_t servedEventCreate(cudaEvent_t *Into) {
  return servedEventCreateWithFlags(Into, cudaEventDefault);
}

cudaError_t servedEventDestroy(cudaEvent_t Event) {
  {
    std::lock_guard Lock(State::get().Mutex);
    State::get().Events.erase(Event);
  }
  Error Failure = engine().destroyEvent(Event);
  return Failure ? cudaErrorInvalidResourceHandle : cudaSuccess;
}

cudaError_t servedEventRecordWithFlags(cudaEvent_t Event, cudaStream_t Stream,
                                       unsigned Flags) {
  if (Flags & ~unsigned(cudaEventRecordExternal))
    return cudaErrorInvalidValue;
  if (!engine().isEvent(Event))
    return cudaErrorInvalidResourceHandle;
  if (cudaError_t Code = checkStream(Stream))
    return Code;
  Error Failure = engine().record(Event, Stream);
  return Failure ? codeOf(Failure, cudaErrorUnknown) : cudaSuccess;
}

cudaError_t servedEventRecord(cudaEvent_t Event, cudaStream_t Stream) {
  return servedEventRecordWithFlags(Event, Stream, cudaEventRecordDefault);
}

cudaError_t servedEventSynchronize(cudaEvent_t Event) {
  if (!engine().isEvent(Event))
    return cudaErrorInvalidResourceHandle;
  Error Failure = engine().synchronizeEvent(Event);
  return Failure ? codeOf(Failure, cudaErrorUnknown) : cudaSuccess;
}

cudaError_t servedEventQuery(cudaEvent_t Event) {
  if (!engine().isEvent(Event))
    return cudaErrorInvalidResourceHandle;
  Expected<bool> Done = engine().query(Event);
  if (!Done)
    return codeOf(Done.error(), cudaErrorUnknown);
  return *Done ? cudaSuccess : cudaErrorNotReady;
}

/// Whether the event can be timed, and has completed.
static cudaError_t checkTimed(cudaEvent_t Event) {
  if (!engine().isEvent(Event) || !engine().isRecorded(Event))
    return cudaErrorInvalidResourceHandle;
  {
    std::lock_guard Lock(State::get().Mutex);
    auto Found = State::get().Events.find(Event);
    if (Found == State::get().Events.end() ||
        (Found->second & cudaEventDisableTiming))
      return cudaErrorInvalidResourceHandle;
  }
  return servedEventQuery(Event);
}

cudaError_t servedEventElapsedTime(float *Ms, cudaEvent_t Begin,
                                   cudaEvent_t End) {
  if (!Ms)
    return cudaErrorInvalidValue;
  if (cudaError_t Code = checkTimed(Begin))
    return Code;
  if (cudaError_t Code = checkTimed(End))
    return Code;
  Expected<double> Elapsed = engine().elapsedMs(Begin, End);
  if (!Elapsed)
    return codeOf(Elapsed.error(), cudaErrorInvalidResourceHandle);
  *Ms = float(*Elapsed);
  return cudaSuccess;
}

} // namespace r3::cudart
