// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything is done late: attaching happens in static constructors with the
// loader's lock held, so the store, the device and the CPU device's library
// are opened by the first intercepted call that needs them.
#include "runtime/record/Runtime.h"

#include "runtime/device/cpu/CpuAbi.h"
#include "runtime/record/Message.h"
#include "runtime/support/Options.h"
#include "runtime/support/Process.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

namespace r3::record {

static Runtime *Process = nullptr;

Runtime *Runtime::get() {
  static Runtime *Made = [] {
    auto *R = new Runtime;
    if (Error E = R->readEnvironment()) {
      say(E.message());
      return static_cast<Runtime *>(nullptr);
    }
    pthread_atfork(nullptr, nullptr, afterFork);
    return Process = R;
  }();
  return Made;
}

static std::string currentFolder() {
  char Path[4096];
  return getcwd(Path, sizeof(Path)) ? Path : ".";
}

Error Runtime::readEnvironment() {
  Expected<Environment> E = Environment::read();
  if (!E)
    return E.error();
  setQuiet(E->flag("R3_QUIET"));
  const std::string &Device = E->text("R3_DEVICE");
  if (Device != "cpu" && Device != "cuda")
    return fail(ErrorCode::Usage, "R3_DEVICE=%s: cuda or cpu", Device.c_str());
  auto Read = recorderOptions(*E, currentFolder());
  if (!Read)
    return Read.error();
  Options = std::move(*Read);
  Cpu = Device == "cpu";
  Records = E->flag("R3_RECORD");
  std::vector<std::string> Disabled = E->names("R3_DISABLE");
  UseWinners =
      !Records && std::count(Disabled.begin(), Disabled.end(), "1") == 0;
  return Error::success();
}

void Runtime::attach(R3UnitTable *Unit) { Program.attach(Unit); }

void Runtime::detach(R3UnitTable *Unit) {
  // What is queued may still need the unit's bytes.
  if (HasRecorder && Made)
    Made->drain();
  std::lock_guard Guard(CpuLock);
  if (CpuLibrary && CpuUnits.erase(Unit))
    if (auto *Remove = reinterpret_cast<decltype(&__r3_cpu_remove_unit)>(
            dlsym(CpuLibrary, "__r3_cpu_remove_unit")))
      Remove(Unit);
  Program.detach(Unit);
}

// --- The CPU device.

bool Runtime::openCpu() {
  std::lock_guard Guard(CpuLock);
  if (CpuTried)
    return CpuLibrary;
  CpuTried = true;
  std::string Path = installationPath("lib/libr3-cpu.so");
  CpuLibrary = dlopen(Path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!CpuLibrary) {
    const char *Why = dlerror();
    say("cannot open the CPU device: " + std::string(Why ? Why : Path));
  }
  return CpuLibrary;
}

const void *Runtime::cpuFunction(const char *Name, const char *Suffix) {
  if (!openCpu())
    return nullptr;
  auto *Find = reinterpret_cast<decltype(&__r3_cpu_function)>(
      dlsym(CpuLibrary, "__r3_cpu_function"));
  return Find ? Find((std::string(Name) + Suffix).c_str()) : nullptr;
}

void Runtime::addNewCpuUnits() {
  if (!openCpu())
    return;
  std::lock_guard Guard(CpuLock);
  auto *Add = reinterpret_cast<decltype(&__r3_cpu_add_unit)>(
      dlsym(CpuLibrary, "__r3_cpu_add_unit"));
  uint64_t Now = Program.changes();
  for (R3UnitTable *Table : Program.attached()) {
    if (!Add || !CpuUnits.emplace(Table, true).second)
      continue;
    Expected<LoadedUnit *> Unit = Program.load(Table);
    if (!Unit) {
      sayOnce("the CPU device cannot run a unit: " + Unit.error().message());
      continue;
    }
    const r3::Unit &U = *(*Unit)->Unit;
    if (U.Modules.empty())
      continue;
    const UnitModule &M = *(*Unit)->moduleFor("");
    CpuUnit Description = {Table,
                           M.Bitcode.data(),
                           M.Bitcode.size(),
                           U.Level.c_str(),
                           U.Source.c_str(),
                           UseWinners,
                           Table->KernelCount,
                           Table->GlobalCount,
                           Table->Kernels,
                           Table->Globals};
    Add(&Description);
  }
  CpuUnitsSeen.store(Now, std::memory_order_release);
}

// --- The recorder.

Recorder *Runtime::makeRecorder() {
  std::lock_guard Guard(MakeLock);
  if (HasRecorder)
    return Made;
  Recorder *New = nullptr;
  if (Records) {
    Surroundings Around;
    Around.Attach = [this] { return attachDevice(); };
    Around.FindGlobal = [this](Device &D, const KernelState &K,
                               const LoadedUnit &Unit, const UnitGlobal &G) {
      return findGlobal(D, K, Unit, G);
    };
    Expected<std::unique_ptr<Recorder>> R =
        Recorder::create(Options, std::move(Around), Program);
    if (R) {
      New = R->release();
      std::atexit(atExit);
    } else {
      say("recording is off: " + R.error().message());
    }
  }
  Made = New;
  HasRecorder.store(true, std::memory_order_release);
  return New;
}

Expected<std::shared_ptr<Device>> Runtime::attachDevice() {
  // Handlers run in reverse order: registered once more after the driver's
  // own, ours runs while pinned memory is still there.
  static bool Registered = false;
  if (!std::exchange(Registered, true))
    std::atexit(atExit);
  if (!Cpu) {
    Expected<std::unique_ptr<Device>> D = attachCudaDevice();
    if (!D)
      return D.error();
    return std::shared_ptr<Device>(std::move(*D));
  }
  if (!openCpu())
    return fail(ErrorCode::CannotRunHere, "the CPU device cannot be opened");
  auto *Get = reinterpret_cast<decltype(&__r3_cpu_device)>(
      dlsym(CpuLibrary, "__r3_cpu_device"));
  if (!Get)
    return fail(ErrorCode::CannotRunHere, "libr3-cpu.so has no device");
  // The process's: nobody deletes it.
  return std::shared_ptr<Device>(Get(), [](Device *) {});
}

Expected<AddressRange> Runtime::findGlobal(Device &D, const KernelState &K,
                                           const LoadedUnit &Unit,
                                           const UnitGlobal &G) {
  const R3CudartTable &Cudart = Unit.Table->Image->Cudart;
  void *Function = nullptr;
  if (Cpu)
    Function = const_cast<void *>(K.Handle);
  else if (Cudart.GetFuncBySymbol)
    (void)Cudart.GetFuncBySymbol(&Function, K.Handle);
  if (Function)
    if (Expected<AddressRange> Where = D.globalOf(Function, G.Name))
      return Where;
  // Registered variables can be asked for by their shadow.
  auto *AddressOf = Cudart.GetSymbolAddress;
  if (Cpu)
    AddressOf = reinterpret_cast<decltype(AddressOf)>(
        cpuFunction("cudaGetSymbolAddress", ""));
  const void *Host = Unit.hostOf(G.Name);
  void *Where = nullptr;
  if (!Host || !AddressOf || AddressOf(&Where, Host) || !Where)
    return fail(ErrorCode::NotFound, "global %s is hidden", G.Name.c_str());
  return AddressRange{reinterpret_cast<Address>(Where), G.Size};
}

void Runtime::afterFork() {
  // Threads of ours are gone, and the device is the parent's.
  if (!Process)
    return;
  Process->Made = nullptr;
  Process->Records = false;
  Process->HasRecorder = true;
}

void Runtime::atExit() {
  if (Process && Process->Made)
    Process->Made->finish();
}

} // namespace r3::record
