// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of files. Keys and ids come from other files, so that each is checked
// to be one plain name before it becomes part of a path.
#include "runtime/support/Store.h"

#include "runtime/support/Files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace r3 {

namespace fs = std::filesystem;

static std::string absolutePath(const std::string &Path) {
  std::error_code Failure;
  fs::path Absolute = fs::absolute(Path.empty() ? "." : Path, Failure);
  if (Failure)
    return Path;
  std::string Result = Absolute.lexically_normal().string();
  while (Result.size() > 1 && Result.back() == '/')
    Result.pop_back();
  return Result;
}

static bool exists(const std::string &Path) {
  return !::access(Path.c_str(), F_OK);
}

Expected<std::string> findRoot(const std::string &Folder) {
  std::string Start = absolutePath(Folder);
  for (fs::path At = Start;; At = At.parent_path()) {
    if (exists((At / "r3.toml").string()))
      return At.string();
    if (At == At.parent_path())
      return fail(ErrorCode::NotFound,
                  "%s: no r3.toml here or above (r3 init makes one)",
                  Start.c_str());
  }
}

std::string Store::pathFor(const std::string &Folder,
                           const std::string &Override) {
  if (!Override.empty())
    return absolutePath(Override);
  Expected<std::string> Root = findRoot(Folder);
  return (Root ? *Root : absolutePath(Folder)) + "/.r3";
}

Expected<Store> Store::open(const std::string &Path, bool Create) {
  Store Result(absolutePath(Path));
  struct stat Status;
  if (!Create) {
    if (::stat(Result.Path.c_str(), &Status) || !S_ISDIR(Status.st_mode))
      return fail(ErrorCode::NotFound, "%s: no store here",
                  Result.Path.c_str());
    return Result;
  }
  for (const char *Name : {"", "recordings", "packs", "units", "modules",
                           "images", "runs", "cache", "tmp"}) {
    std::string Folder = Result.Path + (*Name ? "/" : "") + Name;
    if (Error E = createFolder(Folder))
      return E.in("store");
    if (::access(Folder.c_str(), W_OK))
      return fail(ErrorCode::Failed, "store: %s: cannot be written: %s",
                  Folder.c_str(), std::strerror(errno));
  }
  // The store is never committed; git looks here by itself.
  std::string Ignore = Result.Path + "/.gitignore";
  if (!exists(Ignore))
    if (Error E = writeFileAtomically(Ignore, "*\n"))
      return E.in("store");
  return Result;
}

std::string Store::journalPath() const { return Path + "/journal.db"; }
std::string Store::statusPath() const { return Path + "/status.json"; }
std::string Store::packDirectory() const { return Path + "/packs"; }
std::string Store::lockPath() const { return Path + "/in-use.lock"; }
std::string Store::temporaryDirectory() const { return Path + "/tmp"; }

std::string Store::runPath(std::string_view RunId) const {
  return Path + "/runs/" + std::string(RunId) + ".stats";
}

std::string Store::cachePath(std::string_view Name) const {
  return Path + "/cache/" + std::string(Name);
}

std::string Store::recordingPath(std::string_view Key,
                                 std::string_view Id) const {
  return Path + "/recordings/" + std::string(Key) + "/" + std::string(Id) +
         ".r3rec";
}

std::string Store::unitPath(std::string_view Id) const {
  return Path + "/units/" + std::string(Id) + ".json";
}

std::string Store::modulePath(const Digest &Name) const {
  return Path + "/modules/" + Name.hex() + ".bc";
}

std::string Store::imagePath(const Digest &Name) const {
  return Path + "/images/" + Name.hex() + ".fatbin";
}

static bool isPlainName(std::string_view Name) {
  return !Name.empty() && Name[0] != '.' && Name.size() <= 200 &&
         Name.find('/') == std::string_view::npos &&
         Name.find('\0') == std::string_view::npos;
}

static void listFiles(const std::string &Folder, std::string_view Suffix,
                      std::vector<std::string> &Result) {
  std::error_code Failure;
  for (fs::directory_iterator At(Folder, Failure), End; !Failure && At != End;
       At.increment(Failure)) {
    std::string Name = At->path().string();
    if (Name.ends_with(Suffix))
      Result.push_back(std::move(Name));
  }
}

std::vector<std::string> Store::listRecordings(std::string_view Key) const {
  std::vector<std::string> Folders, Result;
  if (Key.empty())
    listFiles(Path + "/recordings", "", Folders);
  else if (isPlainName(Key))
    Folders.push_back(Path + "/recordings/" + std::string(Key));
  for (const std::string &Folder : Folders)
    listFiles(Folder, ".r3rec", Result);
  std::sort(Result.begin(), Result.end());
  return Result;
}

std::vector<std::string> Store::listRuns() const {
  std::vector<std::string> Result;
  listFiles(Path + "/runs", ".stats", Result);
  std::sort(Result.begin(), Result.end());
  return Result;
}

std::vector<std::string> Store::listUnits() const {
  std::vector<std::string> Result;
  listFiles(Path + "/units", ".json", Result);
  std::sort(Result.begin(), Result.end());
  return Result;
}

Error Store::writeRecording(std::string_view Key, std::string_view Id,
                            std::span<const uint8_t> Bytes) const {
  if (!isPlainName(Key) || !isPlainName(Id))
    return fail(ErrorCode::Usage, "'%.*s/%.*s' cannot name a recording",
                int(Key.size()), Key.data(), int(Id.size()), Id.data());
  if (Error E = createFolder(Path + "/recordings/" + std::string(Key)))
    return E.in("store");
  return writeFileThrough(temporaryDirectory(), recordingPath(Key, Id), Bytes)
      .in("store");
}

Error Store::writeUnit(std::string_view Id, std::string_view Json) const {
  if (!isPlainName(Id))
    return fail(ErrorCode::Usage, "'%.*s' cannot name a unit", int(Id.size()),
                Id.data());
  if (exists(unitPath(Id)))
    return Error::success();
  return writeFileThrough(
             temporaryDirectory(), unitPath(Id),
             {reinterpret_cast<const uint8_t *>(Json.data()), Json.size()})
      .in("store");
}

Error Store::writeModule(const Digest &Name,
                         std::span<const uint8_t> Bytes) const {
  if (exists(modulePath(Name)))
    return Error::success();
  return writeFileThrough(temporaryDirectory(), modulePath(Name), Bytes)
      .in("store");
}

Error Store::writeImage(const Digest &Name,
                        std::span<const uint8_t> Bytes) const {
  if (exists(imagePath(Name)))
    return Error::success();
  return writeFileThrough(temporaryDirectory(), imagePath(Name), Bytes)
      .in("store");
}

} // namespace r3
