// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Units of the program. Registration only notes pointers, since it happens in
// static constructors. Where two units register one stub (a template kernel
// that both instantiate), the first registered has it, as in CUDA.
#include "runtime/device/cpu/Kernels.h"

#include "plugin/ir/Closure.h"
#include "runtime/device/cpu/CompileModule.h"
#include "runtime/device/cpu/Retarget.h"
#include "runtime/record/ImageAbi.h"
#include "runtime/support/Options.h"
#include "runtime/support/Variant.h"

#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/LLVMContext.h"

#include <cstring>

namespace r3::cpu {

namespace {

/// Whether R3_DISABLE names the kernel: by a part of its name.
bool isDisabled(const std::string &Kernel) {
  Expected<Environment> Variables = Environment::read();
  if (!Variables)
    return false;
  std::string Display = llvm::demangle(Kernel);
  for (const std::string &Name : Variables->names("R3_DISABLE"))
    if (Name == "1" || Display.find(Name) != std::string::npos)
      return true;
  return false;
}

} // namespace

class UnitSet::Unit {
public:
  Unit(const CpuUnit &Info, Memory &Device) : Info(Info), Device(Device) {}
  ~Unit() {
    Kernels.clear();
    GlobalCode.reset();
    for (const auto &[Name, Where] : Globals)
      if (Error Failure = Device.free(Where.Begin))
        (void)Failure; // the process ends, or nobody can have freed it
  }

  const CpuUnit Info;

  const char *kernelName(const void *Stub) const {
    for (uint32_t I = 0; I < Info.KernelCount; ++I)
      if (Info.Kernels[I].Handle == Stub)
        return Info.Kernels[I].Name;
    return nullptr;
  }
  const char *globalName(const void *Host) const {
    for (uint32_t I = 0; I < Info.GlobalCount; ++I)
      if (Info.Globals[I].Host == Host)
        return Info.Globals[I].Name;
    return nullptr;
  }

  Expected<Kernel *> kernel(const std::string &Name);
  Expected<AddressRange> global(const std::string &Name);

private:
  class UnitKernel;
  Memory &Device;
  std::mutex Mutex; // of everything below, the context included
  llvm::LLVMContext Context;
  std::unique_ptr<llvm::Module> Code;
  Error Broken;
  bool Prepared = false;
  std::map<std::string, std::unique_ptr<UnitKernel>> Kernels;
  std::unique_ptr<LinkedCode> GlobalCode;
  std::map<std::string, AddressRange> Globals;

  Error prepare();
  Error placeGlobals();
  Expected<Address> storage(const ImageGlobal &G);
  CpuCompileOptions optionsFor(const std::string &Name) const;
  Expected<std::unique_ptr<LinkedCode>> compile(const std::string &Name);
};

class UnitSet::Unit::UnitKernel : public CompiledKernel {
public:
  UnitKernel(Unit &Owner, const KernelImage &Image) : Owner(Owner) {
    Name = Image.Kernel;
    Parameters = Image.Parameters;
    ArgumentBytes = Image.ArgumentBytes;
  }

  Expected<const LinkedCode *> code() override {
    std::lock_guard Lock(Owner.Mutex);
    if (Failure)
      return Failure;
    if (!Linked) {
      auto Result = Owner.compile(Name);
      if (!Result)
        return Failure = Result.error();
      Linked = std::move(*Result);
    }
    return Linked.get();
  }

private:
  Unit &Owner;
  std::unique_ptr<LinkedCode> Linked;
  Error Failure; // of the first try: the next would end the same way
};

/// Parses the unit and gives its globals their storage and first values.
Error UnitSet::Unit::prepare() {
  if (Prepared)
    return Broken;
  Prepared = true;
  std::string Source = Info.Source ? Info.Source : "unit";
  auto Parsed =
      parseDeviceModule({Info.Bitcode, Info.BitcodeSize}, Context, Source);
  if (!Parsed)
    return Broken = Parsed.error();
  Code = std::move(*Parsed);
  return Broken = placeGlobals().in(Source);
}

Error UnitSet::Unit::placeGlobals() {
  bool Any = false;
  for (const llvm::GlobalVariable &G : Code->globals())
    Any |= G.hasInitializer() && ir::isMutable(G) &&
           !G.getName().starts_with("llvm.");
  if (!Any)
    return Error::success();
  auto Object = compileGlobals(*Code, Info.Level ? Info.Level : "O2");
  if (!Object)
    return Object.error();
  auto Linked =
      linkCode(*Object, [&](const ImageGlobal &G) -> Expected<Address> {
        Expected<Address> Where =
            Device.allocate(G.Size ? G.Size : 1, MemoryUse::Global, 0);
        if (Where)
          Globals[G.Name] = {*Where, G.Size};
        return Where;
      });
  if (!Linked)
    return Linked.error();
  GlobalCode = std::move(*Linked);
  for (size_t I = 0; I < GlobalCode->FirstValues.size(); ++I) {
    const ImageGlobal &G = GlobalCode->Image.Globals[I];
    std::memcpy(reinterpret_cast<void *>(Globals[G.Name].Begin),
                GlobalCode->FirstValues[I], G.Size);
  }
  return Error::success();
}

Expected<Address> UnitSet::Unit::storage(const ImageGlobal &G) {
  auto It = Globals.find(G.Name);
  if (It == Globals.end() || It->second.Size != G.Size)
    return fail(ErrorCode::NotFound, "global %s has no storage",
                G.Name.c_str());
  return It->second.Begin;
}

/// What the profile says about the kernel, or the unit's own level.
CpuCompileOptions UnitSet::Unit::optionsFor(const std::string &Name) const {
  CpuCompileOptions Options;
  Options.Kernel = Name;
  Options.Level = Info.Level ? Info.Level : "O2";
  const llvm::Function *F = Code->getFunction(Name);
  if (!Info.UseWinners || !F || !F->hasFnAttribute("r3-variant") ||
      isDisabled(Name))
    return Options;
  auto Winner =
      Variant::parse(F->getFnAttribute("r3-variant").getValueAsString().str());
  if (!Winner)
    return Options;
  if (!Winner->Level.empty())
    Options.Level = Winner->Level;
  Options.Pipeline = Winner->Pipeline;
  return Options;
}

Expected<std::unique_ptr<LinkedCode>>
UnitSet::Unit::compile(const std::string &Name) {
  auto Object = compileKernel(*Code, optionsFor(Name));
  if (!Object)
    return Object.error();
  return linkCode(*Object, [&](const ImageGlobal &G) { return storage(G); });
}

Expected<Kernel *> UnitSet::Unit::kernel(const std::string &Name) {
  std::lock_guard Lock(Mutex);
  if (Error Failure = prepare())
    return Failure;
  std::unique_ptr<UnitKernel> &Slot = Kernels[Name];
  if (!Slot) {
    const llvm::Function *F = Code->getFunction(Name);
    if (!F || F->isDeclaration())
      return fail(ErrorCode::NotFound, "%s: no kernel %s in the device code",
                  Info.Source ? Info.Source : "unit", Name.c_str());
    Slot = std::make_unique<UnitKernel>(*this, describeKernel(*F));
  }
  return static_cast<Kernel *>(Slot.get());
}

Expected<AddressRange> UnitSet::Unit::global(const std::string &Name) {
  std::lock_guard Lock(Mutex);
  if (Error Failure = prepare())
    return Failure;
  auto It = Globals.find(Name);
  if (It == Globals.end())
    return fail(ErrorCode::NotFound, "no device variable %s", Name.c_str());
  return It->second;
}

// --- The set.

UnitSet::UnitSet(Memory &Device) : Device(Device) {}
UnitSet::~UnitSet() = default;

void UnitSet::add(const CpuUnit &Info) {
  std::lock_guard Lock(Mutex);
  Units.push_back(std::make_shared<Unit>(Info, Device));
}

void UnitSet::remove(const void *Id, bool Keep) {
  std::lock_guard Lock(Mutex);
  if (Keep)
    for (const std::shared_ptr<Unit> &U : Units)
      if (U->Info.Id == Id)
        Kept.push_back(U);
  std::erase_if(
      Units, [&](const std::shared_ptr<Unit> &U) { return U->Info.Id == Id; });
}

bool UnitSet::empty() const {
  std::lock_guard Lock(Mutex);
  return Units.empty();
}

std::shared_ptr<UnitSet::Unit> UnitSet::unitOf(const void *Stub,
                                               std::string &Name) const {
  std::lock_guard Lock(Mutex);
  for (const std::shared_ptr<Unit> &U : Units)
    if (const char *Found = U->kernelName(Stub)) {
      Name = Found;
      return U;
    }
  return nullptr;
}

Expected<Kernel *> UnitSet::kernelOf(const void *Stub) {
  std::string Name;
  std::shared_ptr<Unit> U = unitOf(Stub, Name);
  if (!U)
    return static_cast<Kernel *>(nullptr);
  return U->kernel(Name);
}

Expected<AddressRange> UnitSet::globalByShadow(const void *HostVariable) {
  std::shared_ptr<Unit> Found;
  std::string Name;
  {
    std::lock_guard Lock(Mutex);
    for (const std::shared_ptr<Unit> &U : Units)
      if (const char *Known = U->globalName(HostVariable); Known && !Found) {
        Found = U;
        Name = Known;
      }
  }
  if (!Found)
    return fail(ErrorCode::NotFound, "no device variable at %p", HostVariable);
  return Found->global(Name);
}

Expected<AddressRange> UnitSet::globalOf(const void *Stub,
                                         const std::string &Name) {
  std::string KernelName;
  std::shared_ptr<Unit> U = unitOf(Stub, KernelName);
  if (!U)
    return fail(ErrorCode::NotFound, "no kernel at %p", Stub);
  return U->global(Name);
}

} // namespace r3::cpu
