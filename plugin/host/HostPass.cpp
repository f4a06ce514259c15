// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A unit's device parts wait in the hand-over folder, one an architecture. They
// are merged into one descriptor here, since a unit is what the runtime knows.
#include "plugin/host/HostPass.h"

#include "plugin/Compilation.h"
#include "plugin/host/Embed.h"
#include "plugin/host/Registrations.h"
#include "plugin/host/Shims.h"
#include "runtime/support/Files.h"
#include "runtime/support/Unit.h"

#include <unistd.h>

using namespace llvm;

namespace r3::plugin {

static constexpr const char *Mark = "r3.host";

static void mergeKernel(Unit &Whole, const UnitKernel &Kernel) {
  for (UnitKernel &There : Whole.Kernels)
    if (There.Name == Kernel.Name) {
      There.Code.insert(Kernel.Code.begin(), Kernel.Code.end());
      return;
    }
  Whole.Kernels.push_back(Kernel);
}

static void merge(Unit &Whole, const Unit &Part) {
  Whole.Commands.insert(Part.Commands.begin(), Part.Commands.end());
  for (const UnitKernel &Kernel : Part.Kernels)
    mergeKernel(Whole, Kernel);
  for (const UnitGlobal &Global : Part.Globals)
    if (none_of(Whole.Globals, [&](const UnitGlobal &There) {
          return There.Name == Global.Name;
        }))
      Whole.Globals.push_back(Global);
  Whole.Modules.insert(Whole.Modules.end(), Part.Modules.begin(),
                       Part.Modules.end());
}

static Expected<Unit> readPart(const std::string &Path) {
  Expected<std::vector<uint8_t>> Bytes = readFile(Path);
  if (!Bytes)
    return Bytes.error();
  return Unit::parseSection(*Bytes, Path);
}

/// All parts of the unit in one. NotFound where the device compiles left none.
static Expected<Unit> collectUnit(const Compilation &C) {
  Expected<std::string> Folder = handoverFolder(C, /*Create=*/false);
  if (!Folder)
    return Folder.error();
  std::optional<Unit> Whole;
  for (const std::string &Path : handoverParts(C, *Folder)) {
    Expected<Unit> Part = readPart(Path);
    unlink(Path.c_str());
    if (!Part)
      return Part.error();
    if (Whole)
      merge(*Whole, *Part);
    else
      Whole = std::move(*Part);
  }
  if (C.Folder.empty())
    rmdir(Folder->c_str()); // stays while another unit's parts are there
  if (!Whole)
    return fail(ErrorCode::NotFound, "%s: nothing from the device compile",
                Folder->c_str());
  return std::move(*Whole);
}

static void markVisible(Unit &U, const Registrations &Found) {
  for (UnitGlobal &Global : U.Globals)
    Global.HostVisible = any_of(Found.Variables, [&](const Registration &R) {
      return R.Name == Global.Name;
    });
}

static void embedUnit(Module &M, const Registrations &Found, Unit &U) {
  markVisible(U, Found);
  std::string Id;
  std::vector<uint8_t> Bytes = U.serialize(Id);
  emitUnitTable(M, Found, Id);
  emitSection(M, Id, Bytes);
}

/// The unit, or nothing where there is none: said, with the reason.
static std::optional<Unit> findUnit(const Compilation &C, Module &M,
                                    const Registrations &Found) {
  if (C.HostOnly)
    C.note(M, "host-only",
           "--cuda-host-only: there is no device code to embed");
  Expected<Unit> U = collectUnit(C); // also takes the parts away
  if (C.HostOnly || Found.Kernels.empty())
    return std::nullopt;
  if (U)
    return std::move(*U);
  C.warn(M, "no-bitcode", "no device code to embed: " + U.error().message());
  return std::nullopt;
}

bool instrumentHost(Module &M) {
  if (M.getNamedMetadata(Mark))
    return false;
  Registrations Found = readRegistrations(M);
  std::vector<ApiUse> Uses = findApiUses(M);
  if (Found.empty() && Uses.empty())
    return false;
  M.getOrInsertNamedMetadata(Mark);
  Compilation C = Compilation::read(M);
  C.status(M, "entered");
  if (C.Embeds) {
    std::optional<Unit> U = findUnit(C, M, Found);
    // The stub's own use of the CUDA runtime must not go through R3, so it
    // comes last.
    redirect(M, Uses, declareImage(M));
    Error Problem = linkStub(M);
    if (Problem)
      C.warn(M, "stub", Problem.message());
    else if (U)
      embedUnit(M, Found, *U);
  }
  C.status(M, "left");
  return true;
}

} // namespace r3::plugin
