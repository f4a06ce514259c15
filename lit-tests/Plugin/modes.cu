// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles that can embed nothing say so in a remark; -r3-mode=use embeds
// nothing; -save-temps and -S give the same unit as one step does.
// RUN: %clang %cuda -Rremark-backend-plugin -fpass-plugin=%plugin -O2 --cuda-device-only -S %s -o %t.s 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: %clang %cuda -Rremark-backend-plugin -fpass-plugin=%plugin -O2 --cuda-host-only -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=HOST
// RUN: %clang %cuda -fpass-plugin=%plugin -mllvm -r3-mode=use -O2 -c %s -o %t.o
// RUN: llvm-nm %t.o | FileCheck %s --check-prefix=USE
// RUN: mkdir -p %t && cd %t
// RUN: %clang %cuda -fpass-plugin=%plugin -O2 -c %s -o one.o
// RUN: %clang %cuda -fpass-plugin=%plugin -O2 -c %s -o two.o -save-temps
// RUN: %python %S/Inputs/unit.py one.o | grep -A100 '"kernels"' | grep -v '"content"' > one
// RUN: %python %S/Inputs/unit.py two.o | grep -A100 '"kernels"' | grep -v '"content"' > two
// RUN: diff one two && FileCheck %s --input-file=one
// RUN: find %t.tmpdir -name '*.unit' | count 0
__global__ void kernel(int *p) { *p = 1; }
void launch() { kernel<<<1, 1>>>(nullptr); }
// DEVICE: remark: r3: modes.cu: --cuda-device-only: there is no host code that could carry the device code for R3
// HOST: remark: r3: modes.cu: --cuda-host-only: there is no device code to embed
// USE-NOT: r3
// CHECK: "home": "modes.cu:kernel"
