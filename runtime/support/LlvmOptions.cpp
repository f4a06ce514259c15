// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/support/LlvmOptions.h"

#include <string>

namespace r3 {

std::span<const LlvmOption> llvmOptions() {
  static const std::vector<LlvmOption> Table = {
#define R3_LLVM_OPTION(Name, Least, Most, ...)                                 \
  {Name, Least, Most, {__VA_ARGS__}},
#include "runtime/support/LlvmOptions.def"
  };
  return Table;
}

const LlvmOption *findLlvmOption(std::string_view Name) {
  for (const LlvmOption &Option : llvmOptions())
    if (Option.Name == Name)
      return &Option;
  return nullptr;
}

Error checkLlvmOption(std::string_view Name, int64_t Value) {
  const LlvmOption *Option = findLlvmOption(Name);
  const std::string Text(Name);
  if (!Option) {
    std::string Known;
    for (const LlvmOption &Other : llvmOptions())
      Known += (Known.empty() ? "" : ", ") + std::string(Other.Name);
    return fail(ErrorCode::Damaged,
                "'%s' is no option of LLVM that a variant may set (%s)",
                Text.c_str(), Known.c_str());
  }
  if (Value < Option->Least || Value > Option->Most)
    return fail(ErrorCode::Damaged, "%s: %lld is not within %lld to %lld",
                Text.c_str(), static_cast<long long>(Value),
                static_cast<long long>(Option->Least),
                static_cast<long long>(Option->Most));
  return Error::success();
}

} // namespace r3
