// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each end of a copy is checked as the driver checks it: what the direction
// calls device memory has to lie in one allocation. Pageable host memory may
// be used again as soon as the call returns, so that it is staged where there
// is little of it, and waited for otherwise.
#include "runtime/device/cpu/cudart/Boxes.h"

#include <cstring>
#include <memory>
#include <vector>

namespace r3::cudart {

/// What CUDA stages without waiting for the stream.
static constexpr size_t StagedBytes = 64 * 1024;

/// Bytes from the first to behind the last; false on overflow.
static bool spanOf(const Layout &L, const Box &Size, size_t &Span) {
  size_t Rows, Slices;
  return !__builtin_mul_overflow(L.Pitch, Size.Height - 1, &Rows) &&
         !__builtin_mul_overflow(L.Slice, Size.Depth - 1, &Slices) &&
         !__builtin_add_overflow(Rows, Slices, &Span) &&
         !__builtin_add_overflow(Span, Size.Width, &Span);
}

static bool isContiguous(const Layout &L, const Box &Size) {
  return (Size.Height == 1 || L.Pitch == Size.Width) &&
         (Size.Depth == 1 || L.Slice == Size.Width * Size.Height);
}

/// Needed: the direction says that this end is device memory.
static cudaError_t checkEnd(const Layout &L, const Box &Size, bool Needed) {
  size_t Span;
  if (!L.Begin)
    return cudaErrorInvalidValue;
  if (L.Pitch < Size.Width && (Size.Height > 1 || Size.Depth > 1))
    return cudaErrorInvalidPitchValue;
  if (!spanOf(L, Size, Span))
    return cudaErrorInvalidValue;
  bool Pageable = isPageable(L.Begin);
  if (Needed ? !isKnown(L.Begin, Span) : !Pageable && !isKnown(L.Begin, Span))
    return cudaErrorInvalidValue;
  return cudaSuccess;
}

static void copyRows(const Layout &To, const Layout &From, const Box &Size) {
  for (size_t Z = 0; Z != Size.Depth; ++Z)
    for (size_t Y = 0; Y != Size.Height; ++Y)
      std::memmove(To.Begin + Z * To.Slice + Y * To.Pitch,
                   From.Begin + Z * From.Slice + Y * From.Pitch, Size.Width);
}

static Error copyStaged(const Layout &To, const Layout &From, size_t Bytes,
                        cudaStream_t Stream) {
  auto Staging =
      std::make_shared<std::vector<char>>(From.Begin, From.Begin + Bytes);
  return engine().enqueue(Stream, [Staging, Target = To.Begin] {
    std::memcpy(Target, Staging->data(), Staging->size());
  });
}

static Error submitCopy(const Layout &To, const Layout &From, const Box &Size,
                        cudaStream_t Stream) {
  if (isContiguous(To, Size) && isContiguous(From, Size))
    return engine().copy(addressOf(To.Begin), addressOf(From.Begin),
                         Size.Width * Size.Height * Size.Depth, Stream);
  return engine().enqueue(Stream,
                          [To, From, Size] { copyRows(To, From, Size); });
}

cudaError_t copyBox(const Layout &To, const Layout &From, const Box &Size,
                    cudaMemcpyKind Kind, cudaStream_t Stream, Waiting Mode) {
  if (Kind < cudaMemcpyHostToHost || Kind > cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  if (cudaError_t Code = checkStream(Stream))
    return Code;
  if (Size.empty())
    return cudaSuccess;
  bool ToDevice =
      Kind == cudaMemcpyHostToDevice || Kind == cudaMemcpyDeviceToDevice;
  bool FromDevice =
      Kind == cudaMemcpyDeviceToHost || Kind == cudaMemcpyDeviceToDevice;
  if (cudaError_t Code = checkEnd(To, Size, ToDevice))
    return Code;
  if (cudaError_t Code = checkEnd(From, Size, FromDevice))
    return Code;
  size_t Bytes = Size.Width * Size.Height * Size.Depth;
  bool Pageable = isPageable(From.Begin) || isPageable(To.Begin);
  bool Staged = Mode == Waiting::Continue && !isPageable(To.Begin) &&
                isPageable(From.Begin) && Bytes <= StagedBytes &&
                isContiguous(To, Size) && isContiguous(From, Size);
  Error Failure = Staged ? copyStaged(To, From, Bytes, Stream)
                         : submitCopy(To, From, Size, Stream);
  if (!Failure && !Staged && (Mode == Waiting::Wait || Pageable))
    Failure = engine().synchronizeStream(Stream);
  return Failure ? codeOf(Failure, cudaErrorInvalidValue) : cudaSuccess;
}

cudaError_t fillBox(const Layout &To, const Box &Size, int Value,
                    cudaStream_t Stream) {
  if (cudaError_t Code = checkStream(Stream))
    return Code;
  if (Size.empty())
    return cudaSuccess;
  if (cudaError_t Code = checkEnd(To, Size, /*Needed=*/true))
    return Code;
  Error Failure;
  if (isContiguous(To, Size))
    Failure = engine().fill(addressOf(To.Begin), uint8_t(Value),
                            Size.Width * Size.Height * Size.Depth, Stream);
  else
    Failure = engine().enqueue(Stream, [To, Size, Value] {
      for (size_t Z = 0; Z != Size.Depth; ++Z)
        for (size_t Y = 0; Y != Size.Height; ++Y)
          std::memset(To.Begin + Z * To.Slice + Y * To.Pitch, Value,
                      Size.Width);
    });
  return Failure ? codeOf(Failure, cudaErrorInvalidValue) : cudaSuccess;
}

} // namespace r3::cudart
