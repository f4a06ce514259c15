// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that can run: of modules that were loaded from an object, and of
// units of the program, which are parsed at the first question about them and
// compiled kernel by kernel at their first launch. The globals of a unit are
// one storage that all its kernels share.
#pragma once

#include "runtime/device/cpu/CodeLinker.h"
#include "runtime/device/cpu/Memory.h"

#include <map>
#include <mutex>

namespace r3::cpu {

/// A kernel with what a launch needs once it is compiled.
class CompiledKernel : public Kernel {
public:
  const std::string &name() const override { return Name; }
  const std::vector<Parameter> &parameters() const override {
    return Parameters;
  }
  uint32_t argumentBytes() const override { return ArgumentBytes; }

  /// The code; compiled at the first call where it belongs to a unit.
  virtual Expected<const LinkedCode *> code() = 0;

protected:
  std::string Name;
  std::vector<Parameter> Parameters;
  uint32_t ArgumentBytes = 0;
};

/// A module made by compileForCpu.
Expected<std::unique_ptr<DeviceModule>>
loadObject(std::span<const uint8_t> Object, Memory &Device,
           const std::function<void(const LinkedCode &, bool Added)> &OnData);

/// All units of the program.
class UnitSet {
public:
  explicit UnitSet(Memory &Device);
  ~UnitSet();
  void add(const CpuUnit &Unit);
  /// Keep: its kernels may still run, so its code and globals stay.
  void remove(const void *Id, bool Keep);
  bool empty() const;
  Expected<Kernel *> kernelOf(const void *Stub);
  Expected<AddressRange> globalByShadow(const void *HostVariable);
  /// Global Name of the unit that the kernel launched by Stub is in.
  Expected<AddressRange> globalOf(const void *Stub, const std::string &Name);

private:
  class Unit;
  Memory &Device;
  mutable std::mutex Mutex;
  std::vector<std::shared_ptr<Unit>> Units; // in order of registration
  std::vector<std::shared_ptr<Unit>> Kept;

  std::shared_ptr<Unit> unitOf(const void *Stub, std::string &Name) const;
};

} // namespace r3::cpu
