// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sketches of the chunks of several pieces of a device's memory, as
// ChunkDigests has their digests: made on the device, or here of what is copied
// from a device that cannot.
#pragma once

#include "wrapper/replay/ChunkDigests.h"

#include "runtime/support/Sketch.h"

#include <vector>

namespace r3::replay {

class ChunkSketches {
public:
  /// Where: begins at a chunk, as Form says. At address 0 there is nothing, and
  /// its sketches are zeros.
  void add(AddressRange Where, const SketchForm &Form);
  /// Of the buffer in host memory that the device fills.
  uint64_t bytes() const { return Bytes; }
  /// Puts all that fills Buffer into Stream. Calls of the device that it takes:
  /// operations().
  Error queue(Device &D, uint8_t *Buffer, StreamHandle Stream) const;
  size_t operations() const { return 4 * Pieces.size(); }
  /// Adds the sketches of all pieces' chunks once Buffer is filled.
  void append(std::vector<Sketch> &Result, const uint8_t *Buffer) const;

private:
  struct Piece {
    AddressRange Where;
    SketchForm Form;
    uint64_t At; // in the buffer: sketches, or the bytes themselves
    bool onDevice() const { return hashesOnDevice(Where.Begin, Where.Size); }
    uint64_t chunks() const {
      return (Where.Size + ChunkBytes - 1) / ChunkBytes;
    }
  };

  std::vector<Piece> Pieces;
  uint64_t Bytes = 0;
};

} // namespace r3::replay
