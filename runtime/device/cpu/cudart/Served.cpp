// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of served functions, and what each call begins and ends with.
#include "runtime/device/cpu/cudart/Served.h"

#include <cstring>
#include <type_traits>

namespace r3::cudart {

State &State::get() {
  // Never destroyed: the program's last calls come from static destructors.
  static State *Instance = new State;
  return *Instance;
}

namespace {

template <auto Function, bool Always, typename Type> struct Entry;

template <auto Function, bool Always, typename Result, typename... Arguments>
struct Entry<Function, Always, Result(Arguments...)> {
  static Result CUDARTAPI call(Arguments... Values) {
    if constexpr (std::is_same_v<Result, cudaError_t> && !Always) {
      // CUDA reports what earlier launches did from any later call.
      if (cudaError_t Fault = faultCode())
        return note(Fault);
      return note(Function(Values...));
    } else {
      return Function(Values...);
    }
  }
};

struct Row {
  const char *Name;
  const void *Function;
};

template <auto Function, bool Always, typename Type> const void *entry() {
  return reinterpret_cast<const void *>(&Entry<Function, Always, Type>::call);
}

/// Works after a fault, but its errors are kept as anybody's.
template <auto Function, typename Type> struct Noting;
template <auto Function, typename... Arguments>
struct Noting<Function, cudaError_t(Arguments...)> {
  static cudaError_t call(Arguments... Values) {
    return note(Function(Values...));
  }
};

template <auto Function, typename Type> const void *always() {
  // The last error itself must not become a new one.
  constexpr bool IsQuestion = std::is_same_v<Type, cudaError_t()> &&
                              (Function == &servedGetLastError ||
                               Function == &servedPeekAtLastError);
  if constexpr (IsQuestion || !std::is_same_v<std::invoke_result_t<
                                  decltype(&servedGetLastError)>,
                              cudaError_t>)
    return entry<Function, true, Type>();
  else
    return entry<Function, true, Type>();
}

} // namespace

static const Row Rows[] = {
#define R3_SERVED(Name)                                                        \
  {"cuda" #Name, entry<&served##Name, false, decltype(::cuda##Name)>()},
#define R3_SERVED_ALWAYS(Name)                                                 \
  {"cuda" #Name, entry<&served##Name, true, decltype(::cuda##Name)>()},
#define R3_SERVED_OWN(Name, Suffix)                                            \
  {"cuda" #Name "_" #Suffix,                                                   \
   entry<&served##Name##_##Suffix, false, decltype(::cuda##Name)>()},
#include "runtime/device/cpu/cudart/Served.def"
};

} // namespace r3::cudart

const void *__r3_cpu_function(const char *Name) {
  for (const r3::cudart::Row &R : r3::cudart::Rows)
    if (!std::strcmp(R.Name, Name))
      return R.Function;
  return nullptr;
}
