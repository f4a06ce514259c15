// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/support/Confine.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace r3 {

namespace {

/// Opening files to read and write, listing, making and removing: all rights of
/// the first version but the one to execute.
constexpr uint64_t Reading =
    LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr uint64_t FirstVersion =
    (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1 - LANDLOCK_ACCESS_FS_EXECUTE;
/// Of later versions, which older headers do not name.
constexpr uint64_t Refer = 1ull << 13, Truncate = 1ull << 14;
constexpr uint64_t OfFiles =
    LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | Truncate;

uint64_t handledBy(int Version) {
  return FirstVersion | (Version >= 2 ? Refer : 0) |
         (Version >= 3 ? Truncate : 0);
}

struct Descriptor {
  int Fd;
  ~Descriptor() {
    if (Fd >= 0)
      ::close(Fd);
  }
};

Error failure(const std::string &What) {
  return fail(ErrorCode::Failed, "%s: %s", What.c_str(), std::strerror(errno));
}

Error allow(int Rules, const std::string &Path, uint64_t Rights) {
  const Descriptor File{::open(Path.c_str(), O_PATH | O_CLOEXEC)};
  struct stat Status{};
  if (File.Fd < 0 || ::fstat(File.Fd, &Status) != 0)
    return {}; // not there
  landlock_path_beneath_attr Rule{};
  Rule.allowed_access = S_ISDIR(Status.st_mode) ? Rights : Rights & OfFiles;
  Rule.parent_fd = File.Fd;
  if (::syscall(SYS_landlock_add_rule, Rules, LANDLOCK_RULE_PATH_BENEATH, &Rule,
                0) != 0)
    return failure("landlock_add_rule: " + Path);
  return {};
}

} // namespace

int landlockVersion() {
  const long Version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0,
                                 LANDLOCK_CREATE_RULESET_VERSION);
  return Version > 0 ? static_cast<int>(Version) : 0;
}

Expected<bool> confine(const FileAccess &Allowed) {
  const int Version = landlockVersion();
  if (!Version)
    return false;
  const uint64_t All = handledBy(Version);
  landlock_ruleset_attr Handled{};
  Handled.handled_access_fs = All;
  const Descriptor Rules{static_cast<int>(
      ::syscall(SYS_landlock_create_ruleset, &Handled, sizeof(Handled), 0))};
  if (Rules.Fd < 0)
    return failure("landlock_create_ruleset");
  for (const std::string &Path : Allowed.Readable)
    if (Error E = allow(Rules.Fd, Path, Reading))
      return E;
  for (const std::string &Path : Allowed.Writable)
    if (Error E = allow(Rules.Fd, Path, All))
      return E;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return failure("prctl(PR_SET_NO_NEW_PRIVS)");
  if (::syscall(SYS_landlock_restrict_self, Rules.Fd, 0) != 0)
    return failure("landlock_restrict_self");
  return true;
}

namespace fs = std::filesystem;

static bool isBelow(const fs::path &Path, const fs::path &Folder) {
  return std::mismatch(Folder.begin(), Folder.end(), Path.begin(), Path.end())
             .first == Folder.end();
}

std::vector<std::string> pathsWithout(const std::string &Given,
                                      const std::string &Hidden) {
  std::error_code Ignored;
  const fs::path Path = fs::weakly_canonical(Given, Ignored);
  const fs::path Secret = fs::weakly_canonical(Hidden, Ignored);
  if (isBelow(Path, Secret))
    return {};
  if (!isBelow(Secret, Path))
    return {Path};
  std::vector<std::string> Result;
  for (const fs::directory_entry &Each : fs::directory_iterator(Path, Ignored))
    // A link is opened as what it leads to.
    if (!Each.is_symlink(Ignored))
      for (std::string &Found : pathsWithout(Each.path(), Hidden))
        Result.push_back(std::move(Found));
  return Result;
}

} // namespace r3
