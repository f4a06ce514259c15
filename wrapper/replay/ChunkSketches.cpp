// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/replay/ChunkSketches.h"

#include <algorithm>

namespace r3::replay {

void ChunkSketches::add(AddressRange Where, const SketchForm &Form) {
  Pieces.push_back({Where, Form, Bytes});
  const Piece &P = Pieces.back();
  if (Where.Begin)
    Bytes += roundUp(P.onDevice() ? P.chunks() * sizeof(Sketch) : Where.Size);
}

Error ChunkSketches::queue(Device &D, uint8_t *Buffer,
                           StreamHandle Stream) const {
  for (const Piece &P : Pieces) {
    uint8_t *To = Buffer + P.At;
    const auto &[Begin, Size] = P.Where;
    if (!Begin)
      continue;
    if (Error E = P.onDevice()
                      ? D.sketchChunks(Begin, Size, P.Form,
                                       reinterpret_cast<Sketch *>(To), Stream)
                      : D.copyToHost(To, Begin, Size, Stream))
      return E;
  }
  return {};
}

void ChunkSketches::append(std::vector<Sketch> &Result,
                           const uint8_t *Buffer) const {
  for (const Piece &P : Pieces) {
    const uint8_t *From = Buffer + P.At;
    for (uint64_t I = 0; I < P.chunks(); ++I)
      Result.push_back(
          !P.Where.Begin ? Sketch{}
          : P.onDevice()
              ? reinterpret_cast<const Sketch *>(From)[I]
              : sketchOf({From + I * ChunkBytes,
                          std::min<uint64_t>(ChunkBytes,
                                             P.Where.Size - I * ChunkBytes)},
                         P.Form.ofChunk(I)));
  }
}

} // namespace r3::replay
