// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a profile with one entry for a kernel of an object file, as r3 apply
// does: profile OBJECT KERNEL FOLDER KEY=VALUE... with the keys device, class,
// pipeline, level, maxnreg, ptxas and fingerprint (in place of the kernel's).
// profile --module OBJECT ARCHITECTURE writes the embedded bitcode to stdout.
#include "runtime/support/Profile.h"
#include "runtime/support/Files.h"
#include "runtime/support/Unit.h"

#include <cstdio>

using namespace r3;

static void set(KernelProfile &Kernel, const std::string &Key,
                const std::string &Value) {
  ProfileEntry &Entry = Kernel.Entries[0];
  if (Key == "device")
    Entry.Device = Value;
  else if (Key == "class")
    Entry.Class = Value;
  else if (Key == "pipeline")
    Entry.Change.Pipeline = Value;
  else if (Key == "level")
    Entry.Change.Level = Value;
  else if (Key == "maxnreg")
    Entry.Change.MaxRegisters = std::stoul(Value);
  else if (Key == "ptxas")
    Entry.Change.PtxasLevel = Value;
  else if (Key == "fingerprint")
    Kernel.Fingerprints["sm_90"] = Value;
}

static Error write(const Unit &U, const UnitKernel &Found,
                   const std::string &Folder, int Count, char **Words) {
  KernelProfile Kernel;
  Kernel.Name = Found.Display;
  Kernel.Home = Found.Home;
  Kernel.Units = {U.Source};
  for (const auto &[Arch, Code] : Found.Code) {
    Kernel.Key = Code.Key;
    Kernel.Fingerprints[Arch] = Code.Fingerprint;
  }
  Kernel.Entries.resize(1);
  Kernel.Entries[0].Device = "sm_90 Test";
  for (int I = 0; I < Count; ++I) {
    std::string Word = Words[I];
    size_t Equals = Word.find('=');
    set(Kernel, Word.substr(0, Equals), Word.substr(Equals + 1));
  }
  std::string Toml = Kernel.toml();
  std::string Path = Folder + "/" + Kernel.folder();
  std::string Header = Folder + "/" + unitHeaderPath(U.Source);
  if (Error Problem = createFolder(Path))
    return Problem;
  if (Error Problem = createFolder(Header.substr(0, Header.rfind('/'))))
    return Problem;
  if (Error Problem = writeFileAtomically(Path + "/kernel.toml", Toml))
    return Problem;
  return writeFileAtomically(Header, unitHeaderText({{Kernel.folder(), Toml}}));
}

static Error run(const std::vector<Unit> &Units, int Count, char **Words) {
  bool WantsModule = std::string(Words[1]) == "--module";
  for (const Unit &U : Units) {
    if (!WantsModule)
      if (const UnitKernel *Found = U.findKernel(Words[2]))
        return write(U, *Found, Words[3], Count - 4, Words + 4);
    for (const UnitModule &M : U.Modules)
      if (WantsModule && M.Arch == Words[3]) {
        std::fwrite(M.Bitcode.data(), 1, M.Bitcode.size(), stdout);
        return Error::success();
      }
  }
  return fail(ErrorCode::NotFound, "no kernel %s or module %s", Words[2],
              Words[3]);
}

int main(int Count, char **Words) {
  Error Problem = fail(ErrorCode::Usage, "OBJECT KERNEL FOLDER KEY=VALUE...");
  if (Count >= 4) {
    bool WantsModule = std::string(Words[1]) == "--module";
    Expected<std::vector<Unit>> Units = readUnits(Words[WantsModule ? 2 : 1]);
    Problem = Units ? run(*Units, Count, Words) : Units.error();
  }
  if (Problem)
    std::fprintf(stderr, "profile: %s\n", Problem.message().c_str());
  return Problem ? 1 : 0;
}
