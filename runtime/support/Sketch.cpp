// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same order of additions as r3_sketch's in Kernels.cu.
#include "runtime/support/Sketch.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace r3 {

namespace {

using sketch::Width;

/// Rows of the Hadamard matrix times Values, by butterflies.
template <unsigned Half = Width / 2> void transform(double *__restrict Values) {
  for (unsigned Begin = 0; Begin < Width; Begin += 2 * Half)
    for (unsigned I = Begin; I < Begin + Half; ++I) {
      const double Low = Values[I], High = Values[I + Half];
      Values[I] = Low + High;
      Values[I + Half] = Low - High;
    }
  if constexpr (Half > 1)
    transform<Half / 2>(Values);
}

template <typename T>
Sketch sketchAs(std::span<const uint8_t> Bytes, const SketchForm &Form) {
  Sketch Result{};
  sketch::Sum Sums[Width];
  const uint64_t Count = Bytes.size() / sizeof(T);
  for (uint64_t At = 0; At < Count; At += Width) {
    T Elements[Width] = {};
    std::memcpy(Elements, Bytes.data() + At * sizeof(T),
                std::min<uint64_t>(Width, Count - At) * sizeof(T));
    const uint64_t First = Form.FirstElement + At;
    const uint64_t Signs = sketch::elementSigns(Form.Seed, First / Width);
    double Values[Width];
    bool AnyOdd = false;
    for (unsigned I = 0; I < Width; ++I) {
      Values[I] = sketch::withSign(Elements[I], Signs, I);
      AnyOdd |= sketch::isOdd(Values[I]);
    }
    for (unsigned I = 0; AnyOdd && I < Width; ++I)
      if (sketch::isOdd(Values[I])) {
        Result.Odd += sketch::oddMark(Form.Seed, First + I, Elements[I]);
        Values[I] = 0;
      }
    transform(Values);
    const uint64_t Outer = sketch::sumSigns(Form.Seed, First / Width);
    for (unsigned K = 0; K < Width; ++K)
      Sums[K].add(sketch::withSign(Values[K], Outer, K));
  }
  for (unsigned K = 0; K < Width; ++K)
    Result.Sums[K] = Sums[K].Value;
  return Result;
}

} // namespace

Sketch sketchOf(std::span<const uint8_t> Bytes, const SketchForm &Form) {
  return Form.Type == ValueType::F32 ? sketchAs<float>(Bytes, Form)
                                     : sketchAs<double>(Bytes, Form);
}

void addTo(Sketch &Sum, const Sketch &Other) {
  for (unsigned K = 0; K < Width; ++K)
    Sum.Sums[K] += Other.Sums[K];
  Sum.Odd += Other.Odd;
}

void writeSketch(ByteWriter &Out, const Sketch &S) {
  for (double Sum : S.Sums)
    Out.u64(std::bit_cast<uint64_t>(Sum));
  Out.u64(S.Odd);
}

Sketch readSketch(ByteReader &In) {
  Sketch S{};
  for (double &Sum : S.Sums)
    Sum = std::bit_cast<double>(In.u64());
  S.Odd = In.u64();
  return S;
}

} // namespace r3
