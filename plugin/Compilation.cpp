// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line comes from /proc: a pass has no other way to clang's exact
// arguments. What names a temporary or output file is taken out of it, so that
// the same sources give the same unit.
#include "plugin/Compilation.h"

#include "plugin/Settings.h"
#include "runtime/support/Digest.h"
#include "runtime/support/Files.h"
#include "runtime/support/Handover.h"
#include "runtime/support/Options.h"
#include "runtime/support/Profile.h"
#include "runtime/support/Store.h"

#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/StringSaver.h"

#include <cerrno>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace r3::plugin {

/// /proc files have no size; readFile of runtime/support asks for one.
static std::string readProc(const std::string &Path) {
  std::string Text;
  int Fd = open(Path.c_str(), O_RDONLY | O_CLOEXEC);
  if (Fd < 0)
    return Text;
  char Buffer[4096];
  for (ssize_t Got; (Got = ::read(Fd, Buffer, sizeof(Buffer))) > 0;)
    Text.append(Buffer, Got);
  close(Fd);
  return Text;
}

static std::vector<std::string> commandOf(const std::string &Process) {
  std::string Text = readProc("/proc/" + Process + "/cmdline");
  std::vector<std::string> Words;
  for (size_t At = 0; At < Text.size();) {
    size_t End = std::min(Text.find('\0', At), Text.size());
    Words.push_back(Text.substr(At, End - At));
    At = End + 1;
  }
  return Words;
}

static std::vector<std::string>
expandResponseFiles(const std::vector<std::string> &Words) {
  BumpPtrAllocator Memory;
  StringSaver Saver(Memory);
  SmallVector<const char *, 64> Arguments;
  for (const std::string &Word : Words)
    Arguments.push_back(Word.c_str());
  cl::ExpandResponseFiles(Saver, cl::TokenizeGNUCommandLine, Arguments);
  return {Arguments.begin(), Arguments.end()};
}

static bool contains(const std::vector<std::string> &Words, StringRef Word) {
  return llvm::is_contained(Words, Word);
}

static std::string valueAfter(const std::vector<std::string> &Words,
                              StringRef Option) {
  for (size_t I = 0; I + 1 < Words.size(); ++I)
    if (Words[I] == Option)
      return Words[I + 1];
  return {};
}

static std::string valueOf(const std::vector<std::string> &Words,
                           StringRef Prefix) {
  for (const std::string &Word : Words)
    if (StringRef(Word).starts_with(Prefix))
      return Word.substr(Prefix.size());
  return {};
}

/// Options whose value is a file that is written, or made for one build.
static std::vector<std::string>
withoutOutputs(const std::vector<std::string> &Words) {
  std::vector<std::string> Kept;
  for (size_t I = 0; I < Words.size(); ++I) {
    StringRef Word = Words[I];
    if (Word == "-o" || Word == "-dependency-file" || Word == "-MT" ||
        Word == "-fcuda-include-gpubinary" || Word == "-dumpdir")
      ++I;
    else if (!Word.starts_with("-fpass-plugin="))
      Kept.push_back(Words[I]);
  }
  return Kept;
}

/// The source that clang was given. With -save-temps the compile continues from
/// a file made before it: then the driver's command line has the name.
static std::string sourcePath(const Module &M,
                              const std::vector<std::string> &Own,
                              const std::vector<std::string> &Driver) {
  std::string Given = M.getSourceFileName();
  std::string Main = valueAfter(Own, "-main-file-name");
  if (!Main.empty() && sys::path::filename(Given) != Main) {
    Given = Main;
    for (const std::string &Word : Driver)
      if (sys::path::filename(Word) == Main)
        Given = Word;
  }
  SmallString<256> Path(Given);
  sys::fs::make_absolute(Path);
  sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
  return Path.str().str();
}

static void readDriver(Compilation &C, const std::vector<std::string> &Driver) {
  C.DeviceOnly = contains(Driver, "--cuda-device-only") ||
                 contains(Driver, "--offload-device-only");
  C.HostOnly = contains(Driver, "--cuda-host-only") ||
               contains(Driver, "--offload-host-only");
}

static void readEnvironment(Compilation &C) {
  Expected<Environment> Variables = Environment::read();
  if (Variables)
    C.Folder = Variables->text("R3_HANDOVER");
  else
    C.EnvironmentProblem = Variables.error().message();
}

/// The header that was given to the plugin, else one that is force-included:
/// with several sources in a command each has its own.
static std::string findHeader(const std::vector<std::string> &Command,
                              const std::string &Source) {
  std::string Header = profileHeader();
  std::string Ending = "/" + unitHeaderPath(Source);
  for (size_t I = 0; Header.empty() && I + 1 < Command.size(); ++I)
    if (Command[I] == "-include" && StringRef(Command[I + 1]).ends_with(Ending))
      Header = Command[I + 1];
  return Header;
}

Compilation Compilation::read(const Module &M) {
  Compilation C;
  std::vector<std::string> Own = expandResponseFiles(commandOf("self"));
  C.IsFrontEnd = contains(Own, "-cc1");
  std::vector<std::string> Driver = expandResponseFiles(
      C.IsFrontEnd ? commandOf(std::to_string(getppid())) : Own);
  readDriver(C, Driver);
  readEnvironment(C);
  C.Command = withoutOutputs(Own);
  C.IsCuda = !C.IsFrontEnd || contains(Own, "-fcuda-is-device");
  C.IsRdc = contains(Own, "-fgpu-rdc");
  C.IsLto = !valueOf(Own, "-flto").empty() || contains(Own, "-flto");
  C.Embeds = embedsDeviceCode();
  std::string Source = sourcePath(M, Own, Driver);
  std::string Folder = sys::path::parent_path(Source).str();
  Expected<std::string> Root = findRoot(Folder);
  C.Root = Root ? *Root : Folder;
  C.Source = StringRef(Source).starts_with(C.Root + "/")
                 ? Source.substr(C.Root.size() + 1)
                 : Source;
  C.Header = findHeader(C.Command, C.Source);
  C.Unit =
      contentDigest(Source + "\n" + valueOf(Own, "-cuid=")).hex().substr(0, 16);
  return C;
}

void Compilation::say(Module &M, const char *Kind, const char *Reason,
                      const std::string &Text) const {
  std::string Whole = "r3: " + Source + ": " + Text;
  M.getContext().diagnose(DiagnosticInfoGeneric(Whole, DS_Remark));
  if (!Folder.empty())
    (void)static_cast<bool>(
        writeHandoverMessage(Folder, {Kind, Reason, Source + ": " + Text}));
}

void Compilation::note(Module &M, const char *Reason,
                       const std::string &Text) const {
  say(M, "note", Reason, Text);
}

void Compilation::warn(Module &M, const char *Reason,
                       const std::string &Text) const {
  say(M, "warning", Reason, Text);
}

void Compilation::status(const Module &M, const char *Event) const {
  if (!Folder.empty())
    (void)static_cast<bool>(
        writeHandoverStatus(Folder, Event, M.getTargetTriple().str()));
}

/// Field 22 of /proc/PID/stat; the name in field 2 may contain anything.
static std::string startTime(pid_t Process) {
  std::string Text = readProc("/proc/" + std::to_string(Process) + "/stat");
  size_t NameEnd = Text.rfind(')');
  if (NameEnd == std::string::npos)
    return "0";
  SmallVector<StringRef, 32> Fields;
  StringRef(Text).drop_front(NameEnd + 1).trim().split(Fields, ' ');
  return Fields.size() > 19 ? Fields[19].str() : "0";
}

static Error checkPrivate(const std::string &Path) {
  struct stat Info;
  if (lstat(Path.c_str(), &Info) != 0)
    return fail(ErrorCode::NotFound, "%s: not there", Path.c_str());
  if (!S_ISDIR(Info.st_mode) || Info.st_uid != getuid() ||
      (Info.st_mode & 077) != 0)
    return fail(ErrorCode::Failed, "%s: not a private folder of this user",
                Path.c_str());
  return Error::success();
}

/// Process numbers mean nothing where containers share the folder, so a part
/// counts as abandoned only after an hour.
static bool isOld(const std::string &Path) {
  struct stat Info;
  return stat(Path.c_str(), &Info) == 0 && time(nullptr) - Info.st_mtime > 3600;
}

/// Folders of drivers that have ended: their host compile never came, since
/// the build failed in between.
static void removeAbandoned(StringRef Temporary, StringRef Prefix) {
  std::error_code Problem;
  for (sys::fs::directory_iterator It(Temporary, Problem), End;
       It != End && !Problem; It.increment(Problem)) {
    StringRef Name = sys::path::filename(It->path());
    pid_t Driver = 0;
    if (!Name.consume_front(Prefix) ||
        Name.split('-').first.getAsInteger(10, Driver) || Driver <= 0 ||
        kill(Driver, 0) == 0 || errno != ESRCH || !isOld(It->path()) ||
        checkPrivate(It->path()))
      continue;
    sys::fs::remove_directories(It->path());
  }
}

Expected<std::string> handoverFolder(const Compilation &C, bool Create) {
  if (!C.Folder.empty())
    return C.Folder;
  SmallString<128> Path;
  sys::path::system_temp_directory(/*ErasedOnReboot=*/true, Path);
  pid_t Driver = getppid();
  std::string Prefix = "r3-" + std::to_string(getuid()) + "-";
  if (Create)
    removeAbandoned(Path, Prefix);
  sys::path::append(Path,
                    Prefix + std::to_string(Driver) + "-" + startTime(Driver));
  std::string Folder = Path.str().str();
  if (Create)
    mkdir(Folder.c_str(), 0700);
  if (Error Problem = checkPrivate(Folder))
    return Problem;
  return Folder;
}

std::string handoverPath(const Compilation &C, const std::string &Folder,
                         const std::string &Arch) {
  return Folder + "/" + C.Unit + "." + Arch + ".unit";
}

std::vector<std::string> handoverParts(const Compilation &C,
                                       const std::string &Folder) {
  std::vector<std::string> Paths;
  std::error_code Problem;
  for (sys::fs::directory_iterator It(Folder, Problem), End;
       It != End && !Problem; It.increment(Problem)) {
    StringRef Name = sys::path::filename(It->path());
    if (Name.starts_with(C.Unit + ".") && Name.ends_with(".unit"))
      Paths.push_back(It->path());
  }
  llvm::sort(Paths);
  return Paths;
}

} // namespace r3::plugin
