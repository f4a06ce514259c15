// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole files with plain system calls. A temporary file has the process and a
// counter in its name, so that writers of the same target never meet.
#include "runtime/support/Files.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace r3 {

static Error systemError(const std::string &Path, const char *What) {
  int Number = errno;
  ErrorCode Code = ErrorCode::Failed;
  if (Number == ENOENT || Number == ENOTDIR)
    Code = ErrorCode::NotFound;
  else if (Number == ENOSPC || Number == EDQUOT)
    Code = ErrorCode::NoSpace;
  return fail(Code, "%s: cannot %s: %s", Path.c_str(), What,
              std::strerror(Number));
}

namespace {
/// Closes on the way out.
struct FileDescriptor {
  int Fd;
  explicit FileDescriptor(int Fd) : Fd(Fd) {}
  FileDescriptor(const FileDescriptor &) = delete;
  ~FileDescriptor() {
    if (Fd >= 0)
      ::close(Fd);
  }
};
} // namespace

template <typename Container>
static Expected<Container> readWhole(const std::string &Path,
                                     uint64_t LimitBytes) {
  FileDescriptor File(::open(Path.c_str(), O_RDONLY | O_CLOEXEC));
  if (File.Fd < 0)
    return systemError(Path, "open");
  struct stat Status;
  if (::fstat(File.Fd, &Status))
    return systemError(Path, "look at it");
  if (S_ISDIR(Status.st_mode))
    return fail(ErrorCode::Failed, "%s: is a folder", Path.c_str());
  Container Result;
  // The size is a hint: files of /proc say 0, and others may grow meanwhile.
  uint64_t Hint = uint64_t(Status.st_size) + 1;
  size_t Used = 0;
  for (;;) {
    if (Used > LimitBytes || Hint > LimitBytes + 1)
      return fail(ErrorCode::Damaged, "%s: larger than the limit of %llu bytes",
                  Path.c_str(), (unsigned long long)LimitBytes);
    if (Used == Result.size())
      Result.resize(std::max<size_t>(Hint, Used + 65536));
    ssize_t Got = ::read(File.Fd, Result.data() + Used, Result.size() - Used);
    if (Got < 0 && errno == EINTR)
      continue;
    if (Got < 0)
      return systemError(Path, "read");
    if (Got == 0)
      break;
    Used += size_t(Got);
  }
  Result.resize(Used);
  return Result;
}

Expected<std::vector<uint8_t>> readFile(const std::string &Path,
                                        uint64_t LimitBytes) {
  return readWhole<std::vector<uint8_t>>(Path, LimitBytes);
}

Expected<std::string> readTextFile(const std::string &Path,
                                   uint64_t LimitBytes) {
  return readWhole<std::string>(Path, LimitBytes);
}

static Error writeAll(int Fd, std::span<const uint8_t> Bytes,
                      const std::string &Path) {
  while (!Bytes.empty()) {
    ssize_t Put = ::write(Fd, Bytes.data(), Bytes.size());
    if (Put < 0 && errno == EINTR)
      continue;
    if (Put < 0)
      return systemError(Path, "write");
    Bytes = Bytes.subspan(size_t(Put));
  }
  return Error::success();
}

static std::string parentOf(const std::string &Path) {
  size_t Slash = Path.rfind('/');
  if (Slash == std::string::npos)
    return ".";
  return Slash ? Path.substr(0, Slash) : "/";
}

/// Makes a rename durable. File systems that cannot do it are left alone.
static void syncFolder(const std::string &Folder) {
  FileDescriptor Directory(
      ::open(Folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (Directory.Fd >= 0)
    (void)::fsync(Directory.Fd);
}

static Error writeAndRename(const std::string &Temporary,
                            const std::string &Path,
                            std::span<const uint8_t> Bytes) {
  Error Failure;
  {
    FileDescriptor File(::open(Temporary.c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (File.Fd < 0)
      return systemError(Path, "create");
    Failure = writeAll(File.Fd, Bytes, Path);
    if (!Failure && ::fsync(File.Fd))
      Failure = systemError(Path, "sync");
  }
  if (!Failure && ::rename(Temporary.c_str(), Path.c_str()))
    Failure = systemError(Path, "rename to it");
  if (Failure) {
    ::unlink(Temporary.c_str());
    return Failure;
  }
  syncFolder(parentOf(Path));
  return Error::success();
}

static std::string uniqueSuffix() {
  static std::atomic<unsigned> Counter{0};
  return format(".%d.%u.tmp", int(::getpid()), Counter++);
}

Error writeFileAtomically(const std::string &Path,
                          std::span<const uint8_t> Bytes) {
  return writeAndRename(Path + uniqueSuffix(), Path, Bytes);
}

Error writeFileThrough(const std::string &TemporaryFolder,
                       const std::string &Path,
                       std::span<const uint8_t> Bytes) {
  std::string Name = Path.substr(Path.rfind('/') + 1);
  return writeAndRename(TemporaryFolder + "/" + Name + uniqueSuffix(), Path,
                        Bytes);
}

Error writeFileAtomically(const std::string &Path, std::string_view Text) {
  return writeFileAtomically(
      Path,
      std::span(reinterpret_cast<const uint8_t *>(Text.data()), Text.size()));
}

Error createFolder(const std::string &Path) {
  for (size_t Slash = Path.find('/', 1);; Slash = Path.find('/', Slash + 1)) {
    std::string Part = Path.substr(0, Slash);
    if (::mkdir(Part.c_str(), 0777) && errno != EEXIST) {
      // A parent on a read-only or foreign file system that is there is fine.
      int Number = errno;
      struct stat Status;
      if (::stat(Part.c_str(), &Status) || !S_ISDIR(Status.st_mode)) {
        errno = Number;
        return systemError(Part, "create folder");
      }
    }
    if (Slash == std::string::npos)
      break;
  }
  struct stat Status;
  if (::stat(Path.c_str(), &Status))
    return systemError(Path, "look at it");
  if (!S_ISDIR(Status.st_mode))
    return fail(ErrorCode::Failed, "%s: is not a folder", Path.c_str());
  return Error::success();
}

Expected<std::string> createPrivateFolder(const std::string &Prefix) {
  std::string Name = Prefix + "XXXXXX";
  if (!::mkdtemp(Name.data()))
    return systemError(Prefix, "create a private folder");
  return Name;
}

Expected<PrivateFolder> PrivateFolder::make(const std::string &Prefix) {
  auto Made = createPrivateFolder(
      (std::filesystem::temp_directory_path() / Prefix).string());
  if (!Made)
    return Made.error();
  return PrivateFolder(std::move(*Made));
}

PrivateFolder::~PrivateFolder() {
  std::error_code Ignored;
  if (!Path.empty())
    std::filesystem::remove_all(Path, Ignored);
}

} // namespace r3
