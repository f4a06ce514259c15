// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all parts of the device code library share. The library is C++ that
// clang compiles to bitcode when R3 is built; the compile part links from it
// what a kernel uses. Three kinds of names are found by it:
//   __r3_nvvm_<name>  the intrinsic llvm.nvvm.<name>, dots as underscores,
//                     without ".ftz" and with pointers as p0
//   __r3_asm_<name>   the PTX instruction <name> in inline assembly, without
//                     memory spaces and cache hints (AssemblyCode.cpp)
//   any other         the device function of that name, instead of its body
// Pairs that an intrinsic returns come as a result and a bool * at the end.
#pragma once

#include "../KernelAbi.h"

using namespace r3::cpu;

#define LIBRARY extern "C" __attribute__((always_inline, nothrow))
#define CONVERGENT                                                             \
  extern "C" __attribute__((always_inline, nothrow, convergent))

extern "C" {
/// Replaced by the hidden argument of the function that it is called in.
__attribute__((const, nothrow)) ThreadContext *__r3_context();

#define R3_RUNTIME_CALL(Result, Name, Parameters)                              \
  __attribute__((convergent, nothrow)) Result __r3_cpu_##Name Parameters;
#include "../RuntimeCalls.def"
}
