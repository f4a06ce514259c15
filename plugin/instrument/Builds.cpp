// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugin/instrument/Builds.h"

#include "plugin/instrument/Count.h"
#include "plugin/instrument/Double.h"
#include "plugin/instrument/Freeze.h"
#include "plugin/instrument/NoOp.h"
#include "plugin/instrument/Remap.h"
#include "plugin/instrument/Round.h"

using namespace llvm;

namespace r3::instrument {

static Expected<TraceInfo> without(Error E) {
  if (E)
    return E;
  return TraceInfo();
}

static const BuildKind Kinds[] = {
    {"trace", /*InRegisters=*/true, /*Optimised=*/false,
     [](Module &M, ArrayRef<uint8_t>) { return addTrace(M); }},
    {"round", /*InRegisters=*/true, /*Optimised=*/false,
     [](Module &M, ArrayRef<uint8_t>) { return without(addRounding(M)); }},
    {"double", /*InRegisters=*/false, /*Optimised=*/false,
     [](Module &M, ArrayRef<uint8_t> Libdevice) {
       return without(evaluateInDouble(M, Libdevice));
     }},
    {"freeze-0", /*InRegisters=*/false, /*Optimised=*/false,
     [](Module &M, ArrayRef<uint8_t>) {
       return without(freezeUndefined(M, FreezeBytes[0]));
     }},
    {"freeze-1", /*InRegisters=*/false, /*Optimised=*/false,
     [](Module &M, ArrayRef<uint8_t>) {
       return without(freezeUndefined(M, FreezeBytes[1]));
     }},
    {"no-op", /*InRegisters=*/false, /*Optimised=*/false,
     [](Module &M, ArrayRef<uint8_t>) { return without(returnAtOnce(M)); }},
    {"permute", /*InRegisters=*/false, /*Optimised=*/false,
     [](Module &M, ArrayRef<uint8_t>) { return without(addRemap(M)); }},
    {"count", /*InRegisters=*/false, /*Optimised=*/true,
     [](Module &M, ArrayRef<uint8_t>) { return addCounting(M); }},
};

ArrayRef<BuildKind> buildKinds() { return Kinds; }

Expected<const BuildKind *> findBuildKind(StringRef Name) {
  std::string Known;
  for (const BuildKind &Kind : Kinds) {
    if (Name == Kind.Name)
      return &Kind;
    Known += (Known.empty() ? "" : ", ") + std::string(Kind.Name);
  }
  return fail(ErrorCode::Usage, "no instrumented build '%s' (there are %s)",
              Name.str().c_str(), Known.c_str());
}

} // namespace r3::instrument
