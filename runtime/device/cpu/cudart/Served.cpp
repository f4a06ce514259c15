// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of served functions, and what each call begins and ends with.
#include "runtime/device/cpu/cudart/Served.h"

#include <cstring>

namespace r3::cudart {

State &State::get() {
  // Never destroyed: the program's last calls come from static destructors.
  static State *Instance = new State;
  return *Instance;
}

namespace {

enum class How { Checked, Always, Plain };

template <auto Function, How H, typename Type> struct Entry;

template <auto Function, How H, typename Result, typename... Arguments>
struct Entry<Function, H, Result(Arguments...)> {
  static Result CUDARTAPI call(Arguments... Values) {
    // CUDA reports what earlier launches did from any later call.
    if constexpr (H == How::Checked)
      if (cudaError_t Fault = faultCode())
        return note(Fault);
    if constexpr (H == How::Plain)
      return Function(Values...);
    else
      return note(Function(Values...));
  }
};

template <auto Function, How H, typename Type> const void *entry() {
  return reinterpret_cast<const void *>(&Entry<Function, H, Type>::call);
}

struct Row {
  const char *Name;
  const void *Function;
};

} // namespace

static const Row Rows[] = {
#define R3_SERVED(Name)                                                        \
  {"cuda" #Name, entry<&served##Name, How::Checked, decltype(::cuda##Name)>()},
#define R3_SERVED_ALWAYS(Name)                                                 \
  {"cuda" #Name, entry<&served##Name, How::Always, decltype(::cuda##Name)>()},
#define R3_SERVED_PLAIN(Name)                                                  \
  {"cuda" #Name, entry<&served##Name, How::Plain, decltype(::cuda##Name)>()},
#define R3_SERVED_OWN(Name, Suffix)                                            \
  {"cuda" #Name "_" #Suffix,                                                   \
   entry<&served##Name##_##Suffix, How::Checked, decltype(::cuda##Name)>()},
#include "runtime/device/cpu/cudart/Served.def"
};

} // namespace r3::cudart

const void *__r3_cpu_function(const char *Name) {
  for (const r3::cudart::Row &R : r3::cudart::Rows)
    if (!std::strcmp(R.Name, Name))
      return R.Function;
  return nullptr;
}
