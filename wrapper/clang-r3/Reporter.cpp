// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Warnings of clang-r3, once a build each.
#include "wrapper/clang-r3/Reporter.h"

#include "runtime/support/Digest.h"
#include "runtime/support/Options.h"
#include "runtime/support/Store.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace r3::clangr3 {

namespace {

constexpr std::array BuildTools = {"make",  "gmake", "ninja", "ninja-build",
                                   "cmake", "ctest", "meson", "scons"};
constexpr time_t Day = 24 * 60 * 60;

struct ProcessInfo {
  pid_t Parent = 0;
  std::string Name, Start;
};

// /proc/PID/stat: pid (name) state ppid ... 22: start time. A name may hold
// spaces and parentheses, so the last ")" counts.
ProcessInfo readProcess(pid_t Pid) {
  ProcessInfo Info;
  std::ifstream In("/proc/" + std::to_string(Pid) + "/stat");
  std::string Text;
  std::getline(In, Text);
  size_t Open = Text.find('('), Close = Text.rfind(')');
  if (Open == std::string::npos || Close == std::string::npos)
    return Info;
  Info.Name = Text.substr(Open + 1, Close - Open - 1);
  size_t Field = 2;
  std::string Word;
  for (size_t At = Close + 2; At <= Text.size(); ++At) {
    if (At < Text.size() && Text[At] != ' ') {
      Word += Text[At];
      continue;
    }
    if (++Field == 4)
      Info.Parent = static_cast<pid_t>(std::strtol(Word.c_str(), nullptr, 10));
    if (Field == 22)
      Info.Start = Word;
    Word.clear();
  }
  return Info;
}

// A folder that is ours alone, or nothing.
bool preparePrivateFolder(const std::string &Folder) {
  mkdir(Folder.c_str(), 0700);
  struct stat Status;
  return !lstat(Folder.c_str(), &Status) && S_ISDIR(Status.st_mode) &&
         Status.st_uid == geteuid() && !(Status.st_mode & 077);
}

void removeOldFiles(const std::string &Folder) {
  DIR *Entries = opendir(Folder.c_str());
  if (!Entries)
    return;
  while (dirent *Entry = readdir(Entries)) {
    struct stat Status;
    std::string Path = Folder + "/" + Entry->d_name;
    if (!lstat(Path.c_str(), &Status) && S_ISREG(Status.st_mode) &&
        time(nullptr) - Status.st_mtime > Day)
      unlink(Path.c_str());
  }
  closedir(Entries);
}

// A line a time; who wants numbers counts lines.
void count(const std::string &StorePath, const std::string &Line) {
  if (StorePath.empty())
    return;
  Expected<Store> Opened = Store::open(StorePath, /*Create=*/true);
  if (!Opened)
    return; // the warning itself has been said
  int Fd = open(Opened->cachePath("clang-r3.log").c_str(),
                O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (Fd < 0)
    return;
  ssize_t Ignored = write(Fd, Line.data(), Line.size());
  (void)Ignored;
  close(Fd);
}

} // namespace

Reporter::Reporter(const CommandLine &Line, std::string Store)
    : Line(Line), Store(std::move(Store)) {}

void Reporter::warn(const std::string &Reason, const std::string &Text) {
  count(Store, Reason + " " + Text + "\n");
  Failed |= Line.Strict;
  if (!Line.Strict && (Line.SilenceAll || Line.Silenced.contains(Reason)))
    return;
  std::string Folder = systemVariable("TMPDIR").value_or("/tmp") +
                       "/r3-said-" + std::to_string(geteuid());
  if (!Line.Strict && !isFirst(Folder, buildIdentity() + " " + Reason))
    return;
  fprintf(stderr, "clang-r3: %s: %s [-Wr3-%s]\n",
          Line.Strict ? "error" : "warning", Text.c_str(), Reason.c_str());
}

std::string buildIdentity() {
  pid_t Pid = getppid();
  ProcessInfo Info = readProcess(Pid);
  std::string Identity = std::to_string(Pid) + "@" + Info.Start;
  while (Pid > 1 && !Info.Start.empty()) {
    if (std::find(BuildTools.begin(), BuildTools.end(), Info.Name) !=
        BuildTools.end())
      Identity = std::to_string(Pid) + "@" + Info.Start;
    Pid = Info.Parent;
    Info = readProcess(Pid);
  }
  return Identity;
}

bool isFirst(const std::string &Folder, const std::string &Key) {
  if (!preparePrivateFolder(Folder))
    return true;
  std::string Path = Folder + "/" + contentDigest(std::string_view(Key)).hex();
  int Fd = open(Path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (Fd < 0)
    return errno != EEXIST;
  close(Fd);
  removeOldFiles(Folder);
  return true;
}

} // namespace r3::clangr3
