// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a profile asks for and this build cannot do keeps the original, and is
// said: a changed kernel, -O0, another ptxas level, a broken pipeline.
// RUN: %clang %cuda -fpass-plugin=%plugin -O2 -c %s -o %t.o
// RUN: %clang %cuda -fpass-plugin=%plugin -O2 --cuda-device-only -S %s -o %t.s
// RUN: cat > %t.sh <<< 'set -e; rm -rf %t.profile %t.tmpdir/messages; level=$1; shift; %prefix/lit-tests/tools/r3-test-profile %t.o _Z6kernelPi %t.profile "$@"; R3_HANDOVER=%t.tmpdir %clang %cuda -fpass-plugin=%plugin -mllvm -r3-profile-header=%t.profile/units/refused.cu.h $level --cuda-device-only -S %s -o %t.tuned.s; grep -v "note device-only" %t.tmpdir/messages || true; test $level != -O2 || diff %t.s %t.tuned.s'
// RUN: bash %t.sh -O2 fingerprint=00000000000000000000000000000000 maxnreg=32 | FileCheck %s --check-prefix=STALE
// RUN: bash %t.sh -O0 maxnreg=32 | FileCheck %s --check-prefix=LEVEL
// RUN: bash %t.sh -O2 ptxas=O1 | FileCheck %s --check-prefix=PTXAS
// RUN: bash %t.sh -O2 pipeline=no-such-pass | FileCheck %s --check-prefix=PIPELINE
// RUN: bash %t.sh -O2 "device=sm_80 Test" maxnreg=32 | count 0
__global__ void kernel(int *p) { *p = 1; }
void launch() { kernel<<<1, 1>>>(nullptr); }
// STALE: warning stale refused.cu: kernel: the kernel has changed since its profile entry was made: original kept
// LEVEL: warning optimisation refused.cu: -O0: the profile is applied from -O1 on
// PTXAS: warning profile refused.cu: kernel: the profile's entry for sm_90 Test needs its own ptxas level
// PIPELINE: warning profile refused.cu: _Z6kernelPi: original kept: pipeline: {{.*}}no-such-pass
