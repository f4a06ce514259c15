// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checks of a variant's PTX against that of the original: "precision", what
// it computes less exactly (trust/Precision.h), and "cache", what it leaves to
// the L2 cache (trust/Ptx.h). On the CPU device the PTX is made for them alone,
// for the architecture that was recorded.
#include "wrapper/replay/Evaluation.h"

#include "wrapper/trust/Precision.h"

namespace r3::replay {

/// Into: nothing yet; stays so where the PTX cannot be made.
trust::Judgement Session::readPtx(const std::string &VariantJson,
                                  std::optional<trust::Ptx> &Into) {
  if (Into)
    return {};
  const auto B = Compiler->build(VariantJson, Setup.BuildDeadlineMs, "ptx");
  if (B.Ending != Outcome::Ok)
    return {B.Ending, B.Message};
  Into = trust::readPtx(
      {reinterpret_cast<const char *>(B.Binary.data()), B.Binary.size()});
  return {};
}

trust::Judgement Session::readBothPtx(Evaluation &E) {
  if (auto J = readPtx("{}", OriginalPtx); !J.ok())
    return {J.Result, "the PTX of the original: " + J.Message};
  if (auto J = readPtx(E.Change.canonicalJson(), E.Ptx); !J.ok())
    return {J.Result, "its PTX: " + J.Message};
  return {};
}

Session::CheckOutcome Session::checkPrecision(Evaluation &E) {
  if (E.Change.isOriginal())
    return {{}, "it is the original"};
  if (auto J = readBothPtx(E); !J.ok())
    return {J, ""};
  std::string Found = trust::lessPrecise(*OriginalPtx, *E.Ptx);
  if (!E.AllowPrecision && !Found.empty())
    return {{Outcome::Refused, Found + " (--allow-precision)"}, ""};
  if (!E.B.LessPrecise.empty())
    Found += (Found.empty() ? "" : "; ") + E.B.LessPrecise;
  return {{Outcome::Ok,
           Found.empty() ? Found : "less precision is allowed: " + Found},
          ""};
}

Session::CheckOutcome Session::checkCache(Evaluation &E) {
  if (E.Change.isOriginal())
    return {{}, "it is the original"};
  if (auto J = readBothPtx(E); !J.ok())
    return {J, ""};
  std::string Found = trust::newCachePolicy(*OriginalPtx, *E.Ptx);
  return {{Found.empty() ? Outcome::Ok : Outcome::Refused, std::move(Found)},
          ""};
}

} // namespace r3::replay
