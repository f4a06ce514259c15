// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/trust/Precision.h"

#include "runtime/support/Error.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>

namespace r3::trust {

namespace {

using Counts = std::map<std::string, uint64_t>;
using Part = std::string_view;
using Parts = std::vector<Part>;

constexpr Part PlainF32 = "f32 arithmetic";

Parts partsOf(Part Name) {
  Parts Result;
  for (size_t Dot; (Dot = Name.find('.')) != Part::npos;
       Name.remove_prefix(Dot + 1))
    Result.push_back(Name.substr(0, Dot));
  Result.push_back(Name);
  return Result;
}

bool has(const Parts &All, Part Wanted) {
  return std::find(All.begin(), All.end(), Wanted) != All.end();
}

bool isDigit(char C) { return C >= '0' && C <= '9'; }

/// A number of at most 8 bits: e4m3, e5m2x2, ue8m0x2, ...
bool isTiny(Part Type) {
  if (Type.starts_with("u"))
    Type.remove_prefix(1);
  return Type.size() >= 4 && Type[0] == 'e' && isDigit(Type[1]) &&
         Type[2] == 'm' && isDigit(Type[3]);
}

bool isShort(Part Type) {
  return Type == "f16" || Type == "f16x2" || Type == "bf16" ||
         Type == "bf16x2" || Type == "tf32" || isTiny(Type);
}

bool isType(Part P) {
  return isShort(P) || (P.size() > 1 && isDigit(P[1]) &&
                        Part("fsub").find(P[0]) != Part::npos);
}

/// The first type that an instruction names: its result's; without the "x2" of
/// a pair.
std::string typeOf(const Parts &P) {
  const auto Found = std::find_if(P.begin() + 1, P.end(), isType);
  if (Found == P.end())
    return {};
  return std::string(Found->substr(0, Found->find('x')));
}

unsigned widthOf(const Parts &P) {
  for (Part Each : P)
    if (isType(Each) && Each.ends_with("x2"))
      return 2;
  return 1;
}

bool isArithmetic(Part Base) {
  constexpr Part Known[] = {"add", "sub", "mul",  "fma", "mad",
                            "div", "rcp", "sqrt", "red", "atom"};
  return std::find(std::begin(Known), std::end(Known), Base) != std::end(Known);
}

/// A tensor core's: whole numbers and doubles are exact there.
std::optional<bool> isShortProduct(const Parts &P) {
  if (!has(P, "mma") && !has(P, "mma_async") && P[0] != "mma")
    return {};
  return std::any_of(P.begin(), P.end(), [](Part Each) {
    return isShort(Each) || (Each.starts_with("kind::") && Each != "kind::i8");
  });
}

/// What an instruction gives up; empty: nothing.
std::string kindOf(const std::string &Name, const Parts &P) {
  if (has(P, "approx") || has(P, "full"))
    return Name;
  if (auto Short = isShortProduct(P))
    return *Short ? Name : "";
  const std::string Type = typeOf(P);
  const bool Flushes = has(P, "ftz");
  const bool IsFloat = isShort(Type) || Type == "f32" || Type == "f64";
  if (!IsFloat || (!isArithmetic(P[0]) && P[0] != "cvt" && !Flushes))
    return {};
  std::string Kind = P[0] == "cvt" && isShort(Type) ? "conversions to " + Type
                                                    : Type + " arithmetic";
  for (Part How : {"ftz", "rz", "rm", "rp"})
    if (has(P, How))
      Kind += " with ." + std::string(How);
  return Kind == "f64 arithmetic" ? "" : Kind;
}

/// What copies of code repeat: loads, stores, exact arithmetic.
std::string ordinary(const Parts &P) {
  if (P[0] == "ld" || P[0] == "st") {
    if (has(P, "param"))
      return {};
    return std::string(P[0]) + (has(P, "global")   ? ".global"
                                : has(P, "shared") ? ".shared"
                                                   : "");
  }
  const std::string Type = typeOf(P);
  return isArithmetic(P[0]) && (Type == "f32" || Type == "f64")
             ? std::string(P[0]) + "." + Type
             : "";
}

unsigned vectorWidth(const Parts &P) {
  return has(P, "v8") ? 8 : has(P, "v4") ? 4 : has(P, "v2") ? 2 : 1;
}

struct Profile {
  Counts Less, Ordinary;
  bool HasF64 = false;

  explicit Profile(const Ptx &Text) {
    for (const auto &[Name, Count] : Text.Instructions) {
      const Parts P = partsOf(Name);
      const std::string Kind = kindOf(Name, P);
      if (!Kind.empty())
        Less[Kind] += Count * widthOf(P);
      if (std::string Key = ordinary(P);
          !Key.empty() && (Kind.empty() || Kind == PlainF32))
        Ordinary[Key] += Count * vectorWidth(P) * widthOf(P);
      HasF64 |= isArithmetic(P[0]) && typeOf(P) == "f64";
    }
  }

  uint64_t count(const std::string &Kind) const {
    const auto Found = Less.find(Kind);
    return Found == Less.end() ? 0 : Found->second;
  }
};

/// Exact divisions and roots: what approximations take the place of.
bool isReplaceable(const std::string &Key) {
  return Key.starts_with("div.") || Key.starts_with("rcp.") ||
         Key.starts_with("sqrt.");
}

/// How many times the most repeated ordinary instruction was repeated. Not at
/// all, where some were replaced.
double growth(const Profile &Original, const Profile &Variant, bool CountsF32) {
  double Most = 1;
  for (const auto &[Key, Had] : Original.Ordinary) {
    const auto Found = Variant.Ordinary.find(Key);
    const uint64_t Has = Found == Variant.Ordinary.end() ? 0 : Found->second;
    if (Has < Had && isReplaceable(Key))
      return 1;
    if (CountsF32 || !Key.ends_with("f32"))
      Most = std::max(Most, double(Has) / double(Had));
  }
  return Most;
}

} // namespace

std::string lessPrecise(const Ptx &Original, const Ptx &Variant) {
  const Profile Before(Original), After(Variant);
  uint64_t Total = 0;
  std::string List;
  for (const auto &[Kind, Count] : After.Less) {
    const uint64_t Had = Before.count(Kind);
    const bool IsF32 = Kind == PlainF32;
    if (IsF32 && Had && !Before.HasF64)
      continue;
    const double Allowed =
        std::floor(double(Had) * growth(Before, After, /*CountsF32=*/!IsF32));
    if (double(Count) <= Allowed)
      continue;
    Total += Count - Had;
    List +=
        (List.empty() ? "" : ", ") + Kind + " x " + std::to_string(Count - Had);
  }
  if (!Total)
    return {};
  return format("%llu less exact %s: ", static_cast<unsigned long long>(Total),
                Total == 1 ? "instruction" : "instructions") +
         List;
}

} // namespace r3::trust
