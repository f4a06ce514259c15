// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugin/instrument/MathNames.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;

namespace r3::instrument {

namespace {

/// Names of libdevice without "__nv_".
StringRef libdeviceName(StringRef Name) {
  return Name.consume_front("__nv_") ? Name : StringRef();
}

std::string roundedOfLibdevice(StringRef Name) {
  return StringSwitch<std::string>(Name)
      .Cases({"fadd_rn", "dadd_rn"}, "add")
      .Cases({"fsub_rn", "dsub_rn"}, "sub")
      .Cases({"fmul_rn", "dmul_rn"}, "mul")
      .Cases({"fdiv_rn", "ddiv_rn"}, "div")
      .Cases({"frcp_rn", "drcp_rn"}, "rcp")
      .Cases({"fsqrt_rn", "dsqrt_rn", "sqrtf", "sqrt"}, "sqrt")
      .Cases({"fmaf_rn", "fma_rn", "fmaf", "fma", "fmaf_ieee_rn"}, "fma")
      .Case("double2float_rn", "narrow")
      .Case("int2float_rn", "i32")
      .Case("uint2float_rn", "u32")
      .Cases({"ll2float_rn", "ll2double_rn"}, "i64")
      .Cases({"ull2float_rn", "ull2double_rn"}, "u64")
      .Default("");
}

/// llvm.nvvm.add.rn.ftz.f and the like.
std::string roundedOfNvvm(StringRef Name) {
  SmallVector<StringRef, 6> Parts;
  Name.split(Parts, '.');
  if (Parts.size() < 2 || (Parts.back() != "f" && Parts.back() != "d"))
    return {};
  const bool IsNearest =
      Parts.size() == 3
          ? Parts[1] == "rn"
          : Parts.size() == 4 && Parts[1] == "rn" && Parts[2] == "ftz";
  static const StringSet<> Known = {"add", "mul", "div", "rcp", "sqrt", "fma"};
  return IsNearest && Known.contains(Parts[0]) ? Parts[0].str() : "";
}

bool isDirected(StringRef Name) {
  return Name.ends_with("_rd") || Name.ends_with("_ru") ||
         Name.ends_with("_rz");
}

bool isExactInLibdevice(StringRef Name) {
  static const StringSet<> Exact = {
      "fabs",  "floor",    "ceil",      "trunc",     "round", "rint",
      "fmin",  "fmax",     "nearbyint", "nextafter", "fmod",  "remainder",
      "ldexp", "copysign", "scalbn",    "remquo",    "logb",  "frexp",
      "modf",  "saturate", "nan"};
  static const StringSet<> Conversions = {
      "int_as_float", "uint_as_float", "longlong_as_double", "hiloint2double",
      "half2float",   "int2double_rn", "uint2double_rn",     "saturatef"};
  if (isDirected(Name) || Conversions.contains(Name) || Exact.contains(Name))
    return true;
  return Name.consume_back("f") && Exact.contains(Name);
}

bool isInexactIntrinsic(const Function &F) {
  switch (F.getIntrinsicID()) {
  case Intrinsic::sin:
  case Intrinsic::cos:
  case Intrinsic::tan:
  case Intrinsic::asin:
  case Intrinsic::acos:
  case Intrinsic::atan:
  case Intrinsic::atan2:
  case Intrinsic::sinh:
  case Intrinsic::cosh:
  case Intrinsic::tanh:
  case Intrinsic::exp:
  case Intrinsic::exp2:
  case Intrinsic::exp10:
  case Intrinsic::log:
  case Intrinsic::log2:
  case Intrinsic::log10:
  case Intrinsic::pow:
  case Intrinsic::powi:
    return true;
  default:
    return F.getName().starts_with("llvm.nvvm.") &&
           (F.getName().contains(".approx") ||
            F.getName() == "llvm.nvvm.div.full" ||
            F.getName() == "llvm.nvvm.div.full.ftz");
  }
}

} // namespace

std::string roundedOperation(const Function &F) {
  switch (F.getIntrinsicID()) {
  case Intrinsic::fma:
  case Intrinsic::fmuladd:
    return "fma";
  case Intrinsic::sqrt:
    return "sqrt";
  default:
    break;
  }
  StringRef Name = F.getName();
  if (Name == "llvm.nvvm.sqrt.f")
    return "sqrt";
  if (Name.consume_front("llvm.nvvm."))
    return roundedOfNvvm(Name);
  return roundedOfLibdevice(libdeviceName(Name));
}

bool isInexact(const Function &F) {
  if (F.isIntrinsic())
    return isInexactIntrinsic(F);
  StringRef Name = libdeviceName(F.getName());
  return !Name.empty() && roundedOperation(F).empty() &&
         !isExactInLibdevice(Name);
}

bool hasRealsByPointer(const Function &F) {
  StringRef Name = libdeviceName(F.getName());
  return StringSwitch<bool>(Name)
      .Cases({"sincos", "sincosf", "sincospi", "sincospif", "fast_sincosf"},
             true)
      .Default(false);
}

std::string nameInDouble(StringRef Name) {
  Name = libdeviceName(Name);
  if (Name.empty() || isDirected(Name))
    return {};
  std::string Twin = StringSwitch<std::string>(Name)
                         .Case("fadd_rn", "dadd_rn")
                         .Case("fsub_rn", "dsub_rn")
                         .Case("fmul_rn", "dmul_rn")
                         .Case("fdiv_rn", "ddiv_rn")
                         .Case("frcp_rn", "drcp_rn")
                         .Case("fsqrt_rn", "dsqrt_rn")
                         .Case("frsqrt_rn", "rsqrt")
                         .Cases({"fmaf_rn", "fmaf_ieee_rn"}, "fma_rn")
                         .Case("fast_fdividef", "ddiv_rn")
                         .Default("");
  if (Twin.empty() && !Name.ends_with("_rn")) {
    Name.consume_front("fast_");
    if (Name.consume_back("f"))
      Twin = Name.str();
  }
  return Twin.empty() ? "" : "__nv_" + Twin;
}

} // namespace r3::instrument
