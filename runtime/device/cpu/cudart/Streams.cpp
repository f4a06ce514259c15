// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams, and functions of the host that run in them. A cudaStream_t is the
// engine's handle; 0 and 1 are the legacy stream, 2 the calling thread's.
#include "runtime/device/cpu/cudart/Served.h"

#include <algorithm>

namespace r3::cudart {

static constexpr int LeastPriority = 0;
static constexpr int GreatestPriority = -5;

cudaError_t checkStream(cudaStream_t Stream) {
  return engine().isStream(Stream) ? cudaSuccess
                                   : cudaErrorInvalidResourceHandle;
}

static bool isDefault(cudaStream_t Stream) {
  return reinterpret_cast<uintptr_t>(Stream) <= 2;
}

//===-- Life --------------------------------------------------------------===//

cudaError_t servedStreamCreateWithPriority(cudaStream_t *Into, unsigned Flags,
                                           int Priority) {
  if (!Into || (Flags & ~unsigned(cudaStreamNonBlocking)))
    return cudaErrorInvalidValue;
  Expected<StreamHandle> Made = engine().createStreamWith(
      Flags & cudaStreamNonBlocking,
      std::clamp(Priority, GreatestPriority, LeastPriority));
  if (!Made)
    return codeOf(Made.error(), cudaErrorUnknown);
  *Into = static_cast<cudaStream_t>(*Made);
  std::lock_guard Lock(State::get().Mutex);
  State::get().Streams.insert(*Into);
  return cudaSuccess;
}

cudaError_t servedStreamCreateWithFlags(cudaStream_t *Into, unsigned Flags) {
  return servedStreamCreateWithPriority(Into, Flags, LeastPriority);
}

cudaError_t servedStreamCreate(cudaStream_t *Into) {
  return servedStreamCreateWithFlags(Into, cudaStreamDefault);
}

cudaError_t servedStreamDestroy(cudaStream_t Stream) {
  if (isDefault(Stream))
    return cudaErrorInvalidResourceHandle;
  {
    State &S = State::get();
    std::lock_guard Lock(S.Mutex);
    S.Streams.erase(Stream);
    std::erase_if(S.StreamAttributes, [&](const auto &Entry) {
      return Entry.first.first == Stream;
    });
  }
  Error Failure = engine().destroyStream(Stream);
  return Failure ? cudaErrorInvalidResourceHandle : cudaSuccess;
}

cudaError_t servedDeviceGetStreamPriorityRange(int *Least, int *Greatest) {
  if (Least)
    *Least = LeastPriority;
  if (Greatest)
    *Greatest = GreatestPriority;
  return cudaSuccess;
}

//===-- Order -------------------------------------------------------------===//

cudaError_t servedStreamSynchronize(cudaStream_t Stream) {
  if (cudaError_t Code = checkStream(Stream))
    return Code;
  Error Failure = engine().synchronizeStream(Stream);
  return Failure ? codeOf(Failure, cudaErrorUnknown) : cudaSuccess;
}

cudaError_t servedStreamQuery(cudaStream_t Stream) {
  if (cudaError_t Code = checkStream(Stream))
    return Code;
  Expected<bool> Done = engine().queryStream(Stream);
  if (!Done)
    return codeOf(Done.error(), cudaErrorUnknown);
  return *Done ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t servedStreamWaitEvent(cudaStream_t Stream, cudaEvent_t Event,
                                  unsigned Flags) {
  if (Flags & ~unsigned(cudaEventWaitExternal))
    return cudaErrorInvalidValue;
  if (cudaError_t Code = checkStream(Stream))
    return Code;
  if (!engine().isEvent(Event))
    return cudaErrorInvalidResourceHandle;
  Error Failure = engine().wait(Stream, Event);
  return Failure ? codeOf(Failure, cudaErrorUnknown) : cudaSuccess;
}

cudaError_t servedStreamAddCallback(cudaStream_t Stream,
                                    cudaStreamCallback_t Callback, void *Data,
                                    unsigned Flags) {
  if (!Callback || Flags)
    return cudaErrorInvalidValue;
  if (cudaError_t Code = checkStream(Stream))
    return Code;
  Error Failure =
      engine().enqueue(Stream, [=] { Callback(Stream, faultCode(), Data); });
  return Failure ? codeOf(Failure, cudaErrorUnknown) : cudaSuccess;
}

cudaError_t servedLaunchHostFunc(cudaStream_t Stream, cudaHostFn_t Function,
                                 void *Data) {
  if (!Function)
    return cudaErrorInvalidValue;
  if (cudaError_t Code = checkStream(Stream))
    return Code;
  Error Failure = engine().enqueue(Stream, [=] {
    if (!faultCode()) // after a fault CUDA does not call it
      Function(Data);
  });
  return Failure ? codeOf(Failure, cudaErrorUnknown) : cudaSuccess;
}

cudaError_t servedStreamAttachMemAsync(cudaStream_t Stream, void *Where,
                                       size_t Size, unsigned Flags) {
  std::optional<cpu::MemoryBlock> Block = engine().findBlock(addressOf(Where));
  if (cudaError_t Code = checkStream(Stream))
    return Code;
  if (!Block || Block->Begin != addressOf(Where) || Block->Tag != TagManaged ||
      (Size && Size != Block->Size) ||
      (Flags != cudaMemAttachGlobal && Flags != cudaMemAttachHost &&
       Flags != cudaMemAttachSingle))
    return cudaErrorInvalidValue;
  return cudaSuccess; // host and device may always touch it at once
}

//===-- Questions ---------------------------------------------------------===//

cudaError_t servedStreamGetFlags(cudaStream_t Stream, unsigned *Flags) {
  if (!Flags)
    return cudaErrorInvalidValue;
  if (cudaError_t Code = checkStream(Stream))
    return Code;
  *Flags = engine().isNonBlocking(Stream) ? cudaStreamNonBlocking
                                          : cudaStreamDefault;
  return cudaSuccess;
}

cudaError_t servedStreamGetPriority(cudaStream_t Stream, int *Priority) {
  if (!Priority)
    return cudaErrorInvalidValue;
  if (cudaError_t Code = checkStream(Stream))
    return Code;
  *Priority = engine().priority(Stream);
  return cudaSuccess;
}

cudaError_t servedStreamGetDevice(cudaStream_t Stream, int *Device) {
  if (!Device)
    return cudaErrorInvalidValue;
  if (cudaError_t Code = checkStream(Stream))
    return Code;
  *Device = 0;
  return cudaSuccess;
}

cudaError_t servedStreamGetId(cudaStream_t Stream, unsigned long long *Id) {
  if (!Id)
    return cudaErrorInvalidValue;
  if (cudaError_t Code = checkStream(Stream))
    return Code;
  // The default stream has two names and one id.
  *Id = Stream ? reinterpret_cast<uintptr_t>(Stream) : 1;
  return cudaSuccess;
}

cudaError_t servedStreamIsCapturing(cudaStream_t Stream,
                                    cudaStreamCaptureStatus *Status) {
  if (!Status)
    return cudaErrorInvalidValue;
  if (cudaError_t Code = checkStream(Stream))
    return Code;
  *Status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

cudaError_t servedThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *Mode) {
  thread_local cudaStreamCaptureMode OfThread = cudaStreamCaptureModeGlobal;
  if (!Mode || *Mode < cudaStreamCaptureModeGlobal ||
      *Mode > cudaStreamCaptureModeRelaxed)
    return cudaErrorInvalidValue;
  std::swap(*Mode, OfThread);
  return cudaSuccess;
}

//===-- Attributes --------------------------------------------------------===//

static bool isStreamAttribute(int Attribute) {
  return Attribute == cudaLaunchAttributeAccessPolicyWindow ||
         Attribute == cudaLaunchAttributeSynchronizationPolicy ||
         Attribute == cudaLaunchAttributePriority ||
         Attribute == cudaLaunchAttributeMemSyncDomainMap ||
         Attribute == cudaLaunchAttributeMemSyncDomain;
}

cudaError_t servedStreamSetAttribute(cudaStream_t Stream,
                                     cudaStreamAttrID Attribute,
                                     const cudaStreamAttrValue *Value) {
  if (!Value || !isStreamAttribute(Attribute))
    return cudaErrorInvalidValue;
  if (cudaError_t Code = checkStream(Stream))
    return Code;
  std::lock_guard Lock(State::get().Mutex);
  State::get().StreamAttributes[{Stream, Attribute}] = *Value;
  return cudaSuccess;
}

cudaError_t servedStreamGetAttribute(cudaStream_t Stream,
                                     cudaStreamAttrID Attribute,
                                     cudaStreamAttrValue *Value) {
  if (!Value || !isStreamAttribute(Attribute))
    return cudaErrorInvalidValue;
  if (cudaError_t Code = checkStream(Stream))
    return Code;
  std::lock_guard Lock(State::get().Mutex);
  auto Found = State::get().StreamAttributes.find({Stream, Attribute});
  if (Found != State::get().StreamAttributes.end()) {
    *Value = Found->second;
    return cudaSuccess;
  }
  *Value = cudaStreamAttrValue{};
  if (Attribute == cudaLaunchAttributePriority)
    Value->priority = engine().priority(Stream);
  if (Attribute == cudaLaunchAttributeSynchronizationPolicy)
    Value->syncPolicy = cudaSyncPolicyAuto;
  return cudaSuccess;
}

cudaError_t servedStreamCopyAttributes(cudaStream_t To, cudaStream_t From) {
  if (checkStream(To) || checkStream(From))
    return cudaErrorInvalidResourceHandle;
  std::lock_guard Lock(State::get().Mutex);
  auto &All = State::get().StreamAttributes;
  std::map<std::pair<cudaStream_t, int>, cudaStreamAttrValue> Copies;
  for (const auto &[Name, Value] : All)
    if (Name.first == From)
      Copies[{To, Name.second}] = Value;
  for (const auto &[Name, Value] : Copies)
    All[Name] = Value;
  return cudaSuccess;
}

} // namespace r3::cudart
