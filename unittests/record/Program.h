// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program for the recorder's tests: an ELF file with one unit of one kernel
// `step(data, n)`, memory, and launches whose kernel is a function of the
// test.
#pragma once

#include "runtime/record/Recorder.h"
#include "runtime/support/Files.h"
#include "unittests/record/FakeDevice.h"
#include "unittests/support/TestFolder.h"

#include <elf.h>

namespace r3::record {

inline std::vector<uint8_t> elfWith(const std::string &Name,
                                    const std::vector<uint8_t> &Section) {
  std::string Names = std::string(1, '\0') + Name + '\0';
  Elf64_Ehdr File = {};
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
  Headers[2].sh_offset = sizeof(File) + Section.size();
  Headers[2].sh_size = Names.size();
  File.e_shoff = Headers[2].sh_offset + Names.size();
  std::vector<uint8_t> Out;
  auto Add = [&](const void *Bytes, size_t Size) {
    const auto *At = static_cast<const uint8_t *>(Bytes);
    Out.insert(Out.end(), At, At + Size);
  };
  Add(&File, sizeof(File));
  Add(Section.data(), Section.size());
  Add(Names.data(), Names.size());
  Add(Headers, sizeof(Headers));
  return Out;
}

class Program : public testing::Test {
protected:
  Program() {
    Path = Folder / "app";
    UnitKernel Kernel;
    Kernel.Name = "_Z4stepPfi";
    Kernel.Display = "step";
    Kernel.ArgumentBytes = 12;
    Kernel.Parameters = {{0, 8}, {8, 4}};
    Kernel.Fields = {{0, 8, ValueType::Pointer, "data"},
                     {8, 4, ValueType::I32, "n"}};
    Kernel.Code["sm_90"].Key = std::string(32, '1');
    Kernel.Code["sm_90"].Fingerprint = std::string(32, '2');
    Description.Source = "a.cu";
    Description.Level = "O2";
    Description.Kernels = {Kernel};
    std::vector<uint8_t> Code = {'B', 'C', 1, 2, 3};
    Description.Modules = {{"sm_90", contentDigest(Code), Code}};
  }

  /// Writes the program's file and attaches its unit; then records.
  void start() {
    std::string Id;
    std::vector<uint8_t> Section = Description.serialize(Id);
    UnitId = Id;
    ASSERT_FALSE(writeFileAtomically(
        Path, elfWith(".r3.unit." + Id.substr(0, 16), Section)));
    Table.Version = R3_IMAGE_VERSION;
    Table.KernelCount = 1;
    Table.UnitId = UnitId.c_str();
    Table.Kernels = &Entry;
    Table.Image = &Image;
    Images.attach(&Table);
    Options.StorePath = Folder / "store";
    Options.Run = "run";
    Expected<std::unique_ptr<Recorder>> Made = makeRecorder();
    ASSERT_TRUE(Made) << Made.error().message();
    R = std::move(*Made);
    Recorder::deviceChosen(0);
  }

  Expected<std::unique_ptr<Recorder>> makeRecorder() {
    Surroundings Around;
    Around.Attach = [this]() -> Expected<std::shared_ptr<Device>> {
      if (NoContext)
        return fail(ErrorCode::NotFound, "no current context");
      if (NoDriver)
        return fail(ErrorCode::CannotRunHere, "no driver");
      return std::shared_ptr<Device>(&D, [](Device *) {});
    };
    Around.FindGlobal = [this](Device &, const KernelState &,
                               const LoadedUnit &,
                               const UnitGlobal &G) -> Expected<AddressRange> {
      auto It = GlobalPlaces.find(G.Name);
      if (It == GlobalPlaces.end())
        return fail(ErrorCode::NotFound, "hidden");
      return It->second;
    };
    return Recorder::create(Options, Around, Images);
  }

  template <typename T>
  void allocated(std::vector<T> &Memory, MemoryKind Kind = MemoryKind::Device) {
    R->allocated(reinterpret_cast<Address>(Memory.data()),
                 Memory.size() * sizeof(T), Kind);
  }

  /// cudaLaunchKernel(step, data, n); Body is the kernel.
  int launch(void *Data, int N, const std::function<int()> &Body = {}) {
    void *Arguments[] = {&Data, &N};
    LaunchRequest Q;
    Q.Handle = Entry.Handle;
    Q.Config.Grid = {4, 1, 1};
    Q.Config.Block = {128, 1, 1};
    Q.Arguments = Arguments;
    Q.Stream = Stream;
    Q.Why = Why;
    return R->launch(Q, [&] {
      ++Launched;
      D.ClockMs += 2;
      return Body ? Body() : 0;
    });
  }

  std::vector<Recording> recordings() {
    R->drain();
    std::vector<Recording> Out;
    for (const std::string &File : files()) {
      auto Bytes = readFile(File);
      EXPECT_TRUE(Bytes);
      auto One = Recording::parse(*Bytes, File);
      EXPECT_TRUE(One) << One.error().message();
      Out.push_back(std::move(*One));
    }
    return Out;
  }
  std::vector<std::string> files() {
    return Store::open(Options.StorePath, false)->listRecordings();
  }
  std::vector<uint8_t> chunk(const Digest &Name) {
    auto Packs =
        PackSet::open(Store::open(Options.StorePath, false)->packDirectory());
    EXPECT_TRUE(Packs);
    auto Bytes = (*Packs)->read(Name);
    EXPECT_TRUE(Bytes) << Bytes.error().message();
    return Bytes ? *Bytes : std::vector<uint8_t>();
  }
  KernelRunStats statistics() {
    auto S =
        RunStats::read(Store::open(Options.StorePath, false)->runPath("run"));
    EXPECT_TRUE(S);
    return S && !S->Kernels.empty() ? S->Kernels[0] : KernelRunStats();
  }
  std::string lastReason() {
    return std::string(reasonName(Reason(statistics().LastReason)));
  }
  uint64_t packBytes() {
    uint64_t Sum = 0;
    for (const auto &F : std::filesystem::directory_iterator(
             Store::open(Options.StorePath, false)->packDirectory()))
      Sum += F.file_size();
    return Sum;
  }

  TestFolder Folder;
  inline static std::string Path;
  r3::Unit Description;
  std::string UnitId;
  R3KernelEntry Entry = {&Entry, "_Z4stepPfi"};
  R3ImageTable Image = {};
  R3UnitTable Table = {};
  Units Images{[](const void *) { return Path; }};
  FakeDevice D;
  std::map<std::string, AddressRange> GlobalPlaces;
  RecorderOptions Options = [] {
    RecorderOptions O;
    O.Exempt = true;
    O.TimeoutMs = 50;
    return O;
  }();
  std::unique_ptr<Recorder> R;
  StreamHandle Stream = nullptr;
  Reason Why = Reason::None;
  unsigned Launched = 0;
  bool NoContext = false;
  bool NoDriver = false;
};

} // namespace r3::record
