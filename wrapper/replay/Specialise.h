// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel for the launches that a variant is for, before its pipeline: a
// parameter, or a part of the launch, whose value the variant knows becomes
// that constant; what its guards say of alignment and divisibility is told to
// the compiler; and with another shape of block it computes the indices that
// it would have had. Parameters stay in the signature.
#pragma once

#include "runtime/support/Error.h"
#include "runtime/support/Variant.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace r3::replay {

/// Whether the kernel of V is not the program's own.
bool isSpecial(const Variant &V);

/// The closure of Kernel as V wants it, as bitcode. Parameters: their names,
/// in order. Usage where V knows what is no integer parameter and no part of
/// the launch, where a value does not fit, and where a part of the launch is a
/// constant beside a launch map; CannotRunHere as ir::remapBlocks.
Expected<std::vector<uint8_t>>
specialise(std::span<const uint8_t> Bitcode, const std::string &Kernel,
           std::span<const std::string> Parameters, const Variant &V);

} // namespace r3::replay
