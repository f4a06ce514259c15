// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device's printf. Arguments come packed as in a struct: integers of 4 or
// 8 bytes, doubles and pointers of 8, each at its own alignment.
#include "runtime/device/cpu/RuntimeCalls.h"

#include <cstdio>
#include <cstring>
#include <string>

namespace r3::cpu {

namespace {

class Printer {
public:
  Printer(const char *Format, const void *Arguments)
      : At(Format), Next(static_cast<const char *>(Arguments)) {}

  int32_t run() {
    while (*At) {
      if (*At != '%') {
        const char *End = std::strchr(At, '%');
        size_t Length = End ? size_t(End - At) : std::strlen(At);
        Out.append(At, Length);
        At += Length;
      } else {
        conversion();
      }
    }
    std::fwrite(Out.data(), 1, Out.size(), stdout);
    return Count;
  }

private:
  const char *At;
  const char *Next;
  std::string Out;
  int32_t Count = 0;

  template <typename Type> Type take() {
    auto Where = reinterpret_cast<uintptr_t>(Next);
    Where = (Where + sizeof(Type) - 1) / sizeof(Type) * sizeof(Type);
    Type Value;
    std::memcpy(&Value, reinterpret_cast<const void *>(Where), sizeof(Type));
    Next = reinterpret_cast<const char *>(Where + sizeof(Type));
    ++Count;
    return Value;
  }

  template <typename Type> void print(const std::string &Spec, Type Value) {
    char Small[128];
    int Length = std::snprintf(Small, sizeof(Small), Spec.c_str(), Value);
    if (Length < 0)
      return;
    if (size_t(Length) < sizeof(Small)) {
      Out.append(Small, size_t(Length));
      return;
    }
    std::string Large(size_t(Length) + 1, 0);
    std::snprintf(Large.data(), Large.size(), Spec.c_str(), Value);
    Out.append(Large.data(), size_t(Length));
  }

  /// Flags, width and precision, with '*' replaced by the argument.
  std::string fields() {
    std::string Spec = "%";
    for (++At; *At && std::strchr("-+ #0123456789.*", *At); ++At)
      if (*At == '*')
        Spec += std::to_string(take<int32_t>());
      else
        Spec += *At;
    return Spec;
  }

  void conversion() {
    std::string Spec = fields();
    bool Long = false;
    for (; *At && std::strchr("hljztL", *At); ++At)
      Long |= *At != 'h';
    char Kind = *At;
    if (Kind)
      ++At;
    switch (Kind) {
    case '%':
      Out += '%';
      return;
    case 'd':
    case 'i':
      return print<long long>(Spec + "lld",
                              Long ? take<long long>() : take<int32_t>());
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      return print<unsigned long long>(Spec + "ll" + Kind,
                                       Long ? take<unsigned long long>()
                                            : take<uint32_t>());
    case 'c':
      return print(Spec + "c", take<int32_t>());
    case 's':
      return string(Spec);
    case 'p':
      return print(Spec + "p", take<const void *>());
    default:
      if (Kind && std::strchr("fFeEgGaA", Kind))
        return print(Spec + Kind, take<double>());
      Out += Spec; // as it stands
      if (Kind)
        Out += Kind;
    }
  }

  void string(const std::string &Spec) {
    const char *Text = take<const char *>();
    print(Spec + "s", Text ? Text : "(null)");
  }
};

} // namespace

extern "C" int32_t __r3_cpu_print(ThreadContext *, const char *Format,
                                  const void *Arguments) {
  return Printer(Format, Arguments).run();
}

} // namespace r3::cpu
