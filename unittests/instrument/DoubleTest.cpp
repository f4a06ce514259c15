// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Float kernels evaluated in double, against the same done on the host.
#include "unittests/instrument/Harness.h"

#include <cmath>

namespace r3::cpu {

class DoubleTest : public InstrumentTest {};

static std::vector<float> thirds(size_t N) {
  std::vector<float> Values(N);
  for (size_t I = 0; I < N; ++I)
    Values[I] = float(I % 31 + 1) / 3;
  return Values;
}

TEST_F(DoubleTest, LoopsSumInDouble) {
  const int N = 4001;
  Buffer<float> A(thirds(N)), B(thirds(N)), Out(1);
  double Sum = 0;
  float Plain = 0;
  for (int I = 0; I < N; ++I) {
    Sum += double(A[I]) * double(B[I]);
    Plain += A[I] * B[I];
  }
  ASSERT_NE(float(Sum), Plain);
  launch(build("dot", "double"), 1, 1,
         arguments(A.data(), B.data(), Out.data(), N));
  EXPECT_EQ(Out[0], float(Sum));
}

TEST_F(DoubleTest, LibdeviceIsCalledInDouble) {
  const int N = 64;
  Buffer<float> A(thirds(N)), Out(N);
  launch(build("mixed", "double"), 1, N, arguments(A.data(), Out.data(), N));
  for (int I = 0; I < N; ++I) {
    const double Y = (1 + double(A[I]) * double(1e-6f)) - 1;
    EXPECT_EQ(Out[I], float(std::exp(Y) - 1)) << A[I];
  }
}

TEST_F(DoubleTest, ArraysOfVariablesAreDouble) {
  const int N = 4001;
  Buffer<float> A(thirds(N)), Out(4);
  double Bins[4] = {0, 0, 0, 0};
  for (int I = 0; I < N; ++I)
    Bins[I & 3] += double(A[I]) * double(A[I]);
  launch(build("binned", "double"), 1, 1, arguments(A.data(), Out.data(), N));
  for (int I = 0; I < 4; ++I)
    EXPECT_EQ(Out[I], float(Bins[I])) << I;
}

TEST_F(DoubleTest, FloatsAreSeenWhereBitsAre) {
  Buffer<float> A(thirds(32));
  Buffer<uint32_t> Plain(32), Out(32);
  launch(build("bits", ""), 1, 32, arguments(A.data(), Plain.data()));
  launch(build("bits", "double"), 1, 32, arguments(A.data(), Out.data()));
  for (int I = 0; I < 32; ++I)
    EXPECT_EQ(Out[I], Plain[I]) << I;
}

} // namespace r3::cpu
