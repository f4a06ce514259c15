// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The check "precision": what the PTX of a variant computes less exactly than
// that of the original (trust/Precision.h). On the CPU device the PTX is made
// for this alone, for the architecture that was recorded.
#include "wrapper/replay/Evaluation.h"

#include "wrapper/trust/Precision.h"

namespace r3::replay {

Session::CheckOutcome Session::checkPrecision(Evaluation &E) {
  if (E.Change.isOriginal())
    return {{}, "it is the original"};
  auto Build = [&](const std::string &VariantJson) {
    return Compiler->build(VariantJson, Setup.BuildDeadlineMs, "ptx");
  };
  auto Read = [](const std::vector<uint8_t> &Text) {
    return trust::readPtx(
        {reinterpret_cast<const char *>(Text.data()), Text.size()});
  };
  if (!OriginalPtx) {
    const auto B = Build("{}");
    if (B.Ending != Outcome::Ok)
      return {{B.Ending, "the PTX of the original: " + B.Message}, ""};
    OriginalPtx = Read(B.Binary);
  }
  const auto B = Build(E.Change.canonicalJson());
  if (B.Ending != Outcome::Ok)
    return {{B.Ending, "its PTX: " + B.Message}, ""};
  std::string Found = trust::lessPrecise(*OriginalPtx, Read(B.Binary));
  if (!E.AllowPrecision && !Found.empty())
    return {{Outcome::Refused, Found + " (--allow-precision)"}, ""};
  if (!E.B.LessPrecise.empty())
    Found += (Found.empty() ? "" : "; ") + E.B.LessPrecise;
  return {{Outcome::Ok,
           Found.empty() ? Found : "less precision is allowed: " + Found},
          ""};
}

} // namespace r3::replay
