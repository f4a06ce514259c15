// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads section names of 64-bit ELF objects, by themselves or in archives
// (thin ones too), from a mapped file, with every access checked.
#include "wrapper/clang-r3/OffloadScan.h"

#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace r3::clangr3 {

namespace {

constexpr std::string_view Section = ".llvm.offloading";
constexpr std::string_view Archive = "!<arch>\n";
constexpr std::string_view ThinArchive = "!<thin>\n";
constexpr size_t MemberHeader = 60;

// A file mapped for reading.
class Mapping {
public:
  explicit Mapping(const std::string &Path) {
    int Fd = open(Path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat Status;
    if (Fd >= 0 && !fstat(Fd, &Status) && S_ISREG(Status.st_mode) &&
        Status.st_size > 0) {
      void *Where = mmap(nullptr, Status.st_size, PROT_READ, MAP_PRIVATE, Fd, 0);
      if (Where != MAP_FAILED)
        Bytes = {static_cast<const char *>(Where),
                 static_cast<size_t>(Status.st_size)};
    }
    if (Fd >= 0)
      close(Fd);
  }
  ~Mapping() {
    if (!Bytes.empty())
      munmap(const_cast<char *>(Bytes.data()), Bytes.size());
  }
  Mapping(const Mapping &) = delete;
  std::string_view Bytes;
};

template <typename T>
bool readAt(std::string_view Bytes, uint64_t Offset, T &Value) {
  if (Offset > Bytes.size() || Bytes.size() - Offset < sizeof(T))
    return false;
  memcpy(&Value, Bytes.data() + Offset, sizeof(T));
  return true;
}

bool objectHolds(std::string_view Bytes) {
  Elf64_Ehdr Header;
  if (!readAt(Bytes, 0, Header) || memcmp(Header.e_ident, ELFMAG, SELFMAG) ||
      Header.e_ident[EI_CLASS] != ELFCLASS64)
    return false;
  auto section = [&](uint64_t Index, Elf64_Shdr &Out) {
    return readAt(Bytes, Header.e_shoff + Index * sizeof(Elf64_Shdr), Out);
  };
  // Over 65,279 sections the real numbers stand in section 0.
  Elf64_Shdr First, Names, S;
  if (!section(0, First))
    return false;
  uint64_t Count = Header.e_shnum ? Header.e_shnum : First.sh_size;
  uint64_t NameIndex =
      Header.e_shstrndx == SHN_XINDEX ? First.sh_link : Header.e_shstrndx;
  if (!section(NameIndex, Names) || Names.sh_offset > Bytes.size())
    return false;
  std::string_view Table = Bytes.substr(Names.sh_offset, Names.sh_size);
  for (uint64_t I = 1; I < Count && section(I, S); ++I)
    if (S.sh_name < Table.size() &&
        Table.substr(S.sh_name).starts_with(Section) &&
        Table.substr(S.sh_name + Section.size()).starts_with('\0'))
      return true;
  return false;
}

// The path of a thin archive's member: "/OFFSET" into the table of long names,
// or "NAME/".
std::string memberPath(std::string_view Name, std::string_view LongNames) {
  if (Name.starts_with('/')) {
    size_t Offset = std::strtoul(std::string(Name.substr(1)).c_str(), nullptr, 10);
    if (Offset >= LongNames.size())
      return {};
    Name = LongNames.substr(Offset);
    return std::string(Name.substr(0, Name.find("/\n")));
  }
  return std::string(Name.substr(0, Name.find('/')));
}

bool archiveHolds(std::string_view Bytes, bool Thin, const fs::path &Folder) {
  std::string_view LongNames;
  for (size_t At = Archive.size(); At + MemberHeader <= Bytes.size();) {
    std::string_view Header = Bytes.substr(At, MemberHeader);
    std::string_view Name = Header.substr(0, 16);
    size_t Size =
        std::strtoull(std::string(Header.substr(48, 10)).c_str(), nullptr, 10);
    At += MemberHeader;
    bool IsTable = Name.starts_with("// ") || Name.starts_with("/ ") ||
                   Name.starts_with("/SYM64/");
    bool Inside = !Thin || IsTable;
    if (Inside && Size > Bytes.size() - At)
      return false;
    if (Name.starts_with("// "))
      LongNames = Bytes.substr(At, Size);
    else if (!IsTable && Inside && objectHolds(Bytes.substr(At, Size)))
      return true;
    else if (!Inside) {
      std::string Path = memberPath(Name, LongNames);
      if (!Path.empty() && objectHolds(Mapping((Folder / Path).string()).Bytes))
        return true;
    }
    At += Inside ? Size + (Size & 1) : 0;
  }
  return false;
}

} // namespace

bool holdsOffloadCode(const std::string &Path) {
  Mapping File(Path);
  if (File.Bytes.starts_with(Archive) || File.Bytes.starts_with(ThinArchive))
    return archiveHolds(File.Bytes, File.Bytes.starts_with(ThinArchive),
                        fs::path(Path).parent_path());
  return objectHolds(File.Bytes);
}

std::string findArchive(const std::string &Name,
                        const std::vector<std::string> &Folders) {
  std::error_code Ignored;
  for (const std::string &Folder : Folders) {
    if (Name.starts_with(':')) {
      std::string Path = Folder + "/" + Name.substr(1);
      if (fs::exists(Path, Ignored))
        return Path.ends_with(".a") ? Path : "";
      continue;
    }
    if (fs::exists(Folder + "/lib" + Name + ".so", Ignored))
      return {};
    std::string Path = Folder + "/lib" + Name + ".a";
    if (fs::exists(Path, Ignored))
      return Path;
  }
  return {};
}

} // namespace r3::clangr3
