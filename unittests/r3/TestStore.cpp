// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "unittests/r3/TestStore.h"

#include "runtime/support/Pack.h"
#include "runtime/support/Reason.h"
#include "runtime/support/Recording.h"
#include "runtime/support/RunStats.h"
#include "runtime/support/Unit.h"

namespace r3 {

namespace {

struct KernelRow {
  const std::string &Key;
  const char *Name, *Display, *Source;
  bool HasHeader;
  uint64_t Launches, SampledNs;
  Reason Why;
};

DeviceIdentity device(const std::string &Backend) {
  DeviceIdentity D;
  D.Backend = Backend;
  D.Name = "fake";
  D.Key = (Backend == "cuda" ? "sm_90" : "x86-64") + std::string(" fake");
  D.Tools = "fake 1";
  return D;
}

Error addRecording(const Store &To, PackWriter &Chunks, const KernelRow &Row,
                   const std::string &Backend, uint64_t Ordinal,
                   const std::string &Class, const std::string &UnitId) {
  std::vector<uint8_t> Before(1000, uint8_t(Ordinal)), After(1000, 0xff);
  if (Error E = Chunks.add(chunkDigest(Before), Before))
    return E;
  if (Error E = Chunks.add(chunkDigest(After), After))
    return E;
  if (Error E = Chunks.sync())
    return E;
  Recording R;
  R.Key = Row.Key;
  R.Name = Row.Name;
  R.Display = Row.Display;
  R.Home = std::string(Row.Source) + ":main";
  R.Arch = "sm_90";
  R.Unit = UnitId;
  R.Level = "O3";
  R.Launch.Grid = {4, 1, 1};
  R.Launch.Block = {64, 1, 1};
  R.Device = device(Backend);
  R.Arguments = {0x00, 0x10, 0, 0, 0, 0, 0, 0, 250, 0, 0, 0};
  R.Fields = {{0, 8, ValueType::Pointer, "out"}, {8, 4, ValueType::I32, "n"}};
  R.Class = Class;
  RecordedAllocation A;
  A.Address = 0x1000;
  A.Size = 1000;
  A.Before = {chunkDigest(Before)};
  A.After = {{0, chunkDigest(After)}};
  R.Allocations = {A};
  R.DurationNs = 63200;
  R.Ordinal = Ordinal;
  R.LaunchesSeen = Row.Launches;
  std::vector<uint8_t> Bytes = R.serialize();
  return To.writeRecording(R.Key, Recording::idOf(Bytes).hex(), Bytes);
}

Expected<std::string> addUnit(const Store &To, const KernelRow &Row) {
  Unit U;
  U.Source = Row.Source;
  U.Level = "O3";
  U.Compiler = "clang 22.1.8";
  U.Plugin = "test";
  if (Row.HasHeader)
    U.ProfileHeader = "r3.profile/units/" + std::string(Row.Source) + ".h";
  UnitKernel K;
  K.Name = Row.Name;
  K.Display = Row.Display;
  K.Home = std::string(Row.Source) + ":main";
  K.Line = 12;
  K.ArgumentBytes = 12;
  K.Parameters = {{0, 8}, {8, 4}};
  KernelCode Code;
  Code.Key = Row.Key;
  Code.Fingerprint = std::string(32, 'f');
  if (Row.Why != Reason::None) {
    Code.Reason = std::string(reasonName(Row.Why));
    Code.Detail = "at line 12";
  }
  K.Code["sm_90"] = Code;
  U.Kernels = {K};
  std::string Id;
  U.serialize(Id);
  U.Id = Id;
  if (Error E = To.writeUnit(Id, U.json()))
    return E;
  return Id;
}

} // namespace

Error makeTestStore(const std::string &Path, const std::string &Backend,
                    const std::string &RunId) {
  const KernelRow Rows[] = {{StencilKey, "_Z7stencilIdEvPdi", "stencil<double>",
                             "src/stencil.cu", true, 100, 6320000,
                             Reason::None},
                            {ReduceKey, "_Z6reducePdi", "reduce",
                             "src/reduce.cu", false, 50, 500000, Reason::None},
                            {InitKey, "_Z4initPdi", "init", "src/init.cu", true,
                             1, 1000, Reason::DeviceMalloc}};
  auto To = Store::open(Path, /*Create=*/true);
  if (!To)
    return To.error();
  auto Chunks = PackWriter::create(To->packDirectory());
  if (!Chunks)
    return Chunks.error();
  RunStats Header;
  Header.Program = "/bin/app";
  Header.StartedAtNs = 1000000000;
  Header.LastUpdateNs = 2000000000;
  auto Run = RunStatsWriter::create(To->runPath(RunId), Header);
  if (!Run)
    return Run.error();
  (*Run)->setDevice(device(Backend).Key);
  for (const KernelRow &Row : Rows) {
    auto UnitId = addUnit(*To, Row);
    if (!UnitId)
      return UnitId.error();
    KernelRunStats Stats;
    Stats.Launches = Stats.Sampled = Row.Launches;
    Stats.SampledNs = Row.SampledNs;
    if (Row.Why != Reason::None) {
      Stats.LastReason = uint32_t(Row.Why);
      Stats.ReasonCount = 1;
    }
    size_t Count = &Row == &Rows[0] ? 3 : &Row == &Rows[1] ? 1 : 0;
    for (size_t I = 0; I < Count; ++I)
      if (Error E = addRecording(*To, **Chunks, Row, Backend, 10 * I + 1,
                                 I == 2 ? "block 64; n 128" : "block 64; n 256",
                                 *UnitId))
        return E;
    Stats.Recorded = Count;
    Stats.BytesRecorded = Count * 2000;
    (*Run)->update((*Run)->addKernel(Row.Key, Row.Display), Stats);
  }
  return Error::success();
}

} // namespace r3
