// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Only the section table is read.
#include "wrapper/replay/ElfCode.h"

#include "runtime/support/Bytes.h"

#include <cstring>
#include <elf.h>

namespace r3::replay {

namespace {

constexpr uint16_t MachineCuda = 190; // EM_CUDA

template <typename T>
bool readAt(std::span<const uint8_t> File, uint64_t Offset, T &To) {
  if (Offset > File.size() || File.size() - Offset < sizeof(T))
    return false;
  std::memcpy(&To, File.data() + Offset, sizeof(T));
  return true;
}

Error damaged(const char *What) {
  return fail(ErrorCode::Damaged, "binary: %s", What);
}

bool isElf(const Elf64_Ehdr &H) {
  return !std::memcmp(H.e_ident, ELFMAG, SELFMAG) &&
         H.e_ident[EI_CLASS] == ELFCLASS64 && H.e_ident[EI_DATA] == ELFDATA2LSB;
}

std::string nameAt(std::span<const uint8_t> Names, uint32_t Offset) {
  if (Offset >= Names.size())
    return {};
  const auto *Begin = reinterpret_cast<const char *>(Names.data()) + Offset;
  return {Begin, strnlen(Begin, Names.size() - Offset)};
}

/// Code and read-only data: what the loader maps without SHF_WRITE.
bool isCode(const ElfSection &S) {
  return S.Type == SHT_PROGBITS && (S.Flags & SHF_ALLOC) &&
         !(S.Flags & SHF_WRITE) && !S.Name.starts_with(".eh_frame");
}

void add(ByteWriter &W, const ElfSection &S) {
  W.string(S.Name);
  W.bytes(S.Bytes);
}

} // namespace

Expected<std::vector<ElfSection>> elfSections(std::span<const uint8_t> File) {
  Elf64_Ehdr Header;
  if (!readAt(File, 0, Header) || !isElf(Header))
    return damaged("not a 64-bit ELF file");
  if (Header.e_shentsize != sizeof(Elf64_Shdr))
    return damaged("its section table has another format");
  std::vector<Elf64_Shdr> Table(Header.e_shnum);
  for (size_t I = 0; I < Table.size(); ++I)
    if (!readAt(File, Header.e_shoff + I * sizeof(Elf64_Shdr), Table[I]))
      return damaged("its section table is cut");
  std::vector<ElfSection> Result;
  for (const Elf64_Shdr &S : Table) {
    ElfSection Section;
    Section.Type = S.sh_type;
    Section.Flags = S.sh_flags;
    Section.Info = S.sh_info;
    if (S.sh_type != SHT_NOBITS && S.sh_type != SHT_NULL) {
      if (S.sh_offset > File.size() || File.size() - S.sh_offset < S.sh_size)
        return damaged("a section lies outside the file");
      Section.Bytes = File.subspan(S.sh_offset, S.sh_size);
    }
    Result.push_back(Section);
  }
  if (Header.e_shstrndx >= Result.size())
    return damaged("it has no section names");
  const auto Names = Result[Header.e_shstrndx].Bytes;
  for (size_t I = 0; I < Table.size(); ++I)
    Result[I].Name = nameAt(Names, Table[I].sh_name);
  return Result;
}

/// Fatbinary: a header of 16 bytes (magic, version, size of the header, size
/// behind it), then entries, each with a header of its own. Not documented by
/// NVIDIA; as `fatbinary --create` of CUDA 12 and 13 writes it.
Expected<std::span<const uint8_t>> cubinIn(std::span<const uint8_t> Image,
                                           const std::string &Arch) {
  constexpr uint32_t Magic = 0xba55ed50;
  constexpr uint16_t KindElf = 2;
  struct Header {
    uint32_t Magic;
    uint16_t Version, HeaderSize;
    uint64_t Size;
  } File;
  struct Entry {
    uint16_t Kind, Version;
    uint32_t HeaderSize;
    uint64_t Size; // behind the header
    uint32_t CompressedSize, Reserved;
    uint16_t Minor, Major;
    uint32_t Arch; // 90
  } E;
  if (!readAt(Image, 0, File) || File.Magic != Magic)
    return Image;
  for (uint64_t At = File.HeaderSize; readAt(Image, At, E);) {
    if (E.HeaderSize < sizeof(E) || E.HeaderSize > Image.size() - At ||
        E.Size > Image.size() - At - E.HeaderSize)
      return fail(ErrorCode::Damaged, "an entry lies outside the fatbinary");
    const auto Body = Image.subspan(At + E.HeaderSize, E.Size);
    if (E.Kind == KindElf && !E.CompressedSize &&
        Arch == "sm_" + std::to_string(E.Arch))
      return Body;
    At += E.HeaderSize + E.Size;
  }
  return fail(ErrorCode::NotFound, "the fatbinary has no plain cubin of %s",
              Arch.c_str());
}

Expected<Digest> codeDigest(std::span<const uint8_t> File,
                            const std::string &Kernel) {
  auto Sections = elfSections(File);
  if (!Sections)
    return Sections.error();
  Elf64_Ehdr Header;
  readAt(File, 0, Header);
  if (Header.e_machine == MachineCuda) {
    const ElfSection *Text = nullptr, *Literals = nullptr;
    for (const ElfSection &S : *Sections) {
      if (S.Name == ".text." + Kernel)
        Text = &S;
      if (S.Name == ".nv.constant2." + Kernel)
        Literals = &S;
    }
    if (!Text)
      return fail(ErrorCode::NotFound, "the cubin has no code of %s",
                  Kernel.c_str());
    if (!Literals)
      return contentDigest(Text->Bytes);
    ByteWriter W;
    add(W, *Text);
    add(W, *Literals);
    return contentDigest(W.data());
  }
  ByteWriter W;
  for (const ElfSection &S : *Sections)
    if (isCode(S) || (S.Type == SHT_RELA && S.Info < Sections->size() &&
                      isCode((*Sections)[S.Info])))
      add(W, S);
  return contentDigest(W.data());
}

} // namespace r3::replay
