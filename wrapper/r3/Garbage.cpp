// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows the references, then lists what is left folder by folder.
#include "wrapper/r3/Garbage.h"

#include "wrapper/r3/Catalogue.h"
#include "wrapper/remix/Journal.h"

#include "runtime/support/Files.h"
#include "runtime/support/Pack.h"
#include "runtime/support/Recording.h"
#include "runtime/support/Unit.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <set>
#include <sys/stat.h>
#include <unordered_set>

namespace fs = std::filesystem;

namespace r3 {

namespace {

class Collector {
public:
  Collector(const Store &From, int64_t Since) : From(From), Since(Since) {}

  Expected<Garbage> run() {
    if (Error E = readManifests())
      return E;
    if (Error E = readKernels())
      return E;
    if (Error E = readUnits())
      return E;
    // From here on it is known what is referred to.
    if (Error E = listPacks())
      return E;
    listNamed("modules", ".bc", Modules);
    listNamed("images", ".fatbin", Images);
    listNamed("units", ".json", Units);
    for (const std::string &Path : supersededRuns(From))
      add("runs", Path);
    listTemporary();
    listDerived();
    measure();
    return std::move(Found);
  }

private:
  // --- References.

  Error readManifests() {
    for (const std::string &Path : From.listRecordings()) {
      auto Bytes = readFile(Path);
      if (!Bytes)
        return Bytes.error();
      auto R = Recording::parse(*Bytes, Path);
      if (!R)
        return R.error();
      for (const RecordedAllocation &A : R->Allocations) {
        Chunks.insert(A.Before.begin(), A.Before.end());
        for (const ChangedChunk &C : A.After)
          Chunks.insert(C.After);
      }
      Modules.insert(R->Module.hex());
      Images.insert(R->Image.hex());
      Units.insert(R->Unit);
      Keys.insert(R->Key);
    }
    return Error::success();
  }

  /// Kernels that the journal or a run that counts knows.
  Error readKernels() {
    auto Log = Journal::openForReading(From.journalPath());
    if (!Log && Log.error().code() != ErrorCode::NotFound)
      return Log.error();
    if (Log) {
      auto Known = (*Log)->kernels();
      if (!Known)
        return Known.error();
      for (const JournalKernel &K : *Known)
        Keys.insert(K.Key);
    }
    const std::vector<std::string> Old = supersededRuns(From);
    for (const std::string &Path : From.listRuns()) {
      if (std::find(Old.begin(), Old.end(), Path) != Old.end())
        continue;
      if (auto Run = RunStats::read(Path))
        for (const KernelRunStats &K : Run->Kernels)
          Keys.insert(K.Key);
    }
    return Error::success();
  }

  Error readUnits() {
    for (const std::string &Path : From.listUnits()) {
      const std::string Id = fs::path(Path).stem().string();
      auto Text = readTextFile(Path);
      if (!Text)
        return Text.error();
      auto U = Unit::parseJson(*Text);
      if (!U)
        return U.error().in(Path);
      for (const UnitKernel &K : U->Kernels)
        for (const auto &[Arch, Code] : K.Code)
          if (Keys.count(Code.Key))
            Units.insert(Id);
      if (Units.count(Id))
        for (const UnitModule &M : U->Modules)
          Modules.insert(M.Content.hex());
    }
    return Error::success();
  }

  // --- What is left.

  void add(const char *Kind, const std::string &Path) {
    struct stat Status;
    if (lstat(Path.c_str(), &Status) || Status.st_mtime > Since)
      return;
    Found.Files.push_back({Kind, Path, uint64_t(Status.st_blocks) * 512});
  }

  template <typename Visit>
  void eachFile(const std::string &Folder, const Visit &See) const {
    std::error_code Failure;
    for (fs::directory_iterator At(From.path() + "/" + Folder, Failure), End;
         !Failure && At != End; At.increment(Failure))
      See(At->path().string());
  }

  void listNamed(const char *Folder, const char *Suffix,
                 const std::set<std::string> &Named) {
    eachFile(Folder, [&](const std::string &Path) {
      if (Path.ends_with(Suffix) &&
          !Named.count(fs::path(Path).stem().string()))
        add(Folder, Path);
    });
  }

  Error listPacks() {
    auto Packs = PackSet::open(From.packDirectory());
    if (!Packs && Packs.error().code() == ErrorCode::NotFound)
      return Error::success();
    if (!Packs)
      return Packs.error();
    std::set<std::string> Live;
    std::unordered_map<std::string, uint64_t> LiveBytes;
    for (const Digest &Chunk : Chunks)
      if (auto Place = (*Packs)->find(Chunk)) {
        const std::string &Path = (*Packs)->files()[Place->File];
        Live.insert(Path);
        LiveBytes[Path] += Place->Stored;
      }
    for (const std::string &Path : (*Packs)->files()) {
      std::error_code Ignored;
      const uint64_t Size = fs::file_size(Path, Ignored);
      if (Live.count(Path))
        Found.HeldBytes += Ignored ? 0 : Size - std::min(Size, LiveBytes[Path]);
      else
        addPack(Path);
    }
    // Without an index, which is removed first, nobody reads a pack.
    const std::set<std::string> Indexed((*Packs)->files().begin(),
                                        (*Packs)->files().end());
    eachFile("packs", [&](const std::string &Path) {
      if (Path.ends_with(".pack") && !Indexed.count(Path))
        add("packs", Path);
    });
    return Error::success();
  }

  /// Both or none, the index first.
  void addPack(const std::string &Path) {
    const size_t Before = Found.Files.size();
    add("packs", fs::path(Path).replace_extension(".idx").string());
    add("packs", Path);
    struct stat Status;
    if (Found.Files.size() == Before + 1 && !lstat(Path.c_str(), &Status))
      Found.Files.resize(Before);
  }

  /// "NAME.PID.NUMBER.tmp": the writer's number, 0 for other names.
  static pid_t writerOf(const std::string &Path) {
    const std::string Name = fs::path(Path).filename().string();
    if (!Name.ends_with(".tmp"))
      return 0;
    const size_t Number = Name.rfind('.', Name.size() - 5);
    if (Number == std::string::npos || !Number)
      return 0;
    const size_t Pid = Name.rfind('.', Number - 1);
    pid_t Value = 0;
    if (Pid != std::string::npos)
      std::from_chars(Name.data() + Pid + 1, Name.data() + Number, Value);
    return Value;
  }

  static bool isAlive(pid_t Pid) { return !kill(Pid, 0) || errno == EPERM; }

  void listTemporary() {
    eachFile("tmp", [&](const std::string &Path) {
      if (const pid_t Writer = writerOf(Path); !Writer || !isAlive(Writer))
        add("temporary", Path);
    });
    for (const char *Folder : {"", "units", "modules", "images", "cache"})
      eachFile(Folder, [&](const std::string &Path) {
        if (const pid_t Writer = writerOf(Path); Writer && !isAlive(Writer))
          add("temporary", Path);
      });
  }

  /// Headers of units and the log are no copies of anything.
  void listDerived() {
    eachFile("cache", [&](const std::string &Path) {
      if (!fs::is_directory(Path) && !Path.ends_with(".h") &&
          !Path.ends_with(".log") && !Path.ends_with(".tmp"))
        add("derived", Path);
    });
  }

  void measure() {
    std::error_code Failure;
    for (fs::recursive_directory_iterator At(From.path(), Failure), End;
         !Failure && At != End; At.increment(Failure)) {
      struct stat Status;
      if (!lstat(At->path().c_str(), &Status) && S_ISREG(Status.st_mode))
        Found.StoreBytes += uint64_t(Status.st_blocks) * 512;
    }
  }

  const Store &From;
  const int64_t Since;
  std::unordered_set<Digest> Chunks;
  std::set<std::string> Modules, Images, Units, Keys;
  Garbage Found;
};

} // namespace

uint64_t Garbage::bytes() const {
  uint64_t Sum = 0;
  for (const GarbageFile &F : Files)
    Sum += F.Bytes;
  return Sum;
}

Expected<Garbage> findGarbage(const Store &From, int64_t Since) {
  return Collector(From, Since).run();
}

Error removeGarbage(const Garbage &What, const std::atomic<bool> &Stop,
                    const std::function<void(const GarbageFile &)> &Removed) {
  for (const GarbageFile &F : What.Files) {
    if (Stop)
      break;
    std::error_code Failure;
    fs::remove_all(F.Path, Failure);
    if (Failure)
      return fail(ErrorCode::Failed, "%s: cannot be removed: %s",
                  F.Path.c_str(), Failure.message().c_str());
    Removed(F);
  }
  return Error::success();
}

} // namespace r3
