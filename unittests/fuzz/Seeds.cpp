// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "unittests/fuzz/Seeds.h"

#include "runtime/support/Bytes.h"
#include "runtime/support/Profile.h"
#include "runtime/support/Protocol.h"
#include "runtime/support/Recording.h"
#include "runtime/support/Unit.h"
#include "runtime/support/Variant.h"
#include "wrapper/replay/Footprint.h"
#include "wrapper/replay/Plain.h"
#include "wrapper/replay/Plan.h"

#include <cstring>
#include <elf.h>

namespace r3::fuzz {

static Bytes bytesOf(std::string_view Text) {
  return {Text.begin(), Text.end()};
}

static std::vector<Bytes> bytesOf(std::initializer_list<const char *> Texts) {
  std::vector<Bytes> Result;
  for (const char *Text : Texts)
    Result.push_back(bytesOf(std::string_view(Text)));
  return Result;
}

std::vector<Bytes> recordingSeeds() {
  Recording R;
  R.Key = "0123456789abcdef0123456789abcdef";
  R.Name = "_Z1kPdi";
  R.Arch = "sm_90";
  R.Level = "O2";
  R.Arguments.assign(24, 3);
  R.Fields = {{0, 8, ValueType::Pointer, "p"}, {8, 4, ValueType::F32, "x"}};
  RecordedAllocation A;
  A.Address = 1ull << 40;
  A.Size = ChunkBytes * 2 + 3;
  A.Before = {{1, 2}, {3, 4}, {5, 6}};
  A.After = {{0, {7, 8}}, {2, {9, 10}}};
  R.Allocations = {A, A};
  R.Symbolic = {{1, 16, SymbolicWord::Kind::Function, "f", 1}};
  Recording Empty;
  return {R.serialize(), Empty.serialize()};
}

static Unit exampleUnit() {
  Unit U;
  U.Source = "src/a.cu";
  U.Commands = {{"sm_90", {"-cc1", "-O2"}}};
  UnitKernel K;
  K.Name = "_Z1kPdi";
  K.ArgumentBytes = 16;
  K.Parameters = {{0, 8}, {8, 4}};
  K.Fields = {{0, 8, ValueType::Pointer, "p"}, {8, 4, ValueType::I32, "n"}};
  K.Written = {{0, ValueType::F64}};
  K.Code["sm_90"] = {"a", "b", "clock", "line 3", {"table"}};
  U.Kernels = {K};
  U.Globals = {{"t", "table", 64, true, false, ValueType::F32}};
  UnitModule M;
  M.Arch = "sm_90";
  M.Bitcode.assign(500, 'B');
  M.Content = contentDigest(M.Bitcode);
  U.Modules = {M};
  return U;
}

std::vector<Bytes> unitSeeds() {
  std::string Id;
  return {exampleUnit().serialize(Id), Unit().serialize(Id)};
}

std::vector<Bytes> unitJsonSeeds() {
  return {bytesOf(exampleUnit().json()), bytesOf(Unit().json())};
}

/// An ELF file with one section, whose name Names holds at 1, and with the
/// names, the last of which is .shstrtab.
static Bytes elfWith(const Bytes &Section, std::string_view Names,
                     uint16_t Machine) {
  Elf64_Ehdr File = {};
  File.e_machine = Machine;
  std::memcpy(File.e_ident, ELFMAG, SELFMAG);
  File.e_ident[EI_CLASS] = ELFCLASS64;
  File.e_ident[EI_DATA] = ELFDATA2LSB;
  File.e_shentsize = sizeof(Elf64_Shdr);
  File.e_shnum = 3;
  File.e_shstrndx = 2;
  Elf64_Shdr Headers[3] = {};
  Headers[1].sh_name = 1;
  Headers[1].sh_type = Headers[2].sh_type = SHT_PROGBITS;
  Headers[1].sh_offset = sizeof(File);
  Headers[1].sh_size = Section.size();
  Headers[2].sh_name = static_cast<uint32_t>(Names.find(".shstrtab"));
  Headers[2].sh_offset = sizeof(File) + Section.size();
  Headers[2].sh_size = Names.size();
  File.e_shoff = Headers[2].sh_offset + Names.size();
  ByteWriter Out;
  Out.raw({reinterpret_cast<const uint8_t *>(&File), sizeof(File)});
  Out.raw(Section);
  Out.raw({reinterpret_cast<const uint8_t *>(Names.data()), Names.size()});
  Out.raw({reinterpret_cast<const uint8_t *>(Headers), sizeof(Headers)});
  return Out.take();
}

using namespace std::string_view_literals;

std::vector<Bytes> elfSeeds() {
  return {elfWith(unitSeeds()[0], "\0.r3.unit.0\0.shstrtab\0"sv, EM_X86_64)};
}

std::vector<Bytes> imageSeeds() {
  const Bytes Cubin =
      elfWith({1, 2, 3, 4}, "\0.text.k\0.shstrtab\0"sv, EM_CUDA);
  ByteWriter Out; // a PTX entry, then the cubin
  Out.u32(0xba55ed50);
  Out.u32(16u << 16 | 1); // size of the header, version
  Out.u64(72 + 64 + Cubin.size());
  for (const auto &[Kind, Size] :
       {std::pair<uint16_t, size_t>{1, 8}, {2, Cubin.size()}}) {
    Out.u32(0x101u << 16 | Kind);
    Out.u32(64);
    Out.u64(Size);
    Out.u64(0);
    Out.u32(8);
    Out.u32(90);
    for (int I = 0; I < 4; ++I)
      Out.u64(0);
    Out.raw(Kind == 1 ? Bytes(8, ' ') : Cubin);
  }
  return {Cubin, Out.take()};
}

std::vector<Bytes> packIndexSeeds() {
  ByteWriter Out;
  Out.raw({reinterpret_cast<const uint8_t *>("R3INDEX"), 8});
  Out.u32(1);
  Out.u32(0);
  for (uint64_t I = 0; I != 4; ++I) {
    ByteWriter Entry;
    Entry.digest({I, I});
    Entry.u64(16 + I * 100);
    Entry.u32(100);
    Entry.u32(I % 2 ? 4096 : 100);
    Entry.u64(I % 2);
    Out.raw(Entry.data());
    Out.u64(checksum(Entry.data()));
  }
  return {Out.take()};
}

std::vector<Bytes> frameSeeds() {
  return {encodeFrame({1, R"({"verb":"hello"})", {1, 2, 3}}),
          encodeFrame({0, "", {}})};
}

std::vector<Bytes> variantSeeds() {
  return bytesOf(
      {"{}",
       R"j({"remap":"split-x=4","launch":[)j"
       R"j({"target":"grid.x","value":"grid.x*4"},)j"
       R"j({"target":"block.x","value":"block.x/4"}],)j"
       R"j("guards":["divides(4,block.x)"]})j",
       R"j({"patch":"--- a\n+++ b\n","pipeline":"default<O2>","level":"O3",)j"
       R"j("options":{"unroll-count":4},)j"
       R"j("codegen":{"maxnreg":64,"ptxas":"O1","maxthreads":256,)j"
       R"j("minblocks":2,"loads":"cg","stores":"cs","arch":"sm_90a"},)j"
       R"j("launch":[{"target":"grid.x","value":"ceildiv(grid.x,2)"}],)j"
       R"j("specialise":{"m":-1,"n":4},"guards":["align(p,16)","n==4"]})j"});
}

std::vector<Bytes> profileSeeds() {
  KernelProfile P;
  P.Key = "0123456789abcdef0123456789abcdef";
  P.Name = "k<double>";
  P.Units = {"a.cu"};
  P.Fingerprints = {{"sm_90", "00"}};
  ProfileEntry E;
  E.Device = "sm_90 H200";
  E.Change =
      *Variant::parse(R"j({"pipeline":"default<O2>","codegen":{"maxnreg":64},)j"
                      R"j("options":{"slp-threshold":-2},)j"
                      R"j("launch":[{"target":"grid.x","value":"grid.x*2"}],)j"
                      R"j("specialise":{"n":4},"guards":["align(p,16)"]})j");
  E.Gain = 1.25;
  E.Evidence = "weak";
  P.Entries = {E};
  return {bytesOf(P.toml())};
}

std::vector<Bytes> unitHeaderSeeds() {
  return {bytesOf(unitHeaderText({})),
          bytesOf(unitHeaderText({{"k-01234567", "x"}, {"m-1", "y"}}))};
}

std::vector<Bytes> expressionSeeds() {
  return bytesOf({"ceildiv(grid.x, 2) * min(3, -block.y) + shared % 7",
                  "((1+2)*3-4)/5", "align(p,16)", "divides(4,n)", "n==-8",
                  "distinct(p,view.data[2])", "9223372036854775807"});
}

std::vector<Bytes> runStatsSeeds() {
  ByteWriter Out;
  Out.raw({reinterpret_cast<const uint8_t *>("R3RUN\0\0"), 8});
  for (uint32_t Word : {1, 2, 42, 0})
    Out.u32(Word);
  Bytes Rest(8 + 8 + 192 + 192 + 2 * 312, 'x');
  Out.raw(Rest);
  return {Out.take()};
}

std::vector<Bytes> planSeeds() {
  replay::ReplayPlan P;
  P.Windows = {{32 << 20, 64 << 20}};
  P.Segments = {{32 << 20, 2 << 20}};
  P.PoolBytes = ChunkBytes;
  P.Pool = {{0, 100, 0, 4096}};
  replay::PlanLaunch L;
  L.Kernel = "_Z1kPdi";
  L.Arguments.assign(16, 1);
  L.Symbolic = {{0, 8, SymbolicWord::Kind::Function, "f", 4}};
  replay::PlanRange R;
  R.Address = 32 << 20;
  R.Size = 100;
  R.Before = {{1, 2}};
  R.PoolOffset = {0};
  L.Ranges = {R};
  P.Launches = {L};
  return {P.serialize()};
}

static replay::Footprint exampleFootprint() {
  replay::Footprint F;
  F.Ranges.resize(2);
  F.Ranges[0].Read.append({0, 64});
  F.Ranges[1].Written.append({4, 8});
  F.Ranges[1].Written.append({12, 16});
  F.Outside.Count = 3;
  return F;
}

std::vector<Bytes> footprintSeeds() {
  ByteWriter Out;
  exampleFootprint().write(Out);
  return {Out.take()};
}

std::vector<Bytes> poisonSeeds() {
  return {replay::Poison(exampleFootprint()).serialize()};
}

std::vector<Bytes> plainSeeds() {
  replay::PlainLaunch L;
  L.Words = {{0, 1}, {8, 0}};
  L.Filled.resize(2);
  L.Filled[0].append({0, 4096});
  L.Filled[0].append({8192, 8196});
  return {L.serialize()};
}

} // namespace r3::fuzz
