// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the units in an ELF64 file. Only the headers, the table of names and
// our own sections are read, so that a program of gigabytes costs little; each
// part is checked to lie inside the file before it is read.
#include "runtime/support/Bytes.h"
#include "runtime/support/UnitSection.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <functional>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace r3 {

static constexpr std::string_view SectionPrefix = ".r3.unit.";

namespace {

/// A file or bytes in memory.
struct Image {
  std::string Name;
  uint64_t Size = 0;
  std::function<Error(uint64_t Offset, std::span<uint8_t> Into)> Read;
};

struct Section {
  uint32_t Name = 0, Type = 0, Link = 0;
  uint64_t Offset = 0, Size = 0;
};

class ElfReader {
public:
  explicit ElfReader(const Image &File) : File(File) {}

  Expected<std::vector<Unit>> units() {
    Error Failure = readSections();
    if (!Failure)
      Failure = readNames();
    if (!Failure)
      Failure = readUnits();
    if (Failure)
      return Failure;
    return std::move(Units);
  }

private:
  Expected<std::vector<uint8_t>> bytes(uint64_t Offset, uint64_t Size,
                                       const char *What) {
    if (Offset > File.Size || Size > File.Size - Offset)
      return fail(ErrorCode::Damaged,
                  "%s: offset %llu: %s of %llu bytes is outside the file",
                  File.Name.c_str(), (unsigned long long)Offset, What,
                  (unsigned long long)Size);
    std::vector<uint8_t> Result(Size);
    if (Error E = File.Read(Offset, Result))
      return E;
    return Result;
  }

  Error readSections();
  Expected<Section> readSection(uint64_t Offset);
  Error readNames();
  Error readUnits();
  Error readUnitsOf(const Section &S, const std::string &Name);

  const Image &File;
  std::vector<Section> Sections;
  uint32_t NameTable = 0;
  std::vector<uint8_t> Names;
  std::set<std::string> Seen;
  std::vector<Unit> Units;
};

Section parseSectionHeader(ByteReader &In) {
  Section S;
  S.Name = In.u32();
  S.Type = In.u32();
  In.u64(); // flags
  In.u64(); // address
  S.Offset = In.u64();
  S.Size = In.u64();
  S.Link = In.u32();
  In.raw(sizeof(Elf64_Shdr) - 44);
  return S;
}

Expected<Section> ElfReader::readSection(uint64_t Offset) {
  auto Bytes = bytes(Offset, sizeof(Elf64_Shdr), "a section header");
  if (!Bytes)
    return Bytes.error();
  ByteReader In(*Bytes, File.Name);
  return parseSectionHeader(In);
}

Error ElfReader::readSections() {
  auto Bytes = bytes(0, std::min<uint64_t>(File.Size, sizeof(Elf64_Ehdr)),
                     "the ELF header");
  if (!Bytes)
    return Bytes.error();
  ByteReader In(*Bytes, File.Name);
  std::span<const uint8_t> Identity = In.raw(EI_NIDENT);
  if (In.failed() || std::memcmp(Identity.data(), ELFMAG, SELFMAG) ||
      Identity[EI_CLASS] != ELFCLASS64 || Identity[EI_DATA] != ELFDATA2LSB)
    return fail(ErrorCode::Damaged, "%s: not a 64-bit little-endian ELF file",
                File.Name.c_str());
  In.raw(offsetof(Elf64_Ehdr, e_shoff) - EI_NIDENT);
  uint64_t Table = In.u64();
  In.raw(offsetof(Elf64_Ehdr, e_shentsize) - offsetof(Elf64_Ehdr, e_flags));
  uint32_t EntryAndCount = In.u32();
  std::span<const uint8_t> Last = In.raw(2);
  if (In.failed())
    return In.error();
  if (!Table)
    return Error::success(); // stripped of all section headers
  if ((EntryAndCount & 0xffff) != sizeof(Elf64_Shdr))
    return fail(ErrorCode::Damaged, "%s: section headers of %u bytes",
                File.Name.c_str(), EntryAndCount & 0xffff);
  uint64_t Count = EntryAndCount >> 16;
  NameTable = uint32_t(Last[0] | Last[1] << 8);
  // Numbers that do not fit are in the first section header.
  if (!Count || NameTable == SHN_XINDEX) {
    Expected<Section> First = readSection(Table);
    if (!First)
      return First.error();
    Count = Count ? Count : First->Size;
    NameTable = NameTable == SHN_XINDEX ? First->Link : NameTable;
  }
  if (Count > File.Size / sizeof(Elf64_Shdr))
    return fail(ErrorCode::Damaged, "%s: %llu sections cannot be",
                File.Name.c_str(), (unsigned long long)Count);
  Bytes = bytes(Table, Count * sizeof(Elf64_Shdr), "the section table");
  if (!Bytes)
    return Bytes.error();
  ByteReader Headers(*Bytes, File.Name);
  for (uint64_t I = 0; I != Count; ++I)
    Sections.push_back(parseSectionHeader(Headers));
  return Error::success();
}

Error ElfReader::readNames() {
  if (Sections.empty() || !NameTable)
    return Error::success();
  if (NameTable >= Sections.size())
    return fail(ErrorCode::Damaged, "%s: section %u (names) does not exist",
                File.Name.c_str(), NameTable);
  const Section &Table = Sections[NameTable];
  auto Bytes = bytes(Table.Offset, Table.Size, "the table of names");
  if (!Bytes)
    return Bytes.error();
  Names = std::move(*Bytes);
  Names.push_back(0);
  return Error::success();
}

Error ElfReader::readUnits() {
  for (const Section &S : Sections) {
    if (S.Type == SHT_NOBITS || S.Name >= Names.size())
      continue;
    std::string Name(reinterpret_cast<const char *>(&Names[S.Name]));
    if (!Name.starts_with(SectionPrefix))
      continue;
    if (Error E = readUnitsOf(S, File.Name + "(" + Name + ")"))
      return E;
  }
  return Error::success();
}

Error ElfReader::readUnitsOf(const Section &S, const std::string &Name) {
  auto Bytes = bytes(S.Offset, S.Size, "a unit");
  if (!Bytes)
    return Bytes.error();
  std::span<const uint8_t> Rest = *Bytes;
  while (!Rest.empty()) {
    size_t Used = 0;
    Expected<Unit> Parsed = readUnit(Rest, Name, Used);
    if (!Parsed)
      return Parsed.error();
    if (Seen.insert(Parsed->Id).second)
      Units.push_back(std::move(*Parsed));
    Rest = Rest.subspan(Used);
    while (!Rest.empty() && !Rest[0]) // alignment between equal sections
      Rest = Rest.subspan(1);
  }
  return Error::success();
}

} // namespace

Expected<std::vector<Unit>> parseElfUnits(std::span<const uint8_t> Elf,
                                          const std::string &Name) {
  Image File{Name, Elf.size(), [&](uint64_t Offset, std::span<uint8_t> Into) {
               if (!Into.empty())
                 std::memcpy(Into.data(), Elf.data() + Offset, Into.size());
               return Error::success();
             }};
  return ElfReader(File).units();
}

static Error readFully(int Fd, const std::string &Path, uint64_t Offset,
                       std::span<uint8_t> Into) {
  while (!Into.empty()) {
    ssize_t Got = ::pread(Fd, Into.data(), Into.size(), off_t(Offset));
    if (Got < 0 && errno == EINTR)
      continue;
    if (Got < 0)
      return fail(ErrorCode::Failed, "%s: cannot read: %s", Path.c_str(),
                  std::strerror(errno));
    if (Got == 0)
      return fail(ErrorCode::Damaged, "%s: became shorter", Path.c_str());
    Offset += uint64_t(Got);
    Into = Into.subspan(size_t(Got));
  }
  return Error::success();
}

Expected<std::vector<Unit>> readUnits(const std::string &ElfPath) {
  int Fd = ::open(ElfPath.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat Status;
  if (Fd < 0 || ::fstat(Fd, &Status)) {
    Error E =
        fail(errno == ENOENT ? ErrorCode::NotFound : ErrorCode::Failed,
             "%s: cannot open: %s", ElfPath.c_str(), std::strerror(errno));
    if (Fd >= 0)
      ::close(Fd);
    return E;
  }
  Image File{ElfPath, uint64_t(Status.st_size),
             [&](uint64_t Offset, std::span<uint8_t> Into) {
               return readFully(Fd, ElfPath, Offset, Into);
             }};
  Expected<std::vector<Unit>> Result = ElfReader(File).units();
  ::close(Fd);
  return Result;
}

} // namespace r3
