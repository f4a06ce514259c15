// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/replay/Rates.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace r3::replay {

namespace {

constexpr uint64_t WaitMs = 60000;
constexpr int Tries = 5, EmptyTries = 31;
/// Read once for memory's rate: a cache does not hold much of it. Twice the
/// cache on the CPU device, where more takes longer than kernels do.
constexpr uint64_t InCaches = 16, InCpuCaches = 2;
/// Part of the cache that is read for its rate, so that it holds it whole.
constexpr uint64_t CachePart = 4;
constexpr uint64_t MostCacheBytes = 64ull << 20;
constexpr uint32_t CacheTimes = 32;
constexpr uint32_t Rounds = 256;

class Rates {
public:
  explicit Rates(Device &D) : D(D) {}
  ~Rates() {
    if (Memory)
      (void)D.free(Memory);
    for (EventHandle Event : {Begin, End})
      if (Event)
        (void)D.destroyEvent(Event);
    if (Gate)
      (void)D.freeHost(Gate);
    if (Stream)
      (void)D.destroyStream(Stream);
  }

  Error open();
  Expected<RatesReport> measure();

private:
  /// The least time that Work takes on the device, beyond that of a launch.
  Expected<double> leastUs(int Count, const std::function<Error()> &Work);
  Expected<double> bytesPerUs(uint64_t Bytes, uint32_t Times);
  /// 0 where the device has no such work.
  Expected<double> flopsPerUs(Device::Arithmetic What);

  Device &D;
  StreamHandle Stream = nullptr;
  EventHandle Begin = nullptr, End = nullptr;
  uint32_t *Gate = nullptr;
  uint32_t GateValue = 0;
  Address Memory = 0;
  uint64_t Bytes = 0;
  double EmptyUs = 0; // of a launch, once it is known
};

Error Rates::open() {
  auto S = D.createStream();
  if (!S)
    return S.error();
  Stream = *S;
  for (EventHandle *Event : {&Begin, &End}) {
    auto Made = D.createEvent(/*Timing=*/true);
    if (!Made)
      return Made.error();
    *Event = *Made;
  }
  auto Word = D.allocateHost(sizeof(*Gate));
  if (!Word)
    return Word.error();
  Gate = static_cast<uint32_t *>(*Word);
  *Gate = GateValue;
  const DeviceIdentity I = D.identity();
  const uint64_t Cache = std::max<uint64_t>(I.L2Bytes, 1 << 20);
  Bytes = Cache * (I.Backend == "cpu" ? InCpuCaches : InCaches);
  auto Got = D.allocate(Bytes);
  // Beside recorded memory there may not be so much.
  while (!Got && Got.error().code() == ErrorCode::NoSpace &&
         Bytes / 2 >= InCpuCaches * Cache)
    Got = D.allocate(Bytes /= 2);
  if (!Got)
    return Got.error().in("memory to measure rates with");
  Memory = *Got;
  return D.fill(Memory, 0, Bytes, Stream);
}

Expected<double> Rates::leastUs(int Count, const std::function<Error()> &Work) {
  double Least = 0;
  for (int Try = 0; Try < Count; ++Try) {
    Error E = D.hold(Stream, Gate, ++GateValue);
    if (!E)
      E = D.record(Begin, Stream);
    if (!E)
      E = Work();
    if (!E)
      E = D.record(End, Stream);
    Device::release(Gate, GateValue);
    if (!E)
      E = D.waitFor(End, WaitMs);
    if (E)
      return E;
    auto Ms = D.elapsedMs(Begin, End);
    if (!Ms)
      return Ms.error();
    if (!Try || *Ms * 1e3 < Least)
      Least = *Ms * 1e3;
  }
  return std::max(Least - EmptyUs, 0.0);
}

Expected<double> Rates::bytesPerUs(uint64_t Size, uint32_t Times) {
  auto Us = leastUs(
      Tries, [&] { return D.readRepeatedly(Memory, Size, Times, Stream); });
  if (!Us)
    return Us.error();
  return *Us > 0 ? double(Size) * Times / *Us : 0;
}

Expected<double> Rates::flopsPerUs(Device::Arithmetic What) {
  double Operations = 0;
  auto Us = leastUs(Tries, [&] {
    auto Count = D.multiplyAdd(What, Rounds, Stream);
    if (!Count)
      return Count.error();
    Operations = *Count;
    return Error();
  });
  if (!Us && Us.error().code() == ErrorCode::CannotRunHere)
    return 0.0;
  if (!Us)
    return Us.error();
  return *Us > 0 ? Operations / *Us : 0;
}

Expected<RatesReport> Rates::measure() {
  RatesReport R;
  R.L2Bytes = D.identity().L2Bytes;
  auto Empty = D.emptyKernel();
  if (!Empty)
    return Empty.error();
  LaunchConfig One;
  One.Grid = One.Block = {1, 1, 1};
  // What a device allocates for its first reading and calculating, it
  // allocates now: not in a held stream.
  Error E = D.launch(*Empty, One, {}, Stream);
  if (!E)
    E = D.readRepeatedly(Memory, Bytes, 1, Stream);
  if (!E)
    E = D.synchronize(Stream, WaitMs);
  if (E)
    return E;
  auto Launch =
      leastUs(EmptyTries, [&] { return D.launch(*Empty, One, {}, Stream); });
  if (!Launch)
    return Launch.error();
  R.EmptyLaunchUs = EmptyUs = *Launch;
  const uint64_t Cached =
      std::clamp<uint64_t>(R.L2Bytes / CachePart, 1 << 20, MostCacheBytes);
  struct {
    double *Rate;
    uint64_t Size;
    uint32_t Times;
  } Reads[] = {{&R.MemoryBytesPerUs, Bytes, 1},
               {&R.L2BytesPerUs, std::min(Cached, Bytes), CacheTimes}};
  for (auto &Row : Reads) {
    auto Rate = bytesPerUs(Row.Size, Row.Times);
    if (!Rate)
      return Rate.error();
    *Row.Rate = *Rate;
  }
  for (auto [Of, What] :
       {std::pair(&R.FloatFlopsPerUs, Device::Arithmetic::Float),
        std::pair(&R.DoubleFlopsPerUs, Device::Arithmetic::Double),
        std::pair(&R.HalfFlopsPerUs, Device::Arithmetic::Half)}) {
    auto Rate = flopsPerUs(What);
    if (!Rate)
      return Rate.error();
    *Of = *Rate;
  }
  return R;
}

} // namespace

Expected<RatesReport> measureRates(Device &D) {
  Rates R(D);
  if (Error E = R.open())
    return E;
  return R.measure();
}

} // namespace r3::replay
