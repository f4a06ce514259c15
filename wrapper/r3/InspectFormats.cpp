// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints manifests, packs, runs and units. Profiles and the journal are in
// InspectProfile.cpp.
#include "wrapper/r3/InspectFormats.h"

#include "runtime/support/Files.h"
#include "runtime/support/Pack.h"
#include "runtime/support/Reason.h"
#include "runtime/support/Recording.h"
#include "runtime/support/RunStats.h"
#include "runtime/support/Unit.h"
#include "wrapper/r3/Text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <ctime>
#include <filesystem>

namespace r3 {

namespace {

std::string line(const char *Name, const std::string &Value) {
  return Value.empty() ? ""
                       : format("%-12s %s\n", Name, printable(Value).c_str());
}

std::string dimText(const Dim3 &D) {
  return format("%u x %u x %u", D[0], D[1], D[2]);
}

std::string timeText(uint64_t UnixSeconds) {
  char Text[32] = "";
  std::time_t Time = std::time_t(UnixSeconds);
  std::tm Utc{};
  if (UnixSeconds && gmtime_r(&Time, &Utc))
    std::strftime(Text, sizeof(Text), "%F %T UTC", &Utc);
  return Text;
}

const char *typeText(ValueType Type) {
  static constexpr std::array Names = {"bytes", "i8",     "i16",  "i32",
                                       "i64",   "f16",    "bf16", "f32",
                                       "f64",   "pointer"};
  return size_t(Type) < Names.size() ? Names[size_t(Type)] : "?";
}

const char *kindText(MemoryKind Kind) {
  static constexpr std::array Names = {"device", "managed", "mapped host",
                                       "pool", "global"};
  return size_t(Kind) < Names.size() ? Names[size_t(Kind)] : "?";
}

/// The bytes of a field as its type says.
std::string valueText(const Recording &R, const ArgumentField &F) {
  if (uint64_t(F.Offset) + F.Size > R.Arguments.size() || F.Size > 8)
    return "";
  uint64_t Raw = 0;
  std::copy_n(R.Arguments.begin() + F.Offset, F.Size,
              reinterpret_cast<uint8_t *>(&Raw));
  switch (F.Type) {
  case ValueType::I8:
    return std::to_string(int8_t(Raw));
  case ValueType::I16:
    return std::to_string(int16_t(Raw));
  case ValueType::I32:
    return std::to_string(int32_t(Raw));
  case ValueType::I64:
    return std::to_string(int64_t(Raw));
  case ValueType::F32:
    return format("%g", double(std::bit_cast<float>(uint32_t(Raw))));
  case ValueType::F64:
    return format("%g", std::bit_cast<double>(Raw));
  default:
    return format("0x%llx", static_cast<unsigned long long>(Raw));
  }
}

std::string launchText(const LaunchConfig &L) {
  std::string Text = "grid " + dimText(L.Grid) + ", block " + dimText(L.Block);
  if (L.Cluster[0])
    Text += ", cluster " + dimText(L.Cluster);
  Text +=
      format(", shared memory %u + %u bytes", L.StaticShared, L.DynamicShared);
  return Text + (L.Cooperative ? ", cooperative" : "");
}

std::string allocationsText(const Recording &R) {
  Table Lines({"  ADDRESS", "KIND", ">SIZE", ">CHUNKS", ">CHANGED", "GLOBAL"});
  for (const RecordedAllocation &A : R.Allocations)
    Lines.add({format("  0x%llx", static_cast<unsigned long long>(A.Address)),
               kindText(A.Kind), bytesText(A.Size), countText(A.Before.size()),
               countText(A.After.size()), printable(A.Global)});
  return Lines.empty() ? "" : Lines.text();
}

std::string argumentsText(const Recording &R) {
  Table Lines({"  ARGUMENT", ">OFFSET", "TYPE", "VALUE"});
  for (const ArgumentField &F : R.Fields)
    Lines.add({"  " + printable(F.Name), std::to_string(F.Offset),
               typeText(F.Type), valueText(R, F)});
  return Lines.empty() ? "" : Lines.text();
}

std::string unitText(const Unit &U) {
  std::string Text = "unit " + printable(U.Id) + "\n";
  Text += line("source", U.Source) + line("level", U.Level) +
          line("compiler", U.Compiler) + line("plugin", U.Plugin) +
          line("header", U.ProfileHeader.empty() ? "none: compiled without a "
                                                   "profile header"
                                                 : U.ProfileHeader);
  for (const UnitModule &M : U.Modules)
    Text += line("module", M.Arch + "  " + M.Content.hex() + "  " +
                               bytesText(M.Bitcode.size()));
  for (const UnitGlobal &G : U.Globals)
    Text += line("global", G.Name + "  " + bytesText(G.Size) +
                               (G.Constant ? "  constant" : ""));
  for (const UnitKernel &K : U.Kernels) {
    Text += line("kernel", K.Display + "  " + K.Home +
                               (K.Line ? ":" + std::to_string(K.Line) : ""));
    for (const auto &[Arch, Code] : K.Code)
      Text += line("", Arch + "  key " + Code.Key +
                           (Code.Reason.empty()
                                ? "  replayable"
                                : "  " + Code.Reason + ": " + Code.Detail));
  }
  return Text;
}

} // namespace

Expected<std::string> manifestText(std::span<const uint8_t> Content,
                                   const std::string &Path) {
  auto R = Recording::parse(Content, Path);
  if (!R)
    return R.error();
  std::string Text = "recording " + Recording::idOf(Content).hex() + "\n";
  Text += line("kernel", R->Display) + line("symbol", R->Name) +
          line("key", R->Key) + line("home", R->Home) + line("unit", R->Unit) +
          line("module", R->Module.hex()) + line("image", R->Image.hex()) +
          line("compiled", R->Arch + " " + R->Level) +
          line("launch", launchText(R->Launch)) + line("class", R->Class) +
          line("device", R->Device.Key) + line("backend", R->Device.Backend) +
          line("tools", R->Device.Tools) + line("taken", timeText(R->TakenAt));
  Text += line("in program",
               format("launch %llu of %llu, rank %u, %s",
                      static_cast<unsigned long long>(R->Ordinal),
                      static_cast<unsigned long long>(R->LaunchesSeen), R->Rank,
                      R->DurationNs
                          ? (durationText(double(R->DurationNs)) +
                             (R->Device.Backend == "cpu" ? " CPU time" : ""))
                                .c_str()
                          : "not timed"));
  Text += line("replayable",
               R->Reason.empty() ? "yes" : R->Reason + ": " + R->Detail);
  Text += line("footprint", bytesText(R->footprint()));
  Text += argumentsText(*R) + allocationsText(*R);
  for (const SymbolicWord &W : R->Symbolic)
    Text +=
        line("symbolic",
             format("allocation %d, offset %llu: %s + %llu", int(W.Allocation),
                    static_cast<unsigned long long>(W.Offset), W.Name.c_str(),
                    static_cast<unsigned long long>(W.Addend)));
  return Text;
}

Expected<std::string> packText(std::span<const uint8_t> Content,
                               const std::string &Path) {
  std::string Index =
      std::filesystem::path(Path).replace_extension(".idx").string();
  auto Entries = readFile(Index);
  if (!Entries)
    return Entries.error();
  auto Text = packIndexText(*Entries, Index);
  if (!Text)
    return Text;
  return "pack, " + bytesText(Content.size()) + "\n" + *Text;
}

Expected<std::string> packIndexText(std::span<const uint8_t> Content,
                                    const std::string &Path) {
  auto Entries = parsePackIndex(Content, Path);
  if (!Entries)
    return Entries.error();
  uint64_t Stored = 0, Size = 0;
  Table Lines({"  CHUNK", ">OFFSET", ">STORED", ">SIZE", "CODEC"});
  for (const auto &[Name, Place] : *Entries) {
    Stored += Place.Stored;
    Size += Place.Size;
    Lines.add({"  " + Name.hex(), std::to_string(Place.Offset),
               std::to_string(Place.Stored), std::to_string(Place.Size),
               Place.Codec ? "zstd" : "raw"});
  }
  std::string Text = "index, " + plural(Entries->size(), "chunk") + ", " +
                     bytesText(Size) + " in " + bytesText(Stored) + "\n";
  return Text + (Lines.empty() ? "" : Lines.text());
}

Expected<std::string> runText(std::span<const uint8_t> Content,
                              const std::string &Path) {
  (void)Content;
  auto Run = RunStats::read(Path);
  if (!Run)
    return Run.error();
  std::string Text =
      "run\n" + line("program", Run->Program) + line("device", Run->Device) +
      line("process", format("%u, rank %u", Run->Pid, Run->Rank)) +
      line("started", timeText(Run->StartedAtNs / 1000000000)) +
      line("last seen", timeText(Run->LastUpdateNs / 1000000000));
  Table Lines({"  KERNEL", ">LAUNCHES", ">TIMED", ">TOTAL", ">RECORDED",
               ">BYTES", ">PAUSE", "LAST REASON"});
  for (const KernelRunStats &K : Run->Kernels)
    Lines.add({"  " + printable(K.Name), countText(K.Launches),
               countText(K.Sampled), durationText(K.totalNs()),
               countText(K.Recorded), bytesText(K.BytesRecorded),
               durationText(double(K.PauseNs)),
               std::string(reasonName(Reason(K.LastReason)))});
  return Text + (Lines.empty() ? "" : Lines.text());
}

Expected<std::string> unitSectionText(std::span<const uint8_t> Content,
                                      const std::string &Path) {
  auto U = Unit::parseSection(Content, Path);
  return U ? Expected<std::string>(unitText(*U)) : U.error();
}

Expected<std::string> elfText(std::span<const uint8_t> Content,
                              const std::string &Path) {
  auto Units = parseElfUnits(Content, Path);
  if (!Units)
    return Units.error();
  if (Units->empty())
    return fail(ErrorCode::NotFound,
                "%s: carries no unit of R3; build it with clang-r3 (in mode "
                "record, the default)",
                Path.c_str());
  std::string Text;
  for (const Unit &U : *Units)
    Text += unitText(U);
  return Text;
}

Expected<std::string> unitJsonText(std::span<const uint8_t> Content,
                                   const std::string &Path) {
  auto U = Unit::parseJson(std::string_view(
      reinterpret_cast<const char *>(Content.data()), Content.size()));
  if (!U)
    return U.error().in(Path);
  if (U->Id.empty())
    U->Id = std::filesystem::path(Path).stem().string();
  return unitText(*U);
}

} // namespace r3
