// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// First fit from the lowest address, so that addresses depend on nothing but
// the order of allocations. Between two allocations lies a gap that belongs to
// neither.
#include "runtime/device/cpu/Memory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace r3::cpu {

namespace {

constexpr uint64_t Alignment = 256;
constexpr uint64_t Gap = 256;
constexpr uint64_t ChunkSize = 64ull << 20;
constexpr uint64_t PageSize = 4096;

void *pointer(Address Where) { return reinterpret_cast<void *>(Where); }

uint64_t roundUp(uint64_t Value, uint64_t To) {
  return (Value + To - 1) / To * To;
}

Error systemError(ErrorCode Code, const char *What, Address Where,
                  uint64_t Size) {
  return fail(Code, "%s of %llu bytes at 0x%llx: %s", What,
              static_cast<unsigned long long>(Size),
              static_cast<unsigned long long>(Where), std::strerror(errno));
}

uint64_t physicalBytes() {
  long Pages = sysconf(_SC_PHYS_PAGES), Size = sysconf(_SC_PAGESIZE);
  return Pages > 0 && Size > 0 ? uint64_t(Pages) * uint64_t(Size) : 1ull << 32;
}

/// A multiple of 4 GiB below 8 TiB that differs from process to process.
uint64_t drawSlot() {
  uint16_t Random = 0;
  if (getrandom(&Random, sizeof(Random), GRND_NONBLOCK) != sizeof(Random))
    Random = static_cast<uint16_t>(getpid());
  return uint64_t(Random % 2048) << 32;
}

} // namespace

Memory::Memory() : Total(physicalBytes() / 4 * 3) {
  Arenas[size_t(MemoryUse::Program)].Next = 0x100000000000;
  Arenas[size_t(MemoryUse::Pinned)].Next = 0x180000000000;
  Arenas[size_t(MemoryUse::Internal)].Next = 0x200000000000 + drawSlot();
  Arenas[size_t(MemoryUse::Global)].Next = 0x280000000000 + drawSlot();
}

// --- Arenas.

/// Adds a chunk of fresh memory behind the last one, past what is taken.
Error Memory::grow(Arena &A, uint64_t Size) {
  uint64_t Bytes = roundUp(Size, ChunkSize);
  for (unsigned Try = 0; Try < 1024; ++Try) {
    Address Where = A.Next;
    void *Got =
        mmap(pointer(Where), Bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
             -1, 0);
    if (Got == MAP_FAILED && errno != EEXIST)
      return systemError(ErrorCode::NoSpace, "allocation", Where, Bytes);
    if (Got != MAP_FAILED && Got != pointer(Where)) {
      munmap(Got, Bytes); // a kernel that does not know the flag
      Got = MAP_FAILED;
    }
    A.Next = Where + (Got == MAP_FAILED ? ChunkSize : Bytes);
    if (Got == MAP_FAILED)
      continue;
    madvise(Got, Bytes, MADV_HUGEPAGE);
    auto Last = A.Free.empty() ? A.Free.end() : std::prev(A.Free.end());
    if (Last != A.Free.end() && Last->first + Last->second == Where)
      Last->second += Bytes;
    else
      A.Free[Where] = Bytes;
    return Error::success();
  }
  return fail(ErrorCode::NoSpace, "no free range of addresses for %llu bytes",
              static_cast<unsigned long long>(Size));
}

Expected<Address> Memory::take(Arena &A, uint64_t Size) {
  for (unsigned Round = 0; Round < 2; ++Round) {
    for (auto It = A.Free.begin(); It != A.Free.end(); ++It) {
      if (It->second < Size)
        continue;
      auto [Where, Left] = *It;
      A.Free.erase(It);
      if (Left > Size)
        A.Free[Where + Size] = Left - Size;
      return Where;
    }
    if (Error Failure = grow(A, Size))
      return Failure;
  }
  return fail(ErrorCode::NoSpace, "no memory");
}

Expected<Address> Memory::allocate(uint64_t Size, MemoryUse Use, uint32_t Tag) {
  if (!Size || Use > MemoryUse::Global)
    return fail(ErrorCode::Usage, "an allocation of %llu bytes",
                static_cast<unsigned long long>(Size));
  std::lock_guard Lock(Mutex);
  if (Size > Total - Used)
    return fail(ErrorCode::NoSpace,
                "%llu bytes of device memory: %llu of %llu are in use",
                static_cast<unsigned long long>(Size),
                static_cast<unsigned long long>(Used),
                static_cast<unsigned long long>(Total));
  Expected<Address> Where =
      take(Arenas[size_t(Use)], roundUp(Size, Alignment) + Gap);
  if (!Where)
    return Where.error();
  Blocks[*Where] = {*Where, Size, Use, Tag};
  Used += Size;
  return *Where;
}

Error Memory::free(Address Where) {
  std::lock_guard Lock(Mutex);
  auto It = Blocks.find(Where);
  if (It == Blocks.end() || It->second.Use == MemoryUse::Mapped)
    return fail(ErrorCode::NotFound, "0x%llx is not an allocation",
                static_cast<unsigned long long>(Where));
  MemoryBlock Block = It->second;
  Blocks.erase(It);
  Used -= Block.Size;
  uint64_t Size = roundUp(Block.Size, Alignment) + Gap;
  if (Size >= 1u << 20) { // give whole pages back to the system
    Address Begin = roundUp(Where, PageSize);
    madvise(pointer(Begin), (Where + Size - Begin) / PageSize * PageSize,
            MADV_DONTNEED);
  }
  std::map<Address, uint64_t> &Free = Arenas[size_t(Block.Use)].Free;
  auto After = Free.lower_bound(Where);
  if (After != Free.end() && Where + Size == After->first) {
    Size += After->second;
    After = Free.erase(After);
  }
  if (After != Free.begin()) {
    auto Before = std::prev(After);
    if (Before->first + Before->second == Where) {
      Before->second += Size;
      return Error::success();
    }
  }
  Free[Where] = Size;
  return Error::success();
}

std::optional<MemoryBlock> Memory::find(Address Where) const {
  std::lock_guard Lock(Mutex);
  for (const auto *Table : {&Blocks, &Registered}) {
    auto It = Table->upper_bound(Where);
    if (It == Table->begin())
      continue;
    --It;
    if (Where - It->second.Begin < It->second.Size)
      return It->second;
  }
  return std::nullopt;
}

Error Memory::registerHost(Address Where, uint64_t Size, uint32_t Tag) {
  if (!Where || !Size)
    return fail(ErrorCode::Usage, "registration of no memory");
  std::lock_guard Lock(Mutex);
  if (Registered.count(Where))
    return fail(ErrorCode::Usage, "0x%llx is registered already",
                static_cast<unsigned long long>(Where));
  Registered[Where] = {Where, Size, MemoryUse::Register, Tag};
  return Error::success();
}

Error Memory::unregisterHost(Address Where) {
  std::lock_guard Lock(Mutex);
  if (!Registered.erase(Where))
    return fail(ErrorCode::NotFound, "0x%llx is not registered",
                static_cast<unsigned long long>(Where));
  return Error::success();
}

uint64_t Memory::freeBytes() const {
  std::lock_guard Lock(Mutex);
  return Total - Used;
}

// --- Memory at wanted addresses.

Expected<Address> Memory::reserve(Address Wanted, uint64_t Size) {
  int Flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  if (Wanted)
    Flags |= MAP_FIXED_NOREPLACE;
  void *Got = mmap(pointer(Wanted), Size, PROT_NONE, Flags, -1, 0);
  if (Got == MAP_FAILED)
    return systemError(ErrorCode::Failed, "reservation", Wanted, Size);
  auto Where = reinterpret_cast<Address>(Got);
  if (Wanted && Where != Wanted) {
    munmap(Got, Size);
    errno = EEXIST;
    return systemError(ErrorCode::Failed, "reservation", Wanted, Size);
  }
  std::lock_guard Lock(Mutex);
  Reservations[Where] = Size;
  return Where;
}

Error Memory::unreserve(Address Where, uint64_t Size) {
  std::lock_guard Lock(Mutex);
  auto It = Reservations.find(Where);
  if (It == Reservations.end() || It->second != Size)
    return fail(ErrorCode::Usage, "0x%llx is not a reservation of %llu bytes",
                static_cast<unsigned long long>(Where),
                static_cast<unsigned long long>(Size));
  Blocks.erase(Blocks.lower_bound(Where), Blocks.lower_bound(Where + Size));
  Reservations.erase(It);
  munmap(pointer(Where), Size);
  return Error::success();
}

bool Memory::isReserved(Address Where, uint64_t Size) const {
  auto It = Reservations.upper_bound(Where);
  if (It == Reservations.begin())
    return false;
  --It;
  uint64_t Offset = Where - It->first;
  return Size <= It->second && Offset <= It->second - Size;
}

Expected<MemoryHandle> Memory::createMemory(uint64_t Size) {
  int Fd = memfd_create("r3-device-memory", MFD_CLOEXEC);
  if (Fd < 0 || ftruncate(Fd, static_cast<off_t>(Size)) != 0) {
    Error Failure = systemError(ErrorCode::NoSpace, "memory", 0, Size);
    if (Fd >= 0)
      close(Fd);
    return Failure;
  }
  std::lock_guard Lock(Mutex);
  Physicals[NextHandle] = {Fd, Size};
  return NextHandle++;
}

Error Memory::releaseMemory(MemoryHandle Handle) {
  std::lock_guard Lock(Mutex);
  auto It = Physicals.find(Handle);
  if (It == Physicals.end())
    return fail(ErrorCode::Usage, "no memory %llu",
                static_cast<unsigned long long>(Handle));
  close(It->second.Fd); // mappings keep it alive
  Physicals.erase(It);
  return Error::success();
}

Expected<int> Memory::exportMemory(MemoryHandle Handle) {
  std::lock_guard Lock(Mutex);
  auto It = Physicals.find(Handle);
  if (It == Physicals.end())
    return fail(ErrorCode::Usage, "no memory %llu",
                static_cast<unsigned long long>(Handle));
  int Copy = fcntl(It->second.Fd, F_DUPFD_CLOEXEC, 0);
  if (Copy < 0)
    return systemError(ErrorCode::Failed, "export", 0, It->second.Size);
  return Copy;
}

Expected<MemoryHandle> Memory::importMemory(int Fd, uint64_t Size) {
  struct stat Status;
  if (fstat(Fd, &Status) != 0 || uint64_t(Status.st_size) < Size)
    return fail(ErrorCode::Usage, "descriptor %d holds less than %llu bytes",
                Fd, static_cast<unsigned long long>(Size));
  int Copy = fcntl(Fd, F_DUPFD_CLOEXEC, 0);
  if (Copy < 0)
    return systemError(ErrorCode::Failed, "import", 0, Size);
  std::lock_guard Lock(Mutex);
  Physicals[NextHandle] = {Copy, Size};
  return NextHandle++;
}

Error Memory::map(Address Where, uint64_t Size, MemoryHandle Handle) {
  std::lock_guard Lock(Mutex);
  auto It = Physicals.find(Handle);
  if (It == Physicals.end() || Size > It->second.Size)
    return fail(ErrorCode::Usage, "memory %llu has no %llu bytes",
                static_cast<unsigned long long>(Handle),
                static_cast<unsigned long long>(Size));
  if (!isReserved(Where, Size))
    return fail(ErrorCode::Usage, "0x%llx is not reserved",
                static_cast<unsigned long long>(Where));
  if (mmap(pointer(Where), Size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
           It->second.Fd, 0) == MAP_FAILED)
    return systemError(ErrorCode::NoSpace, "mapping", Where, Size);
  Blocks[Where] = {Where, Size, MemoryUse::Mapped, 0};
  return Error::success();
}

Error Memory::protect(Address Where, uint64_t Size, MemoryAccess Access) {
  {
    std::lock_guard Lock(Mutex);
    if (!isReserved(Where, Size))
      return fail(ErrorCode::Usage, "0x%llx is not reserved",
                  static_cast<unsigned long long>(Where));
  }
  int Flags = Access == MemoryAccess::None   ? PROT_NONE
              : Access == MemoryAccess::Read ? PROT_READ
                                             : PROT_READ | PROT_WRITE;
  if (mprotect(pointer(Where), Size, Flags) != 0)
    return systemError(ErrorCode::Failed, "protection", Where, Size);
  return Error::success();
}

Error Memory::unmap(Address Where, uint64_t Size) {
  std::lock_guard Lock(Mutex);
  auto It = Blocks.find(Where);
  if (It == Blocks.end() || It->second.Use != MemoryUse::Mapped ||
      It->second.Size != Size)
    return fail(ErrorCode::Usage, "0x%llx is not a mapping of %llu bytes",
                static_cast<unsigned long long>(Where),
                static_cast<unsigned long long>(Size));
  Blocks.erase(It);
  // The reservation stays.
  if (mmap(pointer(Where), Size, PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
           0) == MAP_FAILED)
    return systemError(ErrorCode::Failed, "unmapping", Where, Size);
  return Error::success();
}

// --- For bounds checks.

void Memory::limitAccess(std::span<const AddressRange> Ranges) {
  std::lock_guard Lock(Mutex);
  Limits.assign(Ranges.begin(), Ranges.end());
}

std::vector<AddressRange> Memory::accessible() const {
  std::lock_guard Lock(Mutex);
  std::vector<AddressRange> Result = Limits;
  for (const auto *Table : {&Blocks, &Registered})
    for (const auto &[Where, Block] : *Table)
      if (Block.Use != MemoryUse::Mapped || Limits.empty())
        Result.push_back({Where, Block.Size});
  return Result;
}

} // namespace r3::cpu
