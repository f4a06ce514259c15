// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugin/ir/ScopedOptions.h"

#include "runtime/support/LlvmOptions.h"

using namespace llvm;

namespace r3::ir {

ScopedOptions::~ScopedOptions() {
  for (cl::Option *Option : Changed)
    Option->reset();
}

static std::string textOf(const LlvmOption &Option, int64_t Value) {
  if (Option.isFlag())
    return Value ? "true" : "false";
  return std::to_string(Value);
}

Error ScopedOptions::set(const std::map<std::string, int64_t> &Values) {
  if (Values.empty())
    return Error::success();
  static std::mutex Mutex;
  Lock = std::unique_lock(Mutex);
  for (const auto &[Name, Value] : Values) {
    if (Error Problem = checkLlvmOption(Name, Value))
      return Problem;
    auto &Registered = cl::getRegisteredOptions();
    auto Found = Registered.find(Name);
    if (Found == Registered.end())
      return fail(ErrorCode::CannotRunHere, "this LLVM has no option '%s'",
                  Name.c_str());
    cl::Option *Option = Found->second;
    if (Option->getNumOccurrences())
      return fail(ErrorCode::CannotRunHere,
                  "the compiler was started with -mllvm -%s itself",
                  Name.c_str());
    Changed.push_back(Option);
    if (Option->addOccurrence(0, Name, textOf(*findLlvmOption(Name), Value)))
      return fail(ErrorCode::Failed, "LLVM does not take -%s=%lld",
                  Name.c_str(), static_cast<long long>(Value));
  }
  return Error::success();
}

} // namespace r3::ir
