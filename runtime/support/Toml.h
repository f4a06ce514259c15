// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// toml++, behind one header: compiled in, without exceptions (profiles are read
// inside clang), and without the assumptions of its version 3.3.
#pragma once

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
// Version 3.3 asserts, or tells the compiler to assume, that its input is what
// it is only about to check ("[" and a control character): an abort in debug
// builds, undefined behaviour elsewhere.
#define TOML_ASSERT(Expression) static_assert(true)
#include <toml++/impl/preprocessor.h>
#undef TOML_ASSUME
#define TOML_ASSUME(...) static_assert(true)
#include <toml++/toml.h>
