// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A variant must not hang on what is undefined: local and shared memory that it
// has not written hold on a GPU what was there before, often zero. It is built
// twice more, with undefined values, variables and shared memory filled with
// one of two patterns (plugin/instrument/Freeze.h), and both builds must be as
// right as the plain one.
#include "wrapper/replay/Evaluation.h"

#include <algorithm>

namespace r3::replay {

namespace {
constexpr const char *FrozenBuilds[] = {"freeze-0", "freeze-1"};
} // namespace

/// Runs a frozen build of VariantJson on each recording. NotMade: why there is
/// no such build.
Session::CheckOutcome Session::runFrozen(const std::string &VariantJson,
                                         size_t Pattern, Evaluation &E) {
  Build B = Compiler->build(VariantJson, Setup.BuildDeadlineMs,
                            FrozenBuilds[Pattern]);
  if (B.Ending != Outcome::Ok)
    return {{},
            std::string("the build ") + FrozenBuilds[Pattern] +
                " fails: " + B.Message};
  Attempt Loaded = VariantJson == "{}"
                       ? Device->setCode(FrozenSlot, std::move(B.Binary),
                                         Kernel->first().Name)
                       : loadVariant(FrozenSlot, std::move(B.Binary), E);
  if (!Loaded.ok())
    return {{},
            std::string("the build ") + FrozenBuilds[Pattern] +
                " cannot be loaded: " + Loaded.Message};
  return {forEach(E.Recordings,
                  [&](size_t Index) {
                    double Ns = 0;
                    return runSlot(Index, FrozenSlot, Pattern, Ns, E);
                  }),
          ""};
}

/// The original is asked only where a variant fails: then it may do so, too.
Session::CheckOutcome Session::checkFrozen(Evaluation &E) {
  const std::string Tolerance = E.Tolerance; // that of the plain build
  CheckOutcome Found;
  for (size_t Pattern = 0; Pattern < std::size(FrozenBuilds); ++Pattern) {
    Found = runFrozen(E.Change.canonicalJson(), Pattern, E);
    if (Found.NotMade.empty() && !Found.Verdict.ok()) {
      const CheckOutcome Original = runFrozen("{}", Pattern, E);
      if (!Original.Verdict.ok())
        Found = {{},
                 "the original itself depends on undefined values: " +
                     Original.Verdict.Message};
      else
        Found.Verdict.Message =
            "with undefined values frozen: " + Found.Verdict.Message;
    }
    if (!Found.NotMade.empty() || !Found.Verdict.ok())
      break;
  }
  E.Tolerance = Tolerance;
  return Found;
}

} // namespace r3::replay
