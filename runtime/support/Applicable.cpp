// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/support/Applicable.h"

namespace r3 {

std::string notApplicable(const Variant &V) {
  if (!V.Patch.empty())
    return "a source patch";
  if (!V.Launch.empty())
    return "a launch map";
  if (!V.Specialise.empty() || !V.Guards.empty())
    return "a specialisation";
  if (!V.PtxasLevel.empty())
    return "its own ptxas level";
  if (V.MaxThreads)
    return "launch bounds of its own";
  if (!V.Arch.empty())
    return "an architecture of its own";
  if (!V.Remap.empty())
    return "another shape of block";
  return {};
}

} // namespace r3
