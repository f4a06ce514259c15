// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Links object files of kernels into this process (LLVM ORC and JITLink).
// Undefined symbols are globals of the module, whose storage the caller
// provides, functions of RuntimeCalls.def, and functions of libm, libc and
// libgcc that code generation uses.
#pragma once

#include "runtime/device/cpu/Image.h"
#include "runtime/device/cpu/Launch.h"

#include <functional>
#include <memory>

namespace r3::cpu {

/// Code in memory; unlinked by the destructor.
class LinkedCode {
public:
  virtual ~LinkedCode() = default;
  KernelImage Image;
  KernelEntry Entry = nullptr; // null: globals only
  /// First values of Image.Globals, in order.
  std::vector<const void *> FirstValues;
  /// Data of the code (constants), which it may read.
  std::vector<AddressRange> Data;
};

using StorageOf = std::function<Expected<Address>(const ImageGlobal &)>;

/// Reads the image section alone.
Expected<KernelImage> readImage(std::span<const uint8_t> Object);
Expected<std::unique_ptr<LinkedCode>> linkCode(std::span<const uint8_t> Object,
                                               const StorageOf &Storage);

} // namespace r3::cpu
