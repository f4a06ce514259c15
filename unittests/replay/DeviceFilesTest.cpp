// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the device child may open, and that the real one is confined to it.
#include "wrapper/replay/DeviceFiles.h"

#include "Fixture.h"

#include "runtime/support/Files.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

namespace r3::testing {

namespace fs = std::filesystem;

static bool opens(const std::string &Path, int Flags = O_RDONLY) {
  const int Fd = open(Path.c_str(), Flags | O_CLOEXEC, 0600);
  if (Fd >= 0)
    close(Fd);
  return Fd >= 0;
}

/// The line of /proc/PID/status.
static std::string statusOf(pid_t Pid, const std::string &Name) {
  std::ifstream File("/proc/" + std::to_string(Pid) + "/status");
  for (std::string Line; std::getline(File, Line);)
    if (Line.starts_with(Name + ":\t"))
      return Line.substr(Name.size() + 2);
  return {};
}

class DeviceFilesTest : public ReplayTest {};

/// In a process of its own: there is no way back.
TEST_F(DeviceFilesTest, TheStoreIsNotAmongThemWhereverItLies) {
  if (!landlockVersion())
    GTEST_SKIP() << "this kernel has no Landlock";
  const std::string Store = Folder + "/project/.r3", Home = Folder + "/home";
  fs::create_directories(Store);
  fs::create_directories(Home + "/.nv");
  fs::create_directories(Folder + "/project/lib");
  for (const std::string &Name :
       {Store + "/pack", Folder + "/project/lib/x.so"})
    ASSERT_FALSE(writeFileAtomically(Name, "text"));
  const pid_t Child = fork();
  if (Child == 0) {
    // A folder of libraries that holds the store, and relative ones.
    setenv("LD_LIBRARY_PATH", (":.:" + Folder).c_str(), 1);
    setenv("HOME", Home.c_str(), 1);
    unsetenv("CUDA_CACHE_PATH");
    const auto Done = confine(replay::deviceFiles(Store));
    const bool Right = Done && *Done && opens(Folder + "/project/lib/x.so") &&
                       opens("/proc/self/maps") && opens("/usr", O_DIRECTORY) &&
                       opens("/dev/null", O_WRONLY) && opens("/dev/urandom") &&
                       opens(Home + "/.nv/cache", O_CREAT | O_WRONLY) &&
                       !opens(Home + "/cache", O_CREAT | O_WRONLY) &&
                       !opens("/etc/r3-test", O_CREAT | O_WRONLY) &&
                       !opens(Store + "/pack") &&
                       !opens(Store + "/new", O_CREAT | O_WRONLY) &&
                       !opens(Store, O_DIRECTORY);
    _exit(Right ? 0 : 1);
  }
  int Status = 0;
  ASSERT_EQ(waitpid(Child, &Status, 0), Child);
  EXPECT_TRUE(WIFEXITED(Status) && WEXITSTATUS(Status) == 0) << Status;
}

TEST_F(DeviceFilesTest, TheDeviceChildIsConfined) {
  if (!landlockVersion())
    GTEST_SKIP() << "this kernel has no Landlock";
  WorkerOptions O;
  O.Backend = "cpu";
  O.StorePath = TheStore->path();
  for (const char *Confined : {"1", "0"}) {
    setenv("R3_CONFINE", Confined, 1);
    auto W = Worker::start(O);
    unsetenv("R3_CONFINE");
    ASSERT_TRUE(W) << W.error().message();
    std::vector<std::string> Found;
    for (pid_t Pid : descendants("r3-device"))
      Found.push_back(statusOf(Pid, "NoNewPrivs"));
    EXPECT_EQ(Found, std::vector<std::string>{Confined});
  }
}

} // namespace r3::testing
