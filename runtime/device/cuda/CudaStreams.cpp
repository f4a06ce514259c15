// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams, events, copies.
#include "runtime/device/cuda/CudaDevice.h"

using namespace r3;

namespace {

CUstream asStream(StreamHandle Stream) { return static_cast<CUstream>(Stream); }
CUevent asEvent(EventHandle Event) { return static_cast<CUevent>(Event); }

} // namespace

Expected<StreamHandle> CudaDevice::createStream() {
  Scope Enter(*this);
  CUstream Stream = nullptr;
  if (Error E = R3_CUDA_CALL(StreamCreate(&Stream, CU_STREAM_NON_BLOCKING)))
    return E;
  return StreamHandle(Stream);
}

Error CudaDevice::destroyStream(StreamHandle Stream) {
  Scope Enter(*this);
  return R3_CUDA_CALL(StreamDestroy(asStream(Stream)));
}

Expected<EventHandle> CudaDevice::createEvent(bool Timing) {
  Scope Enter(*this);
  CUevent Event = nullptr;
  unsigned Flags = Timing ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING;
  if (Error E = R3_CUDA_CALL(EventCreate(&Event, Flags)))
    return E;
  return EventHandle(Event);
}

Error CudaDevice::destroyEvent(EventHandle Event) {
  Scope Enter(*this);
  return R3_CUDA_CALL(EventDestroy(asEvent(Event)));
}

Error CudaDevice::record(EventHandle Event, StreamHandle Stream) {
  Scope Enter(*this);
  return R3_CUDA_CALL(EventRecord(asEvent(Event), asStream(Stream)));
}

Error CudaDevice::wait(StreamHandle Stream, EventHandle Event) {
  Scope Enter(*this);
  return R3_CUDA_CALL(
      StreamWaitEvent(asStream(Stream), asEvent(Event), /*Flags=*/0));
}

Expected<bool> CudaDevice::query(EventHandle Event) {
  Scope Enter(*this);
  CUresult Result = Api.EventQuery(asEvent(Event));
  if (Result == CUDA_ERROR_NOT_READY)
    return false;
  if (Error E = check(Result, "cuEventQuery(Event)"))
    return E;
  return true;
}

Expected<double> CudaDevice::elapsedMs(EventHandle Begin, EventHandle End) {
  Scope Enter(*this);
  float Milliseconds = 0;
  if (Error E = R3_CUDA_CALL(
          EventElapsedTime(&Milliseconds, asEvent(Begin), asEvent(End))))
    return E;
  return double(Milliseconds);
}

Error CudaDevice::copyToHost(void *To, Address From, uint64_t Size,
                             StreamHandle Stream) {
  Scope Enter(*this);
  if (!Size)
    return Error::success();
  return R3_CUDA_CALL(MemcpyDtoHAsync(To, From, Size, asStream(Stream)));
}

Error CudaDevice::copyToDevice(Address To, const void *From, uint64_t Size,
                               StreamHandle Stream) {
  Scope Enter(*this);
  if (!Size)
    return Error::success();
  return R3_CUDA_CALL(MemcpyHtoDAsync(To, From, Size, asStream(Stream)));
}

Error CudaDevice::copy(Address To, Address From, uint64_t Size,
                       StreamHandle Stream) {
  Scope Enter(*this);
  if (!Size)
    return Error::success();
  return R3_CUDA_CALL(MemcpyDtoDAsync(To, From, Size, asStream(Stream)));
}

Error CudaDevice::fill(Address Where, uint8_t Byte, uint64_t Size,
                       StreamHandle Stream) {
  Scope Enter(*this);
  if (!Size)
    return Error::success();
  return R3_CUDA_CALL(MemsetD8Async(Where, Byte, Size, asStream(Stream)));
}

Error CudaDevice::fillRows(Address Where, uint64_t Pitch, uint8_t Byte,
                           uint64_t Width, uint64_t Rows, StreamHandle Stream) {
  Scope Enter(*this);
  return R3_CUDA_CALL(
      MemsetD2D8Async(Where, Pitch, Byte, Width, Rows, asStream(Stream)));
}

Error CudaDevice::hashPieces(std::span<const AddressRange> Pieces,
                             LeafHash *Out, StreamHandle Stream) {
  Scope Enter(*this);
  return Kernels->hashPieces(Pieces, Out, asStream(Stream));
}

Error CudaDevice::sketchChunks(Address Where, uint64_t Size,
                               const SketchForm &Form, Sketch *Out,
                               StreamHandle Stream) {
  Scope Enter(*this);
  return Kernels->sketchChunks(Where, Size, Form, Out, asStream(Stream));
}

Error CudaDevice::scanPointers(Address Where, uint64_t Size,
                               std::span<const AddressRange> Targets,
                               uint8_t *Out, StreamHandle Stream) {
  Scope Enter(*this);
  return Kernels->scanPointers(Where, Size, Targets, Out, asStream(Stream));
}

Error CudaDevice::flushCache(StreamHandle Stream) {
  Scope Enter(*this);
  return Kernels->flushCache(asStream(Stream));
}
