// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file that contains a unit's table is the one that contains its section:
// both are in the same object. The main program's name may be relative or
// gone, so it is read through /proc/self/exe.
#include "runtime/record/Units.h"

#include "runtime/record/Kernel.h"

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <link.h>

namespace r3::record {

static std::string fileOf(const void *Address) {
  Dl_info Info;
  struct link_map *Map = nullptr;
  if (!dladdr1(Address, &Info, reinterpret_cast<void **>(&Map),
               RTLD_DL_LINKMAP))
    return {};
  if (!Map || !Map->l_name || !*Map->l_name)
    return "/proc/self/exe";
  return Map->l_name;
}

uint64_t fatbinSize(const void *Data) {
  struct Header {
    uint32_t Magic;
    uint16_t Version;
    uint16_t HeaderSize;
    uint64_t FatSize;
  } H;
  constexpr uint32_t Magic = 0xba55ed50u;
  if (!Data)
    return 0;
  std::memcpy(&H, Data, sizeof(H));
  if (H.Magic != Magic || H.HeaderSize < sizeof(H) || H.FatSize > (1ull << 40))
    return 0;
  return H.HeaderSize + H.FatSize;
}

/// "sm_90a" -> 90; 0 where Arch is not a GPU's.
static unsigned archNumber(const std::string &Arch) {
  if (Arch.rfind("sm_", 0) != 0)
    return 0;
  return unsigned(std::strtoul(Arch.c_str() + 3, nullptr, 10));
}

const UnitModule *LoadedUnit::moduleFor(const std::string &Arch) const {
  unsigned Wanted = archNumber(Arch);
  const UnitModule *Best = nullptr;
  for (const UnitModule &M : Unit->Modules) {
    if (M.Arch == Arch)
      return &M;
    unsigned Number = archNumber(M.Arch);
    // "sm_90a" runs on that very architecture alone.
    bool Special = !M.Arch.empty() && !std::isdigit(M.Arch.back());
    if (Wanted && (Number > Wanted || (Special && Number != Wanted)))
      continue;
    if (!Best || Number > archNumber(Best->Arch))
      Best = &M;
  }
  return Best;
}

const void *LoadedUnit::hostOf(const std::string &Global) const {
  for (uint32_t I = 0; I < Table->GlobalCount; ++I)
    if (Global == Table->Globals[I].Name)
      return Table->Globals[I].Host;
  return nullptr;
}

std::span<const uint8_t> LoadedUnit::fatbin() const {
  struct Wrapper {
    int32_t Magic, Version;
    const void *Data;
    const void *Unused;
  };
  constexpr int32_t Magic = 0x466243b1;
  auto *W = static_cast<const Wrapper *>(Table->Fatbin);
  if (!W || W->Magic != Magic)
    return {};
  return {static_cast<const uint8_t *>(W->Data), fatbinSize(W->Data)};
}

Units::Units(FileOf Finder) : Finder(Finder ? Finder : fileOf) {}

Units::~Units() = default;

void Units::attach(R3UnitTable *Table) {
  if (!Table || Table->Version != R3_IMAGE_VERSION)
    return;
  std::unique_lock Guard(Lock);
  Tables.push_back(Table);
  for (uint32_t I = 0; I < Table->KernelCount; ++I) {
    const R3KernelEntry &Entry = Table->Kernels[I];
    KernelState *&Place = Kernels[Entry.Handle];
    if (Place)
      continue;
    Place = States.emplace_back(std::make_unique<KernelState>()).get();
    Place->Handle = Entry.Handle;
    Place->Name = Entry.Name;
    Place->Table = Table;
  }
  ++Changes;
}

void Units::detach(R3UnitTable *Table) {
  std::unique_lock Guard(Lock);
  // States stay allocated: a record of theirs may still be written.
  std::erase_if(Kernels,
                [&](const auto &K) { return K.second->Table == Table; });
  std::erase(Tables, Table);
  ++Changes;
  Guard.unlock();
  std::lock_guard Loading(LoadLock);
  Loaded.erase(Table);
}

KernelState *Units::find(const void *Handle) const {
  std::shared_lock Guard(Lock);
  auto It = Kernels.find(Handle);
  return It == Kernels.end() ? nullptr : It->second;
}

std::vector<R3UnitTable *> Units::attached() const {
  std::shared_lock Guard(Lock);
  return Tables;
}

Units::FileUnits &Units::unitsOf(const std::string &Path) {
  auto [It, New] = Files.try_emplace(Path);
  if (!New)
    return It->second;
  Expected<std::vector<r3::Unit>> All = readUnits(Path);
  if (!All) {
    It->second.Failure = All.error();
    return It->second;
  }
  for (r3::Unit &U : *All) {
    auto Shared = std::make_shared<const r3::Unit>(std::move(U));
    It->second.ById.emplace(Shared->Id, Shared);
  }
  return It->second;
}

Expected<LoadedUnit *> Units::load(const R3UnitTable *Table) {
  std::lock_guard Guard(LoadLock);
  if (auto It = Loaded.find(Table); It != Loaded.end())
    return It->second;
  auto ReadIt = [&]() -> Expected<LoadedUnit *> {
    std::string Path = Finder(Table);
    FileUnits &File = unitsOf(Path);
    if (File.Failure)
      return File.Failure;
    auto It = File.ById.find(Table->UnitId);
    if (It == File.ById.end())
      return fail(ErrorCode::NotFound, "%s: no unit %s (stripped?)",
                  Path.c_str(), Table->UnitId);
    return Read
        .emplace_back(
            std::make_unique<LoadedUnit>(LoadedUnit{Table, It->second}))
        .get();
  };
  Expected<LoadedUnit *> Result = ReadIt();
  Loaded.emplace(Table, Result);
  return Result;
}

} // namespace r3::record
