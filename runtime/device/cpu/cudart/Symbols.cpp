// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device variables, which programs name by the address of their host shadow.
#include "runtime/device/cpu/cudart/Boxes.h"

namespace r3::cudart {

/// The storage behind a shadow variable.
static cudaError_t find(const void *Symbol, AddressRange &Into) {
  if (!Symbol)
    return cudaErrorInvalidSymbol;
  Expected<AddressRange> Range = engine().globalByShadow(Symbol);
  if (Range) {
    Into = *Range;
    return cudaSuccess;
  }
  if (Range.error().code() != ErrorCode::NotFound)
    sayOnce("CPU device: " + Range.error().message());
  return cudaErrorInvalidSymbol;
}

static cudaError_t part(const void *Symbol, size_t Size, size_t Offset,
                        char *&Into) {
  AddressRange Range;
  if (cudaError_t Code = find(Symbol, Range))
    return Code;
  if (Offset > Range.Size || Size > Range.Size - Offset)
    return cudaErrorInvalidValue;
  Into = static_cast<char *>(pointerTo(Range.Begin)) + Offset;
  return cudaSuccess;
}

cudaError_t servedGetSymbolAddress(void **Into, const void *Symbol) {
  AddressRange Range;
  if (!Into)
    return cudaErrorInvalidValue;
  if (cudaError_t Code = find(Symbol, Range))
    return Code;
  *Into = pointerTo(Range.Begin);
  return cudaSuccess;
}

cudaError_t servedGetSymbolSize(size_t *Into, const void *Symbol) {
  AddressRange Range;
  if (!Into)
    return cudaErrorInvalidValue;
  if (cudaError_t Code = find(Symbol, Range))
    return Code;
  *Into = Range.Size;
  return cudaSuccess;
}

static cudaError_t copyTo(const void *Symbol, const void *From, size_t Size,
                          size_t Offset, cudaMemcpyKind Kind,
                          cudaStream_t Stream, Waiting Mode) {
  if (Kind != cudaMemcpyHostToDevice && Kind != cudaMemcpyDeviceToDevice &&
      Kind != cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  char *To;
  if (cudaError_t Code = part(Symbol, Size, Offset, To))
    return Code;
  return copyBox(linear(To, Size), linear(From, Size), {Size}, Kind, Stream,
                 Mode);
}

static cudaError_t copyFrom(void *To, const void *Symbol, size_t Size,
                            size_t Offset, cudaMemcpyKind Kind,
                            cudaStream_t Stream, Waiting Mode) {
  if (Kind != cudaMemcpyDeviceToHost && Kind != cudaMemcpyDeviceToDevice &&
      Kind != cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  char *From;
  if (cudaError_t Code = part(Symbol, Size, Offset, From))
    return Code;
  return copyBox(linear(To, Size), linear(From, Size), {Size}, Kind, Stream,
                 Mode);
}

cudaError_t servedMemcpyToSymbol(const void *Symbol, const void *From,
                                 size_t Size, size_t Offset,
                                 cudaMemcpyKind Kind) {
  return copyTo(Symbol, From, Size, Offset, Kind, cudaStreamLegacy,
                Waiting::Wait);
}

cudaError_t servedMemcpyToSymbol_ptds(const void *Symbol, const void *From,
                                      size_t Size, size_t Offset,
                                      cudaMemcpyKind Kind) {
  return copyTo(Symbol, From, Size, Offset, Kind, cudaStreamPerThread,
                Waiting::Wait);
}

cudaError_t servedMemcpyToSymbolAsync(const void *Symbol, const void *From,
                                      size_t Size, size_t Offset,
                                      cudaMemcpyKind Kind,
                                      cudaStream_t Stream) {
  return copyTo(Symbol, From, Size, Offset, Kind, Stream, Waiting::Continue);
}

cudaError_t servedMemcpyFromSymbol(void *To, const void *Symbol, size_t Size,
                                   size_t Offset, cudaMemcpyKind Kind) {
  return copyFrom(To, Symbol, Size, Offset, Kind, cudaStreamLegacy,
                  Waiting::Wait);
}

cudaError_t servedMemcpyFromSymbol_ptds(void *To, const void *Symbol,
                                        size_t Size, size_t Offset,
                                        cudaMemcpyKind Kind) {
  return copyFrom(To, Symbol, Size, Offset, Kind, cudaStreamPerThread,
                  Waiting::Wait);
}

cudaError_t servedMemcpyFromSymbolAsync(void *To, const void *Symbol,
                                        size_t Size, size_t Offset,
                                        cudaMemcpyKind Kind,
                                        cudaStream_t Stream) {
  return copyFrom(To, Symbol, Size, Offset, Kind, Stream, Waiting::Continue);
}

} // namespace r3::cudart
