// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether something that is given to the linker carries device code that
// still has to be linked (section .llvm.offloading, made by -fgpu-rdc): clang
// without --offload-link would silently leave the code out.
#pragma once

#include <string>
#include <vector>

namespace r3::clangr3 {

/// Path: an ELF object, or an archive of them. Anything else, and damaged
/// files: false.
bool holdsOffloadCode(const std::string &Path);

/// The archive that -lNAME means (libNAME.a, or FILE for -l:FILE) in the
/// first folder that has it or libNAME.so; empty where it is no archive.
std::string findArchive(const std::string &Name,
                        const std::vector<std::string> &Folders);

} // namespace r3::clangr3
