// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Specialised scalars: a parameter whose value a variant knows becomes that
// constant in the kernel. It stays in the signature.
#pragma once

#include "runtime/support/Error.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace r3::replay {

/// Bitcode with the parameters of Kernel that Values names replaced.
/// Parameters: their names, in order. Usage where there is no such integer
/// parameter, or the value does not fit into it.
Expected<std::vector<uint8_t>>
specialise(std::span<const uint8_t> Bitcode, const std::string &Kernel,
           std::span<const std::string> Parameters,
           const std::map<std::string, int64_t> &Values);

} // namespace r3::replay
