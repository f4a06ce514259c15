// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module loaded from an object file: one kernel and storage of its own for
// its globals.
#include "runtime/device/cpu/Kernels.h"

#include <cstring>

namespace r3::cpu {

namespace {

class ObjectKernel : public CompiledKernel {
public:
  explicit ObjectKernel(const LinkedCode &Linked) : Linked(Linked) {
    Name = Linked.Image.Kernel;
    Parameters = Linked.Image.Parameters;
    ArgumentBytes = Linked.Image.ArgumentBytes;
  }
  Expected<const LinkedCode *> code() override { return &Linked; }

private:
  const LinkedCode &Linked;
};

using Watcher = std::function<void(const LinkedCode &, bool Added)>;

class ObjectModule : public DeviceModule {
public:
  ObjectModule(Memory &Device, Watcher OnData)
      : Device(Device), OnData(std::move(OnData)) {}

  ~ObjectModule() override {
    if (Linked)
      OnData(*Linked, /*Added=*/false);
    Only.reset();
    Linked.reset();
    for (const auto &[Name, Where] : Globals)
      if (Error Failure = Device.free(Where.Begin))
        (void)Failure; // allocated here, freed by nobody else
  }

  Error link(std::span<const uint8_t> Object) {
    auto Result =
        linkCode(Object, [&](const ImageGlobal &G) -> Expected<Address> {
          Expected<Address> Where =
              Device.allocate(G.Size ? G.Size : 1, MemoryUse::Global, 0);
          if (Where)
            Globals[G.Name] = {*Where, G.Size};
          return Where;
        });
    if (!Result)
      return Result.error();
    Linked = std::move(*Result);
    for (size_t I = 0; I < Linked->FirstValues.size(); ++I) {
      const ImageGlobal &G = Linked->Image.Globals[I];
      std::memcpy(reinterpret_cast<void *>(Globals[G.Name].Begin),
                  Linked->FirstValues[I], G.Size);
    }
    if (Linked->Entry)
      Only = std::make_unique<ObjectKernel>(*Linked);
    OnData(*Linked, /*Added=*/true);
    return Error::success();
  }

  Expected<KernelHandle> kernel(const std::string &Name) override {
    if (!Only || Only->name() != Name)
      return fail(ErrorCode::NotFound, "no kernel %s in the module",
                  Name.c_str());
    return static_cast<KernelHandle>(static_cast<Kernel *>(Only.get()));
  }

  Expected<AddressRange> global(const std::string &Name) override {
    auto It = Globals.find(Name);
    if (It == Globals.end())
      return fail(ErrorCode::NotFound, "no global %s in the module",
                  Name.c_str());
    return It->second;
  }

private:
  Memory &Device;
  Watcher OnData;
  std::unique_ptr<LinkedCode> Linked;
  std::unique_ptr<ObjectKernel> Only;
  std::map<std::string, AddressRange> Globals;
};

} // namespace

Expected<std::unique_ptr<DeviceModule>>
loadObject(std::span<const uint8_t> Object, Memory &Device,
           const Watcher &OnData) {
  auto Module = std::make_unique<ObjectModule>(Device, OnData);
  if (Error Failure = Module->link(Object))
    return Failure;
  return std::unique_ptr<DeviceModule>(std::move(Module));
}

} // namespace r3::cpu
