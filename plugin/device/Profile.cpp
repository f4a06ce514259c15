// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel and a folder of the profile belong together where home and
// fingerprint (for this architecture) are equal. Same home and name with
// another fingerprint is a kernel that has changed since: stale.
#include "plugin/device/Profile.h"

#include "runtime/support/Applicable.h"
#include "runtime/support/Files.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace r3::plugin {

/// Path of a kernel's folder beside "PROFILE/units/src/a.cu.h". Headers of a
/// read-only tree lie in the store: then the profile is that of the root.
static std::string kernelPath(const Compilation &C, const std::string &Folder) {
  StringRef Profile = C.Header;
  Profile.consume_back("/" + unitHeaderPath(C.Source));
  std::string Path = (Profile + "/" + Folder + "/kernel.toml").str();
  if (sys::fs::exists(Path))
    return Path;
  return C.Root + "/r3.profile/" + Folder + "/kernel.toml";
}

/// More than one where kernels do the same, such as instances of a template.
static std::vector<const UnitKernel *>
matchingKernels(const Unit &U, const KernelProfile &Folder,
                const std::string &Arch) {
  std::vector<const UnitKernel *> Found;
  auto Wanted = Folder.Fingerprints.find(Arch);
  if (Wanted == Folder.Fingerprints.end())
    return Found;
  for (const UnitKernel &Kernel : U.Kernels)
    if (Kernel.Home == Folder.Home &&
        Kernel.Code.at(Arch).Fingerprint == Wanted->second)
      Found.push_back(&Kernel);
  return Found;
}

static bool isStale(const Unit &U, const KernelProfile &Folder,
                    const std::string &Arch) {
  return Folder.Fingerprints.count(Arch) &&
         any_of(U.Kernels, [&](const UnitKernel &Kernel) {
           return Kernel.Home == Folder.Home;
         });
}

/// First word of a device key: "sm_90", or a CPU's architecture.
static StringRef deviceArchitecture(const ProfileEntry &Entry) {
  return StringRef(Entry.Device).split(' ').first;
}

/// A device of compute capability 9.0 runs sm_90 and sm_90a code.
static bool runs(StringRef Device, StringRef Arch) {
  return Arch.consume_front(Device) &&
         (Arch.empty() || Arch == "a" || Arch == "f");
}

static void takeEntries(const Compilation &C, const KernelProfile &Folder,
                        const UnitKernel &Kernel, const std::string &Arch,
                        UnitProfile &Out, llvm::Module &M) {
  for (const ProfileEntry &Entry : Folder.Entries) {
    StringRef Device = deviceArchitecture(Entry);
    bool IsGpu = Device.starts_with("sm_");
    if (IsGpu && !runs(Device, Arch))
      continue;
    std::string Needs = notApplicable(Entry.Change);
    if (Entry.Class != "all")
      Needs = "an argument class";
    if (!Needs.empty()) {
      C.warn(M, "profile",
             Kernel.Display + ": the profile's entry for " + Entry.Device +
                 " needs " + Needs +
                 ", which this build of R3 does not apply: original kept");
      continue;
    }
    auto &Table = IsGpu ? Out.Gpu : Out.Cpu;
    if (!Table.emplace(Kernel.Name, Entry.Change).second)
      C.note(M, "profile",
             Kernel.Display + ": several entries for " + Device.str() +
                 " devices, the first one is built");
  }
}

static void readFolder(const Compilation &C, const std::string &Path,
                       const Unit &U, const std::string &Arch, UnitProfile &Out,
                       llvm::Module &M) {
  Expected<std::string> Text = readTextFile(Path);
  if (!Text)
    return C.warn(M, "profile", Text.error().message());
  Expected<KernelProfile> Folder = KernelProfile::parse(*Text, Path);
  if (!Folder)
    return C.warn(M, "profile", Folder.error().message());
  std::vector<const UnitKernel *> Kernels = matchingKernels(U, *Folder, Arch);
  for (const UnitKernel *Kernel : Kernels)
    takeEntries(C, *Folder, *Kernel, Arch, Out, M);
  if (Kernels.empty() && isStale(U, *Folder, Arch))
    C.warn(M, "stale",
           Folder->Name + ": the kernel has changed since its profile entry "
                          "was made: original kept");
}

UnitProfile readProfile(const Compilation &C, const Unit &U,
                        const std::string &Arch, llvm::Module &M) {
  UnitProfile Out;
  if (C.Header.empty())
    return Out;
  Expected<std::string> Text = readTextFile(C.Header);
  if (!Text) {
    C.warn(M, "profile", Text.error().message());
    return Out;
  }
  Expected<std::vector<std::string>> Folders = parseUnitHeader(*Text, C.Header);
  if (!Folders) {
    C.warn(M, "profile", Folders.error().message());
    return Out;
  }
  for (const std::string &Folder : *Folders)
    readFolder(C, kernelPath(C, Folder), U, Arch, Out, M);
  return Out;
}

void annotate(llvm::Module &Snapshot, const UnitProfile &Profile) {
  for (const auto &[Name, Change] : Profile.Cpu)
    if (Function *Kernel = Snapshot.getFunction(Name))
      Kernel->addFnAttr("r3-variant", Change.canonicalJson());
}

} // namespace r3::plugin
