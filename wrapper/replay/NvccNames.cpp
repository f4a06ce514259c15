// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// clang: _ZL4kept, _ZN12_GLOBAL__N_16hiddenE, _ZL4kept__r3_0123abcd
// nvcc:  kept, _ZN..._INTERNAL_..._GLOBAL__N__0123abcd_4_k_cu_4567cdef6hiddenE
// Both read "kept" and "(anonymous namespace)::hidden".
#include "wrapper/replay/Nvcc.h"

#include "wrapper/replay/PtxParts.h"

#include <llvm/Demangle/Demangle.h>

#include <map>
#include <regex>

namespace r3::replay {

namespace {

/// A name as people read it, without what makes it unique.
std::string readableName(const std::string &Name) {
  static const std::regex Unique("(__r3_|__intern__|__static__)[0-9a-f]+$"),
      Internal("\\b_INTERNAL_\\w*::");
  const std::string Plain = std::regex_replace(Name, Unique, "");
  return std::regex_replace(llvm::demangle(Plain), Internal, "");
}

/// All parts of one kind, by how they read.
std::multimap<std::string, std::string>
namesOf(const std::vector<PtxPart> &Parts, PtxPart::Kind What) {
  std::multimap<std::string, std::string> Names;
  for (const PtxPart &P : Parts)
    if (P.What == What)
      Names.emplace(readableName(P.Name), P.Name);
  return Names;
}

Expected<std::string>
findEntry(const std::multimap<std::string, std::string> &Entries,
          const std::string &Kernel) {
  const auto [From, To] = Entries.equal_range(readableName(Kernel));
  for (auto It = From; It != To; ++It)
    if (It->second == Kernel)
      return Kernel;
  if (From == To)
    return fail(ErrorCode::NotFound, "nvcc's PTX has no kernel %s",
                readableName(Kernel).c_str());
  if (std::next(From) != To)
    return fail(ErrorCode::NotFound, "nvcc's PTX has several kernels %s",
                readableName(Kernel).c_str());
  return From->second;
}

} // namespace

Expected<std::string> kernelOfNvcc(std::string_view Nvcc,
                                   std::string_view Clang,
                                   const std::string &Kernel) {
  const std::vector<PtxPart> Parts = ptxParts(Nvcc);
  auto Entry = findEntry(namesOf(Parts, PtxPart::Entry), Kernel);
  if (!Entry)
    return Entry.error();
  const auto Own = namesOf(Parts, PtxPart::Variable),
             Recorded = namesOf(ptxParts(Clang), PtxPart::Variable);
  std::map<std::string, std::string> Names = {{*Entry, Kernel}};
  for (const auto &[Readable, Name] : Own)
    if (Own.count(Readable) == 1 && Recorded.count(Readable) == 1)
      Names[Name] = Recorded.find(Readable)->second;
  return kernelAlone(Parts, *Entry, Names);
}

} // namespace r3::replay
