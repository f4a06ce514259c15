// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/cuda/Image.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <string_view>

using namespace r3;

namespace {

using Bytes = std::span<const uint8_t>;

constexpr uint32_t FatBinaryMagic = 0xba55ed50;
constexpr uint32_t FatBinaryWrapperMagic = 0x466243b1;
constexpr uint16_t CudaMachine = 190; // EM_CUDA

struct FatBinaryHeader {
  uint32_t Magic;
  uint16_t Version;
  uint16_t HeaderSize;
  uint64_t Size; // behind the header
};

template <typename T> bool readAt(Bytes Image, uint64_t Offset, T &Value) {
  if (Offset > Image.size() || Image.size() - Offset < sizeof(T))
    return false;
  memcpy(&Value, Image.data() + Offset, sizeof(T));
  return true;
}

bool contains(Bytes Image, uint64_t Offset, uint64_t Size) {
  return Offset <= Image.size() && Image.size() - Offset >= Size;
}

Error cut(Bytes Image, const char *What) {
  return fail(ErrorCode::Damaged,
              "device image of %zu bytes is cut: %s lies behind its end",
              Image.size(), What);
}

Error checkCubin(Bytes Image) {
  Elf64_Ehdr Header;
  if (!readAt(Image, 0, Header))
    return cut(Image, "the ELF header");
  if (Header.e_ident[EI_CLASS] != ELFCLASS64 || Header.e_machine != CudaMachine)
    return fail(ErrorCode::Damaged, "ELF image for machine %u, not for CUDA",
                unsigned(Header.e_machine));
  if (!contains(Image, Header.e_phoff,
                uint64_t(Header.e_phnum) * Header.e_phentsize))
    return cut(Image, "the program header table");
  for (unsigned I = 0; I < Header.e_shnum; ++I) {
    Elf64_Shdr Section;
    if (!readAt(Image, Header.e_shoff + uint64_t(I) * Header.e_shentsize,
                Section))
      return cut(Image, "the section header table");
    if (Section.sh_type != SHT_NOBITS &&
        !contains(Image, Section.sh_offset, Section.sh_size))
      return cut(Image, "a section");
  }
  return Error::success();
}

Error checkFatBinary(Bytes Image) {
  FatBinaryHeader Header;
  if (!readAt(Image, 0, Header))
    return cut(Image, "the fatbinary header");
  if (Header.HeaderSize < sizeof(Header))
    return fail(ErrorCode::Damaged, "fatbinary header of %u bytes",
                unsigned(Header.HeaderSize));
  if (!contains(Image, Header.HeaderSize, Header.Size))
    return cut(Image, "the fatbinary's content");
  return Error::success();
}

Error checkPtx(Bytes Image) {
  std::string_view Text(reinterpret_cast<const char *>(Image.data()),
                        Image.size());
  if (Text.ends_with('\0'))
    Text.remove_suffix(1);
  if (Text.find(".version") == Text.npos || Text.find('\0') != Text.npos)
    return fail(ErrorCode::Damaged,
                "device image of %zu bytes is no cubin, "
                "fatbinary or PTX text",
                Image.size());
  return Error::success();
}

Error check(Bytes Image) {
  uint32_t Magic = 0;
  readAt(Image, 0, Magic);
  if (Magic == FatBinaryMagic)
    return checkFatBinary(Image);
  if (Magic == FatBinaryWrapperMagic)
    return fail(ErrorCode::Usage, "device image is a __cuda_fatbin_wrapper; "
                                  "pass the fatbinary that it points to");
  if (Image.size() >= SELFMAG && !memcmp(Image.data(), ELFMAG, SELFMAG))
    return checkCubin(Image);
  return checkPtx(Image);
}

} // namespace

Expected<std::vector<uint8_t>> r3::prepareImage(Bytes Image) {
  if (Error E = check(Image))
    return E;
  std::vector<uint8_t> Copy;
  Copy.reserve(Image.size() + 1);
  Copy.assign(Image.begin(), Image.end());
  Copy.push_back(0);
  return Copy;
}
