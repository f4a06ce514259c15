// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All forms of cudaMemcpy and cudaMemset but those of symbols. Copies without
// a stream are work of the legacy stream, or (_ptds) of the calling thread's.
#include "runtime/device/cpu/cudart/Boxes.h"

namespace r3::cudart {

//===-- One dimension -----------------------------------------------------===//

static cudaError_t copy(void *To, const void *From, size_t Size,
                        cudaMemcpyKind Kind, cudaStream_t Stream,
                        Waiting Mode) {
  return copyBox(linear(To, Size), linear(From, Size), {Size}, Kind, Stream,
                 Mode);
}

cudaError_t servedMemcpy(void *To, const void *From, size_t Size,
                         cudaMemcpyKind Kind) {
  return copy(To, From, Size, Kind, cudaStreamLegacy, Waiting::Wait);
}

cudaError_t servedMemcpy_ptds(void *To, const void *From, size_t Size,
                              cudaMemcpyKind Kind) {
  return copy(To, From, Size, Kind, cudaStreamPerThread, Waiting::Wait);
}

cudaError_t servedMemcpyAsync(void *To, const void *From, size_t Size,
                              cudaMemcpyKind Kind, cudaStream_t Stream) {
  return copy(To, From, Size, Kind, Stream, Waiting::Continue);
}

cudaError_t servedMemcpyPeer(void *To, int ToDevice, const void *From,
                             int FromDevice, size_t Size) {
  if (ToDevice || FromDevice)
    return cudaErrorInvalidDevice;
  return copy(To, From, Size, cudaMemcpyDeviceToDevice, cudaStreamLegacy,
              Waiting::Continue);
}

cudaError_t servedMemcpyPeerAsync(void *To, int ToDevice, const void *From,
                                  int FromDevice, size_t Size,
                                  cudaStream_t Stream) {
  if (ToDevice || FromDevice)
    return cudaErrorInvalidDevice;
  return copy(To, From, Size, cudaMemcpyDeviceToDevice, Stream,
              Waiting::Continue);
}

//===-- Two dimensions ----------------------------------------------------===//

static cudaError_t copy2D(void *To, size_t ToPitch, const void *From,
                          size_t FromPitch, size_t Width, size_t Height,
                          cudaMemcpyKind Kind, cudaStream_t Stream,
                          Waiting Mode) {
  if (Width > ToPitch || Width > FromPitch)
    return cudaErrorInvalidPitchValue;
  return copyBox(pitched(To, ToPitch, Height), pitched(From, FromPitch, Height),
                 {Width, Height}, Kind, Stream, Mode);
}

cudaError_t servedMemcpy2D(void *To, size_t ToPitch, const void *From,
                           size_t FromPitch, size_t Width, size_t Height,
                           cudaMemcpyKind Kind) {
  return copy2D(To, ToPitch, From, FromPitch, Width, Height, Kind,
                cudaStreamLegacy, Waiting::Wait);
}

cudaError_t servedMemcpy2D_ptds(void *To, size_t ToPitch, const void *From,
                                size_t FromPitch, size_t Width, size_t Height,
                                cudaMemcpyKind Kind) {
  return copy2D(To, ToPitch, From, FromPitch, Width, Height, Kind,
                cudaStreamPerThread, Waiting::Wait);
}

cudaError_t servedMemcpy2DAsync(void *To, size_t ToPitch, const void *From,
                                size_t FromPitch, size_t Width, size_t Height,
                                cudaMemcpyKind Kind, cudaStream_t Stream) {
  return copy2D(To, ToPitch, From, FromPitch, Width, Height, Kind, Stream,
                Waiting::Continue);
}

//===-- Three dimensions --------------------------------------------------===//

/// The first byte that a copy touches; false where a position overflows.
static bool layoutOf(const cudaPitchedPtr &Where, const cudaPos &Position,
                     Layout &Into) {
  size_t Slice, Offset, Rows;
  if (__builtin_mul_overflow(Where.pitch, Where.ysize, &Slice) ||
      __builtin_mul_overflow(Slice, Position.z, &Offset) ||
      __builtin_mul_overflow(Where.pitch, Position.y, &Rows) ||
      __builtin_add_overflow(Offset, Rows, &Offset) ||
      __builtin_add_overflow(Offset, Position.x, &Offset))
    return false;
  Into = {static_cast<char *>(Where.ptr), Where.pitch, Slice};
  Into.Begin = Where.ptr ? Into.Begin + Offset : nullptr;
  return true;
}

static cudaError_t copy3D(const cudaMemcpy3DParms *P, cudaStream_t Stream,
                          Waiting Mode) {
  if (!P)
    return cudaErrorInvalidValue;
  if (P->srcArray || P->dstArray) {
    sayOnce("cudaMemcpy3D with arrays is not served by the CPU device");
    return cudaErrorNotSupported;
  }
  Layout To, From;
  if (!layoutOf(P->dstPtr, P->dstPos, To) ||
      !layoutOf(P->srcPtr, P->srcPos, From))
    return cudaErrorInvalidValue;
  return copyBox(To, From, {P->extent.width, P->extent.height, P->extent.depth},
                 P->kind, Stream, Mode);
}

cudaError_t servedMemcpy3D(const cudaMemcpy3DParms *P) {
  return copy3D(P, cudaStreamLegacy, Waiting::Wait);
}

cudaError_t servedMemcpy3D_ptds(const cudaMemcpy3DParms *P) {
  return copy3D(P, cudaStreamPerThread, Waiting::Wait);
}

cudaError_t servedMemcpy3DAsync(const cudaMemcpy3DParms *P,
                                cudaStream_t Stream) {
  return copy3D(P, Stream, Waiting::Continue);
}

//===-- Fills -------------------------------------------------------------===//

cudaError_t servedMemsetAsync(void *To, int Value, size_t Size,
                              cudaStream_t Stream) {
  return fillBox(linear(To, Size), {Size}, Value, Stream);
}

/// Without a stream: a fill of host memory is over when the call returns.
static cudaError_t settle(cudaError_t Code, const void *To,
                          cudaStream_t Stream) {
  std::optional<cpu::MemoryBlock> Block = engine().findBlock(addressOf(To));
  bool OfHost = Block && (Block->Use == cpu::MemoryUse::Pinned ||
                          Block->Use == cpu::MemoryUse::Register);
  if (Code || !OfHost)
    return Code;
  Error Failure = engine().synchronizeStream(Stream);
  return Failure ? codeOf(Failure, cudaErrorUnknown) : cudaSuccess;
}

cudaError_t servedMemset(void *To, int Value, size_t Size) {
  return settle(servedMemsetAsync(To, Value, Size, cudaStreamLegacy), To,
                cudaStreamLegacy);
}

cudaError_t servedMemset_ptds(void *To, int Value, size_t Size) {
  return settle(servedMemsetAsync(To, Value, Size, cudaStreamPerThread), To,
                cudaStreamPerThread);
}

cudaError_t servedMemset2DAsync(void *To, size_t Pitch, int Value, size_t Width,
                                size_t Height, cudaStream_t Stream) {
  if (Width > Pitch)
    return cudaErrorInvalidPitchValue;
  return fillBox(pitched(To, Pitch, Height), {Width, Height}, Value, Stream);
}

cudaError_t servedMemset2D(void *To, size_t Pitch, int Value, size_t Width,
                           size_t Height) {
  return settle(
      servedMemset2DAsync(To, Pitch, Value, Width, Height, cudaStreamLegacy),
      To, cudaStreamLegacy);
}

cudaError_t servedMemset2D_ptds(void *To, size_t Pitch, int Value, size_t Width,
                                size_t Height) {
  return settle(
      servedMemset2DAsync(To, Pitch, Value, Width, Height, cudaStreamPerThread),
      To, cudaStreamPerThread);
}

cudaError_t servedMemset3DAsync(cudaPitchedPtr Where, int Value,
                                cudaExtent Extent, cudaStream_t Stream) {
  return fillBox(pitched(Where.ptr, Where.pitch, Where.ysize),
                 {Extent.width, Extent.height, Extent.depth}, Value, Stream);
}

cudaError_t servedMemset3D(cudaPitchedPtr Where, int Value, cudaExtent Extent) {
  return settle(servedMemset3DAsync(Where, Value, Extent, cudaStreamLegacy),
                Where.ptr, cudaStreamLegacy);
}

cudaError_t servedMemset3D_ptds(cudaPitchedPtr Where, int Value,
                                cudaExtent Extent) {
  return settle(servedMemset3DAsync(Where, Value, Extent, cudaStreamPerThread),
                Where.ptr, cudaStreamPerThread);
}

} // namespace r3::cudart
