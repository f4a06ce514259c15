// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file is allocated whole before it is mapped: a store into a hole of a
// full disk would be a SIGBUS in the user's program.
#include "runtime/support/RunStats.h"

#include "runtime/support/Bytes.h"
#include "runtime/support/Files.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace r3 {

static constexpr char Magic[8] = {'R', '3', 'R', 'U', 'N', 0, 0, 0};
static constexpr uint32_t Version = 1;

namespace {

struct FileHeader {
  char Magic[8];
  uint32_t Version;
  uint32_t Kernels;
  uint32_t Pid;
  uint32_t Rank;
  uint64_t StartedAt;
  uint64_t LastUpdate;
  char Program[192];
  char Device[192];
};
static_assert(sizeof(FileHeader) == 424);

struct FileEntry {
  char Key[40];
  char Name[216];
  uint64_t Numbers[6]; // launches, sampled, sampledNs, recorded, bytes, pause
  uint32_t LastReason;
  uint32_t ReasonCount;
};
static_assert(sizeof(FileEntry) == 312);

constexpr size_t FileBytes =
    sizeof(FileHeader) + RunStatsWriter::MaxKernels * sizeof(FileEntry);

} // namespace

template <size_t Size>
static void putText(char (&Into)[Size], const std::string &Text) {
  size_t Length = Text.size() < Size ? Text.size() : Size - 1;
  std::memcpy(Into, Text.data(), Length);
  std::memset(Into + Length, 0, Size - Length);
}

/// A reader may look at any time: whole words only.
template <typename T> static void put(T &Into, T Value) {
  std::atomic_ref<T>(Into).store(Value, std::memory_order_relaxed);
}

static uint64_t nowNs() {
  struct timespec Now;
  ::clock_gettime(CLOCK_REALTIME, &Now);
  return uint64_t(Now.tv_sec) * 1000000000u + uint64_t(Now.tv_nsec);
}

//===-- Writing -----------------------------------------------------------===//

struct RunStatsWriter::State {
  FileHeader *Header = nullptr;
  FileEntry *Entries = nullptr;
  ~State() {
    if (Header)
      ::munmap(Header, FileBytes);
  }
};

RunStatsWriter::RunStatsWriter(std::unique_ptr<State> S) : S(std::move(S)) {}
RunStatsWriter::~RunStatsWriter() = default;

static Expected<void *> mapNewFile(const std::string &Path) {
  int Fd = ::open(Path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (Fd < 0)
    return fail(ErrorCode::Failed, "%s: cannot create: %s", Path.c_str(),
                std::strerror(errno));
  int Number = ::posix_fallocate(Fd, 0, FileBytes);
  void *Mapped = MAP_FAILED;
  if (!Number) {
    Mapped =
        ::mmap(nullptr, FileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, Fd, 0);
    Number = errno;
  }
  ::close(Fd);
  if (Mapped != MAP_FAILED)
    return Mapped;
  ::unlink(Path.c_str());
  return fail(Number == ENOSPC ? ErrorCode::NoSpace : ErrorCode::Failed,
              "%s: cannot map %zu bytes: %s", Path.c_str(), FileBytes,
              std::strerror(Number));
}

Expected<std::unique_ptr<RunStatsWriter>>
RunStatsWriter::create(const std::string &Path, const RunStats &Header) {
  Expected<void *> Mapped = mapNewFile(Path);
  if (!Mapped)
    return Mapped.error();
  auto S = std::make_unique<State>();
  S->Header = static_cast<FileHeader *>(*Mapped);
  S->Entries = reinterpret_cast<FileEntry *>(S->Header + 1);
  S->Header->Version = Version;
  S->Header->Pid = Header.Pid;
  S->Header->Rank = Header.Rank;
  S->Header->StartedAt = Header.StartedAtNs ? Header.StartedAtNs : nowNs();
  S->Header->LastUpdate = nowNs();
  putText(S->Header->Program, Header.Program);
  putText(S->Header->Device, Header.Device);
  // Last: with it the file is one of ours.
  std::atomic_thread_fence(std::memory_order_release);
  std::memcpy(S->Header->Magic, Magic, sizeof(Magic));
  return std::unique_ptr<RunStatsWriter>(new RunStatsWriter(std::move(S)));
}

uint32_t RunStatsWriter::addKernel(const std::string &Key,
                                   const std::string &Name) {
  uint32_t Slot = S->Header->Kernels;
  if (Slot >= MaxKernels)
    return MaxKernels;
  putText(S->Entries[Slot].Key, Key);
  putText(S->Entries[Slot].Name, Name);
  std::atomic_ref<uint32_t>(S->Header->Kernels)
      .store(Slot + 1, std::memory_order_release);
  return Slot;
}

void RunStatsWriter::update(uint32_t Slot, const KernelRunStats &Values) {
  if (Slot >= MaxKernels)
    return;
  FileEntry &Entry = S->Entries[Slot];
  const uint64_t Numbers[] = {Values.Launches,      Values.Sampled,
                              Values.SampledNs,     Values.Recorded,
                              Values.BytesRecorded, Values.PauseNs};
  for (size_t I = 0; I != std::size(Numbers); ++I)
    put(Entry.Numbers[I], Numbers[I]);
  put(Entry.LastReason, Values.LastReason);
  put(Entry.ReasonCount, Values.ReasonCount);
  put(S->Header->LastUpdate, nowNs());
}

void RunStatsWriter::setDevice(const std::string &Device) {
  putText(S->Header->Device, Device);
}

//===-- Reading -----------------------------------------------------------===//

static std::string takeText(ByteReader &In, size_t Size) {
  std::span<const uint8_t> Bytes = In.raw(Size);
  const char *Text = reinterpret_cast<const char *>(Bytes.data());
  return Bytes.empty() ? std::string()
                       : std::string(Text, ::strnlen(Text, Bytes.size()));
}

static KernelRunStats takeEntry(ByteReader &In) {
  KernelRunStats Entry;
  Entry.Key = takeText(In, sizeof(FileEntry::Key));
  Entry.Name = takeText(In, sizeof(FileEntry::Name));
  for (uint64_t *Number :
       {&Entry.Launches, &Entry.Sampled, &Entry.SampledNs, &Entry.Recorded,
        &Entry.BytesRecorded, &Entry.PauseNs})
    *Number = In.u64();
  Entry.LastReason = In.u32();
  Entry.ReasonCount = In.u32();
  return Entry;
}

Expected<RunStats> RunStats::parse(std::span<const uint8_t> Bytes,
                                   const std::string &Name) {
  ByteReader In(Bytes, Name);
  std::span<const uint8_t> Start = In.raw(sizeof(Magic));
  if (!In.failed() && std::memcmp(Start.data(), Magic, sizeof(Magic)))
    In.reject("no statistics of a run");
  uint32_t Found = In.u32();
  if (!In.failed() && Found != Version)
    In.reject(format("version %u, this r3 reads %u", Found, Version));
  RunStats Result;
  uint32_t Kernels = In.u32();
  Result.Pid = In.u32();
  Result.Rank = In.u32();
  Result.StartedAtNs = In.u64();
  Result.LastUpdateNs = In.u64();
  Result.Program = takeText(In, sizeof(FileHeader::Program));
  Result.Device = takeText(In, sizeof(FileHeader::Device));
  if (!In.failed() && Kernels > RunStatsWriter::MaxKernels)
    In.reject(format("%u kernels, over the limit", Kernels));
  for (uint32_t I = 0; I != Kernels && !In.failed(); ++I)
    Result.Kernels.push_back(takeEntry(In));
  if (In.failed())
    return In.error();
  return Result;
}

Expected<RunStats> RunStats::read(const std::string &Path) {
  Expected<std::vector<uint8_t>> Bytes = readFile(Path, FileBytes);
  if (!Bytes)
    return Bytes.error();
  return parse(*Bytes, Path);
}

} // namespace r3
