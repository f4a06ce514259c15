// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// R3's own passes in plain opt: each instrumented build, the closure of a
// kernel, clang's own pipeline of a level, and what they refuse.
// RUN: %clang %cuda --cuda-device-only -O3 -Xclang -disable-llvm-passes -emit-llvm -c %s -o %t.bc
//
// All builds of the table give code that the rest of the toolchain takes.
// RUN: grep -oP '^    \{"\K[a-z0-9-]+' %source/plugin/instrument/Builds.cpp > %t.names
// RUN: test $(wc -l < %t.names) -ge 7
// RUN: for Name in $(cat %t.names); do \
// RUN:   opt -load-pass-plugin=%plugin -mcpu=sm_90 -passes="function(sroa),r3-$Name,verify" %t.bc -o %t.$Name.bc && \
// RUN:   opt -mcpu=sm_90 -passes='default<O2>' %t.$Name.bc -o - | llc -mcpu=sm_90 -mattr=+ptx80 -o %t.ptx && \
// RUN:   ptxas -arch=sm_90 %t.ptx -o %t.cubin || { echo $Name; exit 1; }; done
//
// Functions that libdevice has in double come from the library that is named.
// RUN: opt -load-pass-plugin=%plugin -mcpu=sm_90 -passes='r3-double<%cudapath/nvvm/libdevice/libdevice.10.bc>,verify' %t.bc -S | FileCheck %s --check-prefix=DOUBLE
// DOUBLE: call {{.*}}double @__nv_tan(
// DOUBLE: define {{.*}}double @__nv_tan(
//
// RUN: opt -load-pass-plugin=%plugin -passes='r3-closure<step>,verify' %t.bc -S | FileCheck %s --check-prefix=CLOSURE
// CLOSURE-NOT: other
// CLOSURE: define internal {{.*}}helper
// CLOSURE: define {{.*}}void @step(
// CLOSURE-NOT: {{other|DICompileUnit}}
//
// A default pipeline gives clang's own code.
// RUN: %clang %cuda --cuda-device-only -O3 -S %s -o - | sed 's,[ \t]*//.*,,' > %t.clang.ptx
// RUN: opt -load-pass-plugin=%plugin -mcpu=sm_90 -passes='r3-default<O3>' %t.bc -o - | llc -O3 -mcpu=sm_90 -mattr=$(grep -oP '(?<=[.]version )[0-9.]+' %t.clang.ptx | sed 's/[.]//; s/^/+ptx/') -fp-contract=fast -o - | sed 's,[ \t]*//.*,,' > %t.ours.ptx
// RUN: diff %t.clang.ptx %t.ours.ptx
//
// RUN: %clang %cuda --cuda-device-only -O0 -emit-llvm -c %s -o %t.0.bc
// RUN: opt -load-pass-plugin=%plugin -passes='r3-closure<other>,function(sroa)' %t.0.bc -S | grep alloca
// RUN: opt -load-pass-plugin=%plugin -passes='r3-closure<other>,r3-optimisable,function(sroa)' %t.0.bc -S | not grep alloca
//
// RUN: not opt -load-pass-plugin=%plugin -passes='r3-closure<nothing>' %t.bc -disable-output 2>&1 | FileCheck %s --check-prefix=NOKERNEL
// RUN: not opt -load-pass-plugin=%plugin -passes='r3-default<O7>' %t.bc -disable-output 2>&1 | FileCheck %s --check-prefix=NOLEVEL
// RUN: not opt -load-pass-plugin=%plugin -passes='r3-double<%t.none>' %t.bc -disable-output 2>&1 | FileCheck %s --check-prefix=NOFILE
// RUN: for Name in 'r3-closure' 'r3-closure<>' 'r3-trace<x>' 'r3-optimisable<x>' 'r3-default' 'r3-nothing'; do \
// RUN:   not opt -load-pass-plugin=%plugin -passes="$Name" %t.bc -disable-output 2>&1 | grep "unknown pass name '$Name'" || exit 1; done
// NOKERNEL: error: {{.*}}no kernel nothing
// NOLEVEL: error: {{.*}}optimisation level 'O7'
// NOFILE: error: {{.*}}.none
__device__ __noinline__ float helper(float x) { return tanf(x) * x; }
extern "C" __global__ void step(float *f, const float4 *__restrict__ v, int n) {
  __shared__ float tile[32];
  const int i = threadIdx.x;
  tile[i & 31] = helper(f[i]);
  __syncthreads();
  f[i] = tile[(i + 1) & 31] / n;
}
extern "C" __global__ void other(float *f, const float *v) { *f = *v + 1; }
