// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a build can bring about of a variant, for who builds it in and for who
// should not choose another.
#pragma once

#include "runtime/support/Variant.h"

#include <string>

namespace r3 {

/// What of it a build of the program cannot bring about ("another shape of
/// block"); empty: it can.
std::string notApplicable(const Variant &V);

} // namespace r3
