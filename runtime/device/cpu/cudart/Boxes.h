// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies and fills of one to three dimensions, which all forms of cudaMemcpy
// and cudaMemset come down to.
#pragma once

#include "runtime/device/cpu/cudart/Served.h"

namespace r3::cudart {

/// Rows of Width bytes, Pitch apart; Height rows make a slice, Slice apart.
struct Layout {
  char *Begin = nullptr;
  size_t Pitch = 0;
  size_t Slice = 0;
};

struct Box {
  size_t Width = 0;
  size_t Height = 1;
  size_t Depth = 1;
  bool empty() const { return !Width || !Height || !Depth; }
};

/// Whether the call may return before the work is done.
enum class Waiting { Wait, Continue };

cudaError_t copyBox(const Layout &To, const Layout &From, const Box &Size,
                    cudaMemcpyKind Kind, cudaStream_t Stream, Waiting Mode);
cudaError_t fillBox(const Layout &To, const Box &Size, int Value,
                    cudaStream_t Stream);

inline Layout linear(const void *Where, size_t Size) {
  return {static_cast<char *>(const_cast<void *>(Where)), Size, Size};
}
inline Layout pitched(const void *Where, size_t Pitch, size_t Height) {
  return {static_cast<char *>(const_cast<void *>(Where)), Pitch,
          Pitch * Height};
}

} // namespace r3::cudart
