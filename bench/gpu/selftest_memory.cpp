// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory at wanted addresses, ordinary memory, streams, events, copies.
#include "bench/gpu/SelfTest.h"

#include <cstring>
#include <thread>
#include <unistd.h>

using namespace r3;
using namespace r3::selftest;

namespace {

constexpr uint64_t Window = 64ull << 20;

void testReservation(Bench &B) {
  Device &D = B.D;
  uint64_t Align = D.reserveAlignment();
  B.R.line(D.granularity() == 2ull << 20, "granularity",
           std::to_string(D.granularity()));
  Address Any = B.R.take(D.reserve(0, Window), "reserve anywhere");
  B.R.check(Any % Align == 0, "a reservation is aligned to 32 MiB");
  B.R.checkFails(D.reserve(Any, Window), ErrorCode::Failed,
                 "a taken address is refused");
  B.R.checkFails(D.reserve(Any + 4096, Window), ErrorCode::Usage,
                 "an unaligned address is refused");
  B.R.checkFails(D.reserve(0, 4096), ErrorCode::Usage,
                 "an odd size is refused");
  B.R.check(D.unreserve(Any, Window), "unreserve");
  Address Again = B.R.take(D.reserve(Any, Window), "reserve where it was");
  B.R.check(Again == Any, "the wanted address is given");
  B.R.check(D.unreserve(Again, Window), "unreserve again");
  // Addresses far from everything of this process.
  Address Far = 0x4A3D80000000ull;
  Expected<Address> Got = D.reserve(Far, 1ull << 40);
  B.R.line(bool(Got), "reserve 1 TiB at a far address",
           Got ? "" : Got.error().message());
  if (Got)
    B.R.check(D.unreserve(Far, 1ull << 40), "unreserve 1 TiB");
}

void testMapping(Bench &B) {
  Device &D = B.D;
  Address Where = B.R.take(D.reserve(0, Window), "reserve");
  Address Other = B.R.take(D.reserve(0, Window), "reserve a second");
  MemoryHandle Memory = B.R.take(D.createMemory(Window), "createMemory");
  B.R.check(D.map(Where, Window, Memory), "map");
  std::vector<uint8_t> Bytes = pattern(Window, 1), Back(Window);
  B.upload(Where, Bytes.data(), Window);
  B.download(Back.data(), Where, Window);
  B.R.check(Back == Bytes, "mapped memory holds what was written");

  int Fd = B.R.take(D.exportMemory(Memory), "exportMemory");
  MemoryHandle Imported = B.R.take(D.importMemory(Fd, Window), "importMemory");
  B.R.check(D.map(Other, Window, Imported), "map the import elsewhere");
  std::fill(Back.begin(), Back.end(), 0);
  B.download(Back.data(), Other, Window);
  B.R.check(Back == Bytes, "the import is the same memory");
  close(Fd);
  B.R.check(D.unmap(Other, Window), "unmap the import");
  B.R.check(D.releaseMemory(Imported), "release the import");

  B.R.check(D.protect(Where, Window, MemoryAccess::Read), "protect: read");
  Address Result = B.R.take(D.allocate(128), "allocate");
  B.R.check(B.run("st_add", grid(1, 32), Where, Result, 32u, 1),
            "launch on read-only memory");
  int First = 0, Added = 0;
  std::memcpy(&First, Bytes.data(), sizeof(int));
  B.download(&Added, Result, sizeof(int));
  B.R.check(uint32_t(Added) == uint32_t(First) + 1,
            "a kernel reads read-only memory");
  B.R.check(D.copy(Result, Where + 4096, 128, B.Stream),
            "read-only memory can be copied on the device");
  std::vector<uint8_t> Copied(128);
  B.download(Copied.data(), Result, Copied.size());
  B.R.check(std::equal(Copied.begin(), Copied.end(), Bytes.begin() + 4096),
            "and the bytes are right");
  B.R.check(D.free(Result), "free");
  std::fill(Back.begin(), Back.end(), 0);
  B.download(Back.data(), Where, Window);
  B.R.check(Back == Bytes, "read-only memory can be copied");
  B.R.check(D.protect(Where, Window, MemoryAccess::ReadWrite),
            "protect: read and write");
  B.R.check(D.fill(Where, 7, 5, B.Stream), "write after protect");
  B.R.check(B.finish(), "write after protect is done");
  B.R.check(D.unmap(Where, Window), "unmap");
  B.R.check(D.map(Where, Window, Memory), "map again");
  B.download(Back.data(), Where, Window);
  B.R.check(Back[4] == 7 && Back[5] == Bytes[5],
            "contents survive unmap and map");
  Expected<AddressRange> Range = D.allocationOf(Where + 12345);
  B.R.line(Range && Range->Begin <= Where + 12345, "allocationOf a mapping",
           Range ? format("%llx + %llx", (unsigned long long)Range->Begin,
                          (unsigned long long)Range->Size)
                 : Range.error().message());
  B.R.check(D.unmap(Where, Window), "unmap again");
  B.R.check(D.releaseMemory(Memory), "releaseMemory");
  B.R.check(D.unreserve(Where, Window), "unreserve");
  B.R.check(D.unreserve(Other, Window), "unreserve the second");
}

/// Two mappings side by side in one reservation, protected one by one and
/// together.
void testPieces(Bench &B) {
  Device &D = B.D;
  uint64_t Piece = D.granularity();
  Address Where = B.R.take(D.reserve(0, Window), "reserve");
  MemoryHandle First = B.R.take(D.createMemory(Piece), "createMemory");
  MemoryHandle Second = B.R.take(D.createMemory(Piece), "createMemory");
  B.R.check(D.map(Where, Piece, First), "map the first piece");
  B.R.check(D.map(Where + Piece, Piece, Second), "map the second piece");
  B.R.check(D.protect(Where, Piece, MemoryAccess::Read), "protect one piece");
  B.R.check(D.protect(Where, 2 * Piece, MemoryAccess::ReadWrite),
            "protect both pieces at once");
  B.R.check(D.fill(Where + Piece - 8, 3, 16, B.Stream), "fill across pieces");
  B.R.check(B.finish(), "fill across pieces is done");
  B.R.check(D.unmap(Where, Piece), "unmap the first piece");
  B.R.check(D.unmap(Where + Piece, Piece), "unmap the second piece");
  B.R.check(D.releaseMemory(First), "release the first piece");
  B.R.check(D.releaseMemory(Second), "release the second piece");
  B.R.check(D.unreserve(Where, Window), "unreserve");
}

void testOrdinary(Bench &B) {
  Device &D = B.D;
  Address Where = B.R.take(D.allocate(100000), "allocate");
  Expected<AddressRange> Range = D.allocationOf(Where + 99999);
  B.R.check(Range && Range->Begin == Where && Range->Size >= 100000,
            "allocationOf the last byte");
  int Local = 0;
  B.R.checkFails(D.allocationOf(reinterpret_cast<Address>(&Local)),
                 ErrorCode::NotFound, "allocationOf the host's stack");
  B.R.checkFails(D.allocationOf(8), ErrorCode::NotFound, "allocationOf null");
  void *Pinned = B.R.take(D.allocateHost(1 << 20), "allocateHost");
  B.R.checkFails(D.allocationOf(reinterpret_cast<Address>(Pinned)),
                 ErrorCode::NotFound, "allocationOf pinned host memory");
  std::memset(Pinned, 0x5a, 100000);
  B.R.check(D.copyToDevice(Where, Pinned, 100000, B.Stream), "copyToDevice");
  B.R.check(D.fill(Where + 1, 0x11, 3, B.Stream), "fill");
  B.R.check(D.copy(Where + 50000, Where, 16, B.Stream), "copy");
  std::vector<uint8_t> Back(100000);
  B.download(Back.data(), Where, Back.size());
  B.R.check(Back[0] == 0x5a && Back[3] == 0x11 && Back[4] == 0x5a &&
                Back[50001] == 0x11 && Back[50004] == 0x5a &&
                Back[99999] == 0x5a,
            "fill and copy put the right bytes");
  B.R.check(D.copy(Where, Where, 0, B.Stream), "copy of nothing");
  B.R.check(D.freeHost(Pinned), "freeHost");
  B.R.check(D.free(Where), "free");
  B.R.checkFails(D.allocate(1ull << 42), ErrorCode::NoSpace,
                 "allocate too much");
  B.R.check(D.fault().Kind == Outcome::OutOfMemory && !D.fault().Sticky,
            "too much memory is out-of-memory");
  B.R.checkFails(D.createMemory(1ull << 42), ErrorCode::NoSpace,
                 "createMemory too much");
}

} // namespace

void selftest::testMemory(Bench &B) {
  testReservation(B);
  testMapping(B);
  testPieces(B);
  testOrdinary(B);
}

namespace {

constexpr uint64_t LongSpin = 400'000'000; // cycles: at least 0.2 s

void testQuery(Bench &B) {
  Device &D = B.D;
  EventHandle Done = B.R.take(D.createEvent(/*Timing=*/false), "createEvent");
  B.R.check(B.run("st_spin", grid(1, 1), LongSpin), "launch a long kernel");
  B.R.check(D.record(Done, B.Stream), "record");
  Expected<bool> Early = D.query(Done);
  B.R.check(Early && !*Early, "query while the kernel runs: not yet");
  B.R.checkFails(D.waitFor(Done, 10), ErrorCode::Timeout,
                 "waitFor with a short deadline");
  B.R.check(D.waitFor(Done, 10000), "waitFor");
  Expected<bool> Late = D.query(Done);
  B.R.check(Late && *Late, "query afterwards: done");
  B.R.check(D.destroyEvent(Done), "destroyEvent");
}

/// A stream waits for another's event.
void testOrder(Bench &B) {
  Device &D = B.D;
  Address Cell = B.R.take(D.allocate(4), "allocate");
  StreamHandle Second = B.R.take(D.createStream(), "createStream");
  EventHandle Written = B.R.take(D.createEvent(false), "createEvent");
  B.R.check(D.fill(Cell, 1, 4, B.Stream), "fill");
  B.R.check(B.run("st_spin", grid(1, 1), LongSpin / 8), "launch");
  B.R.check(D.fill(Cell, 2, 4, B.Stream), "fill");
  B.R.check(D.record(Written, B.Stream), "record");
  B.R.check(D.wait(Second, Written), "wait");
  uint32_t Value = 0;
  B.R.check(D.copyToHost(&Value, Cell, 4, Second), "copyToHost");
  B.R.check(D.synchronize(Second, 10000), "synchronize");
  B.R.check(Value == 0x02020202, "the second stream saw what it waited for");
  B.R.check(D.destroyStream(Second), "destroyStream");
  B.R.check(D.destroyEvent(Written), "destroyEvent");
  B.R.check(D.free(Cell), "free");
}

} // namespace

void selftest::testStreams(Bench &B) {
  testQuery(B);
  testOrder(B);
  double Ms =
      timeOnDevice(B, [&] { return B.run("st_spin", grid(1, 1), LongSpin); });
  B.R.line(Ms > 50 && Ms < 5000, "elapsedMs of a long kernel",
           format("%.1f ms", Ms));
  auto Empty = B.D.emptyKernel();
  B.R.check(bool(Empty), "emptyKernel");
  if (!Empty)
    return;
  auto Launch = [&] { return B.D.launch(*Empty, grid(7, 64), {}, B.Stream); };
  Ms = timeOnDevice(B, Launch);
  Ms = timeOnDevice(B, Launch);
  B.R.line(Ms > 0 && Ms < 1, "launch of nothing", format("%.4f ms", Ms));
}
