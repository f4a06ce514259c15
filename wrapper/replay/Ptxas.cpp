// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Input and output are anonymous files, which ptxas opens through /proc: no
// temporary folder that a killed worker would leave behind.
#include "wrapper/replay/Ptxas.h"

#include "wrapper/replay/Descriptors.h"

#include "runtime/support/Process.h"
#include "runtime/support/Toolkit.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace r3::replay {

namespace {

constexpr uint64_t MemoryBytes = 8ull << 30;
constexpr int InputFd = 10, OutputFd = 11;

/// The number before Unit in "..., 380 bytes smem, ...".
uint32_t numberBefore(const std::string &Line, const std::string &Unit) {
  const size_t At = Line.find(Unit);
  if (At == std::string::npos || At == 0)
    return 0;
  size_t Begin = Line.find_last_not_of(' ', At - 1);
  while (Begin != std::string::npos && Begin > 0 &&
         isdigit(static_cast<unsigned char>(Line[Begin - 1])))
    --Begin;
  return Begin == std::string::npos
             ? 0
             : static_cast<uint32_t>(std::strtoul(&Line[Begin], nullptr, 10));
}

Expected<std::vector<uint8_t>> readBack(int Fd) {
  const off_t Size = lseek(Fd, 0, SEEK_END);
  if (Size <= 0)
    return fail(ErrorCode::Failed, "ptxas wrote no cubin");
  std::vector<uint8_t> Bytes(static_cast<size_t>(Size));
  for (size_t Got = 0; Got < Bytes.size();) {
    const ssize_t Now = pread(Fd, Bytes.data() + Got, Bytes.size() - Got,
                              static_cast<off_t>(Got));
    if (Now <= 0)
      return fail(ErrorCode::Failed, "the cubin: %s", std::strerror(errno));
    Got += static_cast<size_t>(Now);
  }
  return Bytes;
}

PtxasResult failed(Outcome Ending, std::string Message) {
  PtxasResult R;
  R.Ending = Ending;
  R.Message = std::move(Message);
  return R;
}

} // namespace

std::string firstErrorLine(const std::string &Text) {
  size_t Begin = Text.find("error");
  if (Begin == std::string::npos)
    Begin = Text.find("fatal");
  Begin = Begin == std::string::npos ? 0 : Text.rfind('\n', Begin) + 1;
  return Text.substr(Begin, Text.find('\n', Begin) - Begin);
}

std::vector<std::string> allPtxas() { return toolkitPrograms("ptxas"); }

Expected<std::string> findPtxas() {
  const std::vector<std::string> All = allPtxas();
  if (!All.empty())
    return All.front();
  return fail(ErrorCode::CannotRunHere,
              "no ptxas in $CUDA_PATH/bin, PATH or /usr/local/cuda/bin: "
              "install the CUDA Toolkit");
}

PtxasResult runPtxas(const std::string &Ptx, const PtxasOptions &Options) {
  static const auto Program = findPtxas();
  if (!Program)
    return failed(Outcome::BuildFailed, Program.error().message());
  auto Input = memoryFile("r3.ptx", 0);
  auto Output = memoryFile("r3.cubin", 0);
  if (!Input || !Output ||
      write(Input->get(), Ptx.data(), Ptx.size()) !=
          static_cast<ssize_t>(Ptx.size()))
    return failed(Outcome::OutOfMemory, "no memory for the PTX");
  SpawnOptions S;
  S.Arguments = {*Program,
                 "-v",
                 "-m64",
                 "-" + Options.Level,
                 "--gpu-name",
                 Options.Arch,
                 "/proc/self/fd/" + std::to_string(InputFd),
                 "--output-file",
                 "/proc/self/fd/" + std::to_string(OutputFd)};
  S.Descriptors = {{Input->get(), InputFd}, {Output->get(), OutputFd}};
  S.DieWithParent = true;
  S.NewGroup = true;
  S.MemoryLimitBytes = MemoryBytes;
  auto Run = runProcess(S, {}, std::chrono::milliseconds(Options.DeadlineMs));
  if (!Run)
    return failed(Outcome::BuildFailed, Run.error().message());
  const std::string Text = Run->Out + Run->Err;
  if (Run->Status.TimedOut)
    return failed(Outcome::BuildTimeout,
                  format("ptxas did not end within %llu ms",
                         static_cast<unsigned long long>(Options.DeadlineMs)));
  if (Run->Status.Signal)
    return failed(Outcome::BuildCrashed,
                  format("ptxas died of signal %d: %s", Run->Status.Signal,
                         firstErrorLine(Text).c_str()));
  if (Run->Status.Code)
    return failed(Outcome::BuildFailed, firstErrorLine(Text));
  auto Cubin = readBack(Output->get());
  if (!Cubin)
    return failed(Outcome::BuildFailed, Cubin.error().message());
  PtxasResult Result;
  Result.Cubin = std::move(*Cubin);
  readFigures(Text, Options.Kernel, Result);
  return Result;
}

void readFigures(const std::string &Text, const std::string &Kernel,
                 PtxasResult &Result) {
  bool Ours = false;
  for (size_t Begin = 0; Begin < Text.size();) {
    const size_t End = std::min(Text.find('\n', Begin), Text.size());
    const std::string Line = Text.substr(Begin, End - Begin);
    Begin = End + 1;
    if (Line.find("Compiling entry function") != std::string::npos)
      Ours = Line.find("'" + Kernel + "'") != std::string::npos;
    else if (Line.find("Function properties for") != std::string::npos)
      Ours = Line.ends_with(" " + Kernel);
    if (!Ours)
      continue;
    if (uint32_t Bytes = numberBefore(Line, " bytes spill stores"))
      Result.Spills = Bytes;
    if (uint32_t Count = numberBefore(Line, " registers"))
      Result.Registers = Count;
    if (uint32_t Bytes = numberBefore(Line, " bytes smem"))
      Result.Shared = Bytes;
  }
}

} // namespace r3::replay
