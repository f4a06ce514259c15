// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3 doctor: looks at everything that R3 needs on this machine, one line each,
// and says what to do about what is missing. What only a build or only a run
// needs is said so. The device is asked through a worker, as a search does.
#include "runtime/support/Confine.h"
#include "runtime/support/Files.h"
#include "runtime/support/Process.h"
#include "wrapper/r3/Command.h"
#include "wrapper/r3/Text.h"

#include <chrono>
#include <dlfcn.h>
#include <filesystem>
#include <sys/statvfs.h>
#include <unistd.h>

namespace r3 {

namespace {

constexpr std::chrono::milliseconds ToolDeadline(30000);
constexpr uint64_t LeastFreeBytes = 1ull << 30;

struct Finding {
  enum Kind { Good, Note, Bad } What;
  std::string Text;
};

std::string firstLine(const std::string &Text) {
  return printable(Text.substr(0, Text.find('\n')));
}

class Doctor : public Command {
public:
  void declare(Flags &Options) override {
    Options.text("--launcher", Launcher, "COMMAND",
                 "start the worker through COMMAND");
  }

  Expected<int> run(Context &Given) override {
    check(Given, "clang", checkClang(Given));
    check(Given, "plugin", checkPlugin(Given));
    check(Given, "toolkit", checkToolkit(Given));
    check(Given, "driver", checkDriver(Given));
    check(Given, "device", checkDevice(Given));
    check(Given, "files", checkFiles(Given));
    check(Given, "root", checkRoot(Given));
    check(Given, "store", checkStore(Given));
    check(Given, "disk", checkDisk(Given));
    if (Bad)
      return fail(ErrorCode::CannotRunHere, "%s of 9 failed on device %s",
                  plural(Bad, "check").c_str(), Given.Backend.c_str());
    return 0;
  }

private:
  void check(Context &Given, const char *Name, const Finding &Found) {
    Bad += Found.What == Finding::Bad;
    std::string Word = Found.What == Finding::Good  ? Given.Out.good("ok  ")
                       : Found.What == Finding::Bad ? Given.Out.bad("FAIL")
                                                    : "note";
    Given.Out.print(format("%s  %-8s ", Word.c_str(), Name) + Found.Text +
                    "\n");
  }

  /// What a tool prints; nothing where it does not run.
  static std::string ask(Context &Given, std::vector<std::string> Arguments) {
    SpawnOptions Options;
    Options.Arguments = std::move(Arguments);
    Given.trace(Options.Arguments);
    auto Result = runProcess(Options, {}, ToolDeadline);
    return Result && Result->Status.ok() ? Result->Out + Result->Err : "";
  }

  /// The clang++ that clang-r3 runs.
  static std::string clang(const Context &Given) {
    bool Named = Given.Variables.isSet("R3_CLANG");
    return Named ? Given.Variables.text("R3_CLANG") : R3_CLANG;
  }

  static Finding checkClang(Context &Given) {
    std::string Version = ask(Given, {clang(Given), "--version"});
    if (Version.empty())
      return {Finding::Bad, clang(Given) +
                                " does not run: install clang-22, with "
                                "which R3 was built, or name one by "
                                "R3_CLANG"};
    return {Finding::Good, firstLine(Version)};
  }

  static Finding checkPlugin(Context &Given) {
    std::string Plugin = installationPath("lib/libR3.so");
    if (access(Plugin.c_str(), R_OK) != 0)
      return {Finding::Bad,
              Plugin + " is missing: builds need it (a sanitizer build of R3 "
                       "has none)"};
    SpawnOptions Options;
    Options.Arguments = {
        clang(Given), "-x",        "c++", "-c",
        "-o",         "/dev/null", "-",   "-fpass-plugin=" + Plugin};
    Given.trace(Options.Arguments);
    auto Result = runProcess(Options, "int x;\n", ToolDeadline);
    if (!Result || !Result->Status.ok())
      return {Finding::Bad,
              "clang does not load " + Plugin + ": " +
                  (Result ? firstLine(Result->Err) : Result.error().message())};
    return {Finding::Good, Plugin + " loads"};
  }

  static Finding checkToolkit(Context &Given) {
    std::string Tool = std::string(R3_CUDA_BIN) + "/ptxas";
    std::string Version = ask(Given, {Tool, "--version"});
    if (Version.empty())
      Version = ask(Given, {Tool = "ptxas", "--version"});
    if (Version.empty())
      return {Finding::Bad, "ptxas is neither in " R3_CUDA_BIN
                            " nor on PATH: install the CUDA Toolkit (12 or "
                            "13); builds need it, on either device"};
    size_t Place = Version.find("release ");
    return {Finding::Good, Tool + ", " +
                               (Place == std::string::npos
                                    ? firstLine(Version)
                                    : firstLine(Version.substr(Place)))};
  }

  static Finding checkDriver(const Context &Given) {
    void *Library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!Library) {
      std::string Why = "libcuda.so.1 is not there: no NVIDIA driver";
      return Given.Backend == "cpu"
                 ? Finding{Finding::Note, Why + "; the CPU device needs none"}
                 : Finding{Finding::Bad,
                           Why + "; --device cpu or R3_DEVICE=cpu needs none"};
    }
    using GetVersion = int (*)(int *);
    auto Get =
        reinterpret_cast<GetVersion>(dlsym(Library, "cuDriverGetVersion"));
    int Version = 0;
    // The handle stays open: the driver does not like to be unloaded.
    if (!Get || Get(&Version) != 0)
      return {Finding::Bad, "libcuda.so.1 gives no version"};
    return {Finding::Good,
            format("supports CUDA %d.%d", Version / 1000, Version % 1000 / 10)};
  }

  Finding checkDevice(Context &Given) const {
    WorkerOptions Options = Given.workerOptions(Launcher);
    Options.ReplyTimeoutMs = 60000;
    // A worker wants a store; looking must not make one in the project.
    auto Scratch = createPrivateFolder("/tmp/r3-doctor-");
    if (!Scratch)
      return {Finding::Bad, Scratch.error().message()};
    Options.StorePath = *Scratch + "/store";
    auto Made = Store::open(Options.StorePath, /*Create=*/true);
    auto Started = Made ? Worker::start(Options)
                        : Expected<std::unique_ptr<Worker>>(Made.error());
    std::error_code Ignored;
    std::filesystem::remove_all(*Scratch, Ignored);
    if (!Started)
      return {Finding::Bad, "no worker for device " + Given.Backend + ": " +
                                printable(Started.error().message())};
    const DeviceIdentity &D = (*Started)->identity();
    return {Finding::Good,
            printable(D.Key) +
                (Given.Backend == "cpu" ? " (times are CPU times)" : "")};
  }

  /// As on this machine; a launcher may lead to another.
  static Finding checkFiles(const Context &Given) {
    const int Version = landlockVersion();
    if (Version && Given.Variables.flag("R3_CONFINE"))
      return {Finding::Good, format("replayed kernels run in a process that "
                                    "cannot open the store (Landlock %d)",
                                    Version)};
    return {Finding::Note,
            std::string("replayed kernels run in a process that could open the "
                        "store: ") +
                (Version ? "R3_CONFINE=0" : "this kernel has no Landlock")};
  }

  static Finding checkRoot(const Context &Given) {
    if (Given.HasRoot)
      return {Finding::Good, Given.Root + "/r3.toml"};
    return {Finding::Note, "no r3.toml here or above; `r3 init` makes one"};
  }

  static Finding checkStore(const Context &Given) {
    const std::string &Path = Given.StorePath;
    std::string Parent = Path.substr(0, std::max<size_t>(Path.rfind('/'), 1));
    bool There = access(Path.c_str(), F_OK) == 0;
    if (access(There ? Path.c_str() : Parent.c_str(), W_OK) != 0)
      return {Finding::Bad, (There ? Path : Parent) +
                                " cannot be written: R3_STORE names another "
                                "place"};
    return {Finding::Good,
            Path + (There ? "" : " (made by the first `r3 record`)")};
  }

  static Finding checkDisk(const Context &Given) {
    struct statvfs Disk{};
    std::string Path = Given.StorePath;
    while (statvfs(Path.c_str(), &Disk) != 0 && Path.size() > 1)
      Path = Path.substr(0, std::max<size_t>(Path.rfind('/'), 1));
    uint64_t Free = uint64_t(Disk.f_bavail) * Disk.f_frsize;
    if (Free < LeastFreeBytes)
      return {Finding::Bad, "only " + bytesText(Free) + " free at " + Path +
                                ": R3_STORE names another place"};
    return {Finding::Good, bytesText(Free) + " free at " + Path};
  }

  std::string Launcher;
  size_t Bad = 0;
};

} // namespace

std::unique_ptr<Command> makeDoctor() { return std::make_unique<Doctor>(); }

} // namespace r3
