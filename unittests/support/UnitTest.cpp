// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/support/Unit.h"
#include "runtime/support/Bytes.h"
#include "unittests/support/TestFolder.h"

#include <cstring>
#include <elf.h>

using namespace r3;

static Unit example() {
  Unit U;
  U.Source = "src/a.cu";
  U.Level = "O2";
  U.Compiler = "clang 22.1.8";
  U.Plugin = "0.1.0-x";
  U.Commands = {{"sm_90", {"-cc1", "-D", "X=\"y\""}}};
  UnitKernel K;
  K.Name = "_Z1kPdi";
  K.Display = "k(double*, int)";
  K.Home = "src/a.cu:main";
  K.Line = 12;
  K.ArgumentBytes = 16;
  K.Parameters = {{0, 8}, {8, 4}};
  K.Fields = {{0, 8, ValueType::Pointer, "p"}, {8, 4, ValueType::I32, "n"}};
  K.Written = {{0, ValueType::F64}};
  K.Code["sm_90"] = {
      std::string(32, 'a'), std::string(32, 'b'), "clock", "line 3", {"table"}};
  U.Kernels = {K};
  U.Globals = {{"table.1", "table", 64, true, false, ValueType::F32}};
  UnitModule M;
  M.Arch = "sm_90";
  for (int I = 0; I != 3000; ++I)
    M.Bitcode.push_back(uint8_t(I % 7));
  M.Content = contentDigest(M.Bitcode);
  U.Modules = {M};
  return U;
}

static std::vector<uint8_t> section(std::string &Id) {
  return example().serialize(Id);
}

static std::vector<uint8_t> section() {
  std::string Id;
  return section(Id);
}

TEST(Unit, RoundTrip) {
  std::string Id;
  std::vector<uint8_t> Bytes = section(Id);
  EXPECT_EQ(Id.size(), 32u);
  EXPECT_LT(Bytes.size(), 3000u) << "not compressed";
  Expected<Unit> Parsed = Unit::parseSection(Bytes, "s");
  ASSERT_TRUE(Parsed) << Parsed.error().message();
  EXPECT_EQ(Parsed->Id, Id);
  std::string Again;
  EXPECT_EQ(Parsed->serialize(Again), Bytes);
  EXPECT_EQ(Parsed->Modules[0].Bitcode, example().Modules[0].Bitcode);
  const UnitKernel *K = Parsed->findKernel("_Z1kPdi");
  ASSERT_TRUE(K);
  EXPECT_EQ(K->Parameters[1].Offset, 8u);
  EXPECT_EQ(K->Fields[1].Name, "n");
  EXPECT_EQ(K->Written.at(0), ValueType::F64);
  EXPECT_EQ(K->Code.at("sm_90").Globals[0], "table");
  EXPECT_EQ(Parsed->Globals[0].Size, 64u);
  EXPECT_TRUE(Parsed->Globals[0].Constant);
  EXPECT_EQ(Parsed->Commands.at("sm_90")[2], "X=\"y\"");
  EXPECT_FALSE(Parsed->findKernel("k"));
}

TEST(Unit, CutAndChangedAtEveryByte) {
  std::vector<uint8_t> Bytes = section();
  for (size_t I = 0; I != Bytes.size(); ++I) {
    EXPECT_FALSE(Unit::parseSection({Bytes.data(), I}, "cut")) << I;
    std::vector<uint8_t> Changed = Bytes;
    Changed[I] ^= 4;
    EXPECT_FALSE(Unit::parseSection(Changed, "changed")) << I;
  }
}

static std::vector<uint8_t> sealed(std::vector<uint8_t> Bytes) {
  Bytes.resize(Bytes.size() - 8);
  ByteWriter Out;
  Out.raw(Bytes);
  Out.u64(checksum(Bytes));
  return Out.take();
}

TEST(Unit, WrongVersionAndForgedNumbers) {
  std::vector<uint8_t> Bytes = section();
  Bytes[8] = 3;
  EXPECT_TRUE(failsWith(Unit::parseSection(sealed(Bytes), "s"), "version 3"));
  Bytes = section();
  Bytes[15] = 0x7f; // the number of modules
  EXPECT_FALSE(Unit::parseSection(sealed(Bytes), "s"));
  // The size of the module before compression lies behind its name.
  Bytes = section();
  size_t Json = example().json().size();
  Bytes[16 + 8 + Json + 8 + 5 + 4] = 1;
  EXPECT_TRUE(failsWith(Unit::parseSection(sealed(Bytes), "s"),
                        "is not that of its compressed form"));
}

TEST(Unit, JsonIsChecked) {
  auto fails = [](const char *From, const char *To, const char *Why) {
    std::string Text = example().json();
    size_t At = Text.find(From);
    EXPECT_NE(At, std::string::npos) << From;
    Text.replace(At, std::strlen(From), To);
    return failsWith(Unit::parseJson(Text), Why);
  };
  EXPECT_TRUE(Unit::parseJson("{}"));
  EXPECT_TRUE(failsWith(Unit::parseJson("[]"), "an object expected"));
  EXPECT_TRUE(fails("\"line\":12", "\"line\":\"x\"", "'line' is no number"));
  EXPECT_TRUE(fails("\"offset\":8", "\"offset\":18", "'n' lies outside"));
  EXPECT_TRUE(fails("[8,4]", "[8,9]", "parameter lies outside"));
  EXPECT_TRUE(fails("[8,4]", "[8]", "not [offset, size]"));
  EXPECT_TRUE(fails("\"i32\"", "\"int\"", "unknown type 'int'"));
  EXPECT_TRUE(fails("{\"0\":", "{\"7\":", "'7' is no field"));
  EXPECT_TRUE(fails("\"constant\":true", "\"constant\":1", "neither true"));
  EXPECT_TRUE(fails("\"source\":\"src/a.cu\"", "\"source\":1", "not a string"));
}

//===-- ELF ---------------------------------------------------------------===//

/// A minimal ELF file with the given sections.
static std::vector<uint8_t>
elfFile(std::vector<std::pair<std::string, std::vector<uint8_t>>> Sections) {
  std::string Names(1, '\0');
  std::vector<Elf64_Shdr> Headers(1);
  std::vector<uint8_t> Body(sizeof(Elf64_Ehdr));
  Sections.push_back({".shstrtab", {}});
  for (auto &[Name, Bytes] : Sections) {
    Elf64_Shdr Header = {};
    Header.sh_name = uint32_t(Names.size());
    Header.sh_type = SHT_PROGBITS;
    Names += Name + '\0';
    if (Name == ".shstrtab")
      Bytes.assign(Names.begin(), Names.end());
    Header.sh_offset = Body.size();
    Header.sh_size = Bytes.size();
    Body.insert(Body.end(), Bytes.begin(), Bytes.end());
    Headers.push_back(Header);
  }
  Elf64_Ehdr File = {};
  std::memcpy(File.e_ident, ELFMAG, SELFMAG);
  File.e_ident[EI_CLASS] = ELFCLASS64;
  File.e_ident[EI_DATA] = ELFDATA2LSB;
  File.e_shoff = Body.size();
  File.e_shentsize = sizeof(Elf64_Shdr);
  File.e_shnum = uint16_t(Headers.size());
  File.e_shstrndx = uint16_t(Headers.size() - 1);
  std::memcpy(Body.data(), &File, sizeof(File));
  const auto *Raw = reinterpret_cast<const uint8_t *>(Headers.data());
  Body.insert(Body.end(), Raw, Raw + Headers.size() * sizeof(Elf64_Shdr));
  return Body;
}

TEST(Elf, FindsUnits) {
  std::string Id;
  std::vector<uint8_t> One = section(Id);
  Unit Other = example();
  Other.Source = "src/b.cu";
  std::string OtherId;
  std::vector<uint8_t> Two = Other.serialize(OtherId);
  // Linked in twice: one section, with padding between.
  std::vector<uint8_t> Twice = One;
  Twice.resize(Twice.size() + 5);
  Twice.insert(Twice.end(), One.begin(), One.end());
  std::vector<uint8_t> File =
      elfFile({{".text", {1, 2}},
               {".r3.unit." + Id.substr(0, 16), Twice},
               {".r3.unit." + OtherId.substr(0, 16), Two}});
  auto Units = parseElfUnits(File, "app");
  ASSERT_TRUE(Units) << Units.error().message();
  ASSERT_EQ(Units->size(), 2u);
  EXPECT_EQ((*Units)[0].Id, Id);
  EXPECT_EQ((*Units)[1].Source, "src/b.cu");

  TestFolder Folder;
  ASSERT_FALSE(writeFileAtomically(Folder / "app", File));
  auto FromFile = readUnits(Folder / "app");
  ASSERT_TRUE(FromFile) << FromFile.error().message();
  EXPECT_EQ(FromFile->size(), 2u);
}

TEST(Elf, CutAtEveryLength) {
  std::vector<uint8_t> File = elfFile({{".r3.unit.0", section()}});
  for (size_t Size = 0; Size != File.size(); ++Size)
    EXPECT_FALSE(parseElfUnits({File.data(), Size}, "cut")) << Size;
}

TEST(Elf, ChangedAtEveryByteNeverCrashes) {
  std::vector<uint8_t> File = elfFile({{".r3.unit.0", section()}});
  for (size_t I = 0; I != File.size(); ++I)
    for (uint8_t Value : {0x00, 0x7f, 0xff}) {
      std::vector<uint8_t> Changed = File;
      Changed[I] = Value;
      (void)parseElfUnits(Changed, "changed");
    }
}

TEST(Elf, OtherFiles) {
  EXPECT_TRUE(failsWith(parseElfUnits({}, "empty"), "empty: "));
  std::vector<uint8_t> Text(100, 'x');
  EXPECT_TRUE(failsWith(parseElfUnits(Text, "t"), "not a 64-bit"));
  std::vector<uint8_t> Damaged = elfFile({{".r3.unit.0", {1, 2, 3}}});
  EXPECT_TRUE(failsWith(parseElfUnits(Damaged, "d"), "d(.r3.unit.0): "));
  auto Own = readUnits("/proc/self/exe");
  ASSERT_TRUE(Own) << Own.error().message();
  EXPECT_TRUE(Own->empty());
  EXPECT_EQ(readUnits("/no/such").error().code(), ErrorCode::NotFound);
}
