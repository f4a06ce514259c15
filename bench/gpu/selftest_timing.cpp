// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Held streams, the empty kernel, clocks, rates.
#include "bench/gpu/SelfTest.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

using namespace r3;
using namespace r3::selftest;

namespace {

using Clock = std::chrono::steady_clock;

double msSince(Clock::time_point Start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - Start)
      .count();
}

/// A word in pinned memory and the values that streams are held for.
struct Gate {
  Bench &B;
  uint32_t *Word;
  uint32_t Value = 0;

  explicit Gate(Bench &B)
      : B(B), Word(static_cast<uint32_t *>(
                  B.R.take(B.D.allocateHost(4096), "allocateHost"))) {
    *Word = 0;
  }
  ~Gate() { B.R.check(B.D.freeHost(Word), "free the gate"); }
  Error hold() { return B.D.hold(B.Stream, Word, ++Value); }
  void release() { Device::release(Word, Value); }
};

void testHold(Bench &B) {
  Gate G(B);
  EventHandle Done = B.R.take(B.D.createEvent(/*Timing=*/false), "createEvent");
  for (uint32_t Value : {1u, 0x7fffffffu, 0xfffffff0u, 3u}) {
    G.Value = Value - 1;
    B.R.check(G.hold(), "hold");
    B.R.check(B.D.launch(B.R.take(B.D.emptyKernel(), "emptyKernel"), grid(1, 1),
                         {}, B.Stream),
              "launch in a held stream");
    B.R.check(B.D.record(Done, B.Stream), "record");
    B.R.checkFails(B.D.waitFor(Done, 50), ErrorCode::Timeout,
                   format("a stream is held for %u", Value));
    G.release();
    B.R.check(B.D.waitFor(Done, 5000), "it goes on when released");
  }
  B.R.check(B.D.destroyEvent(Done), "destroyEvent");
}

/// As many calls as a batch queues at most (RunBatch.cpp) must not wait for the
/// device. Where they do, the gate is opened after three seconds.
void testQueue(Bench &B, const std::string &Name,
               const std::function<Error()> &Call) {
  constexpr int Calls = 600;
  Gate G(B);
  B.R.check(Call(), Name + ": once");
  B.R.check(B.finish(), Name + ": once, done");
  std::atomic<bool> Queued{false};
  B.R.check(G.hold(), "hold");
  std::thread Rescue([&] {
    for (auto Start = Clock::now(); !Queued && msSince(Start) < 3000;)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    G.release();
  });
  const auto Start = Clock::now();
  Error E;
  for (int I = 0; !E && I < Calls; ++I)
    E = Call();
  const double Ms = msSince(Start);
  Queued = true;
  Rescue.join();
  B.R.check(E, Name + ": queued");
  B.R.line(Ms < 2000, Name + ": 600 calls fit into a held stream",
           format("%.2f ms", Ms));
  B.R.check(B.finish(), Name + ": all done");
}

void testQueues(Bench &B) {
  constexpr uint64_t Bytes = 1 << 20;
  Address From = B.R.take(B.D.allocate(Bytes), "allocate");
  Address To = B.R.take(B.D.allocate(Bytes), "allocate");
  auto *Pinned =
      static_cast<uint8_t *>(B.R.take(B.D.allocateHost(Bytes), "allocateHost"));
  KernelHandle Empty = B.R.take(B.D.emptyKernel(), "emptyKernel");
  EventHandle Event = B.R.take(B.D.createEvent(/*Timing=*/true), "createEvent");
  testQueue(B, "launches",
            [&] { return B.D.launch(Empty, grid(8, 64), {}, B.Stream); });
  testQueue(B, "copies", [&] { return B.D.copy(To, From, Bytes, B.Stream); });
  testQueue(B, "copies to the device",
            [&] { return B.D.copyToDevice(To, Pinned, 256, B.Stream); });
  testQueue(B, "copies to the host",
            [&] { return B.D.copyToHost(Pinned, From, 4096, B.Stream); });
  testQueue(B, "fills", [&] { return B.D.fill(To, 1, Bytes, B.Stream); });
  testQueue(B, "rows",
            [&] { return B.D.fillRows(To, 512, 1, 16, 100, B.Stream); });
  testQueue(B, "events", [&] { return B.D.record(Event, B.Stream); });
  testQueue(B, "flushes", [&, I = 0]() mutable {
    return I++ % 8 ? B.D.record(Event, B.Stream) : B.D.flushCache(B.Stream);
  });
  // A piece is four calls.
  testQueue(B, "digests", [&, I = 0]() mutable {
    return I++ % 4
               ? Error()
               : B.D.hashLeaves(From, Bytes,
                                reinterpret_cast<LeafHash *>(Pinned), B.Stream);
  });
  B.R.check(B.D.destroyEvent(Event), "destroyEvent");
  B.R.check(B.D.freeHost(Pinned), "freeHost");
  B.R.check(B.D.free(From), "free");
  B.R.check(B.D.free(To), "free");
}

/// Work between two events in a held stream; microseconds, sorted.
std::vector<double> timeHeld(Bench &B, int Count,
                             const std::function<Error()> &Work) {
  Gate G(B);
  std::vector<EventHandle> Events;
  for (int I = 0; I < 2 * Count; ++I)
    Events.push_back(B.R.take(B.D.createEvent(/*Timing=*/true), "event"));
  Error E = G.hold();
  for (int I = 0; !E && I < Count; ++I) {
    E = B.D.record(Events[2 * I], B.Stream);
    if (!E)
      E = Work();
    if (!E)
      E = B.D.record(Events[2 * I + 1], B.Stream);
  }
  G.release();
  if (!E)
    E = B.finish();
  if (E)
    B.R.check(E, "timed work in a held stream");
  std::vector<double> Us;
  for (int I = 0; I < Count; ++I)
    Us.push_back(1e3 * B.R.take(B.D.elapsedMs(Events[2 * I], Events[2 * I + 1]),
                                "elapsedMs"));
  for (EventHandle Event : Events)
    if ((E = B.D.destroyEvent(Event)))
      B.R.check(E, "destroyEvent");
  std::sort(Us.begin(), Us.end());
  return Us;
}

void testEmpty(Bench &B) {
  KernelHandle Empty = B.R.take(B.D.emptyKernel(), "emptyKernel");
  LaunchConfig Shapes[] = {grid(1, 1), grid(1024, 256), grid(132, 1024)};
  Shapes[2].DynamicShared = Shapes[2].MaxDynamicShared = 160 * 1024;
  for (const LaunchConfig &Shape : Shapes) {
    B.R.check(B.D.launch(Empty, Shape, {}, B.Stream), "launch nothing");
    B.R.check(B.finish(), "launch nothing: done");
    auto Us =
        timeHeld(B, 32, [&] { return B.D.launch(Empty, Shape, {}, B.Stream); });
    B.R.line(Us[16] > 0.5 && Us[16] < 50,
             format("an empty kernel of %u x %u threads, %u bytes shared",
                    Shape.Grid[0], Shape.Block[0], Shape.DynamicShared),
             format("%.2f us (%.2f to %.2f)", Us[16], Us[1], Us[30]));
  }
}

/// Events against the host's clock, less that around nothing.
void testBracket(Bench &B) {
  double Around[2] = {1e9, 1e9}, EventsUs = 0;
  Gate G(B);
  EventHandle Start = B.R.take(B.D.createEvent(/*Timing=*/true), "event");
  EventHandle Stop = B.R.take(B.D.createEvent(/*Timing=*/true), "event");
  for (int Try = 0; Try < 5; ++Try)
    for (bool Works : {false, true}) {
      Error E = G.hold();
      if (!E)
        E = B.D.record(Start, B.Stream);
      if (!E && Works)
        E = B.run("st_spin", grid(1, 1), uint64_t(1'000'000));
      if (!E)
        E = B.D.record(Stop, B.Stream);
      const auto Released = Clock::now();
      G.release();
      for (bool Done = false; !E && !Done;)
        Done = B.R.take(B.D.query(Stop), "query");
      const double Us = msSince(Released) * 1e3;
      B.R.check(E, "a bracket");
      if (Us < Around[Works]) {
        Around[Works] = Us;
        if (Works)
          EventsUs = 1e3 * B.R.take(B.D.elapsedMs(Start, Stop), "elapsedMs");
      }
    }
  const double Net = Around[1] - Around[0];
  B.R.line(std::abs(Net - EventsUs) < 20 + EventsUs / 20,
           "events agree with the host's clock",
           format("%.1f us, host %.1f us less %.1f us", EventsUs, Around[1],
                  Around[0]));
  B.R.check(B.D.destroyEvent(Start), "destroyEvent");
  B.R.check(B.D.destroyEvent(Stop), "destroyEvent");
}

void testClocks(Bench &B) {
  B.R.check(B.D.flushCache(B.Stream), "flush");
  auto First = B.D.clocks(); // opens the library
  B.R.line(bool(First), "clocks", First ? "" : First.error().message());
  if (!First)
    return;
  B.R.check(B.run("st_spin", grid(1, 1), uint64_t(20'000'000)), "launch");
  const auto Start = Clock::now();
  ClockSample Now = B.R.take(B.D.clocks(), "clocks while the device works");
  const double Ms = msSince(Start);
  B.R.line(Now.SmMhz > 100 && Now.MemoryMhz > 100, "clocks are those of a GPU",
           format("%.0f MHz, memory %.0f MHz, reasons 0x%llx, read in %.3f ms",
                  Now.SmMhz, Now.MemoryMhz, (unsigned long long)Now.Reasons,
                  Ms));
  B.R.check(B.finish(), "the device is done");
}

void testRates(Bench &B) {
  const uint64_t Large = 1ull << 30, Small = 16ull << 20;
  Address Where = B.R.take(B.D.allocate(Large), "allocate");
  B.R.check(B.D.fill(Where, 0, Large, B.Stream), "fill");
  auto Read = [&](uint64_t Size, uint32_t Times) {
    B.R.check(B.D.readRepeatedly(Where, Size, Times, B.Stream), "read");
    B.R.check(B.finish(), "read: done");
    auto Us = timeHeld(
        B, 5, [&] { return B.D.readRepeatedly(Where, Size, Times, B.Stream); });
    return double(Size) * Times / Us[0] / 1e6; // TB/s
  };
  const double Memory = Read(Large, 1), Cache = Read(Small, 64);
  B.R.line(Memory > 0.1 && Memory < 20, "memory is read",
           format("%.2f TB/s", Memory));
  B.R.line(Cache > Memory && Cache < 100, "the cache is read faster",
           format("%.2f TB/s", Cache));
  B.R.check(B.D.free(Where), "free");
  for (auto What : {Device::Arithmetic::Float, Device::Arithmetic::Double}) {
    double Operations = 0;
    auto Us = timeHeld(B, 5, [&] {
      auto Count = B.D.multiplyAdd(What, 256, B.Stream);
      if (!Count)
        return Count.error();
      Operations = *Count;
      return Error();
    });
    const double Rate = Operations / Us[0] / 1e6;
    const bool IsFloat = What == Device::Arithmetic::Float;
    B.R.line(Rate > (IsFloat ? 1 : 0.02) && Rate < 500,
             IsFloat ? "float multiply-adds" : "double multiply-adds",
             format("%.1f TFLOP/s", Rate));
  }
}

} // namespace

void selftest::testTiming(Bench &B) {
  testHold(B);
  testQueues(B);
  testEmpty(B);
  testBracket(B);
  testClocks(B);
  testRates(B);
}
