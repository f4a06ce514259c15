// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a launch of code that counts its operations has counted.
#include "wrapper/replay/Runner.h"

#include "runtime/support/CountAbi.h"

namespace r3::replay {

Expected<Address> Runner::countersOf(const LoadedCode &Code) {
  auto Where = Code.Module->global(count::CountState);
  if (!Where || Where->Size != sizeof(Operations))
    return fail(ErrorCode::Failed, "the code was not built for counting");
  return Where->Begin;
}

Expected<Operations> Runner::readCounters(const LoadedCode &Code) {
  auto Where = countersOf(Code);
  if (!Where)
    return Where.error();
  Operations Found;
  if (Error E = D.copyToHost(&Found, *Where, sizeof(Found), Stream))
    return E;
  if (Error E = D.synchronize(Stream, WaitMs))
    return E;
  return Found;
}

} // namespace r3::replay
