// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chunks go to the pack as they come, index entries are kept back until
// sync(): what an index names is on the disk. Writing is at offsets that are
// kept here, so that a failed write leaves nothing behind.
#include "runtime/support/Pack.h"

#include "runtime/support/Bytes.h"
#include "runtime/support/Files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <random>
#include <unistd.h>
#include <unordered_set>
#include <zstd.h>

namespace r3 {

static constexpr char PackMagic[8] = {'R', '3', 'P', 'A', 'C', 'K', 0, 0};
static constexpr char IndexMagic[8] = {'R', '3', 'I', 'N', 'D', 'E', 'X', 0};
static constexpr uint32_t Version = 1;
static constexpr size_t HeaderBytes = 16;
static constexpr size_t EntryBytes = 48;
static constexpr uint64_t WritebackBytes = 16ull << 20;

static std::vector<uint8_t> fileHeader(const char (&Magic)[8]) {
  ByteWriter Out;
  Out.raw({reinterpret_cast<const uint8_t *>(Magic), 8});
  Out.u32(Version);
  Out.u32(0);
  return Out.take();
}

static Error systemError(const std::string &Path, const char *What) {
  ErrorCode Code = errno == ENOSPC || errno == EDQUOT ? ErrorCode::NoSpace
                                                      : ErrorCode::Failed;
  return fail(Code, "%s: cannot %s: %s", Path.c_str(), What,
              std::strerror(errno));
}

static Error writeAt(int Fd, const std::string &Path, uint64_t Offset,
                     std::span<const uint8_t> Bytes) {
  while (!Bytes.empty()) {
    ssize_t Put = ::pwrite(Fd, Bytes.data(), Bytes.size(), off_t(Offset));
    if (Put < 0 && errno == EINTR)
      continue;
    if (Put < 0)
      return systemError(Path, "write");
    Offset += uint64_t(Put);
    Bytes = Bytes.subspan(size_t(Put));
  }
  return Error::success();
}

//===-- PackWriter --------------------------------------------------------===//

struct PackWriter::State {
  std::string PackPath, IndexPath;
  int Pack = -1, Index = -1;
  uint64_t PackEnd = 0, IndexEnd = 0; // with what is not synced yet
  uint64_t PackSynced = 0;
  uint64_t WritebackEnd = 0; // up to here the kernel was told to write
  pid_t Owner = -1;
  std::unordered_set<Digest> Names;
  std::vector<Digest> NewNames;
  ByteWriter NewEntries;

  ~State() {
    if (Pack >= 0)
      ::close(Pack);
    if (Index >= 0)
      ::close(Index);
  }
};

PackWriter::PackWriter(std::unique_ptr<State> S) : S(std::move(S)) {}

Expected<std::unique_ptr<PackWriter>>
PackWriter::create(const std::string &Directory) {
  auto S = std::make_unique<State>();
  S->Owner = ::getpid();
  std::random_device Random;
  std::string Base = format("%s/%d-%08x%08x", Directory.c_str(), int(S->Owner),
                            unsigned(Random()), unsigned(Random()));
  S->PackPath = Base + ".pack";
  S->IndexPath = Base + ".idx";
  constexpr int Flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;
  if ((S->Pack = ::open(S->PackPath.c_str(), Flags, 0666)) < 0)
    return systemError(S->PackPath, "create");
  if ((S->Index = ::open(S->IndexPath.c_str(), Flags, 0666)) < 0) {
    Error E = systemError(S->IndexPath, "create");
    ::unlink(S->PackPath.c_str());
    return E;
  }
  std::unique_ptr<PackWriter> Writer(new PackWriter(std::move(S)));
  State &W = *Writer->S;
  if (Error E = writeAt(W.Pack, W.PackPath, 0, fileHeader(PackMagic)))
    return E;
  if (Error E = writeAt(W.Index, W.IndexPath, 0, fileHeader(IndexMagic)))
    return E;
  W.PackEnd = W.PackSynced = W.IndexEnd = HeaderBytes;
  return Writer;
}

PackWriter::~PackWriter() {
  // A forked copy leaves its parent's files alone.
  if (S->Owner != ::getpid())
    return;
  (void)rollback();
  if (S->PackSynced <= HeaderBytes) {
    ::unlink(S->IndexPath.c_str());
    ::unlink(S->PackPath.c_str());
  }
}

bool PackWriter::contains(const Digest &Name) const {
  return S->Names.count(Name);
}

static void writeEntry(ByteWriter &Out, const Digest &Name, uint64_t Offset,
                       uint32_t Size) {
  ByteWriter Entry;
  Entry.digest(Name);
  Entry.u64(Offset);
  Entry.u32(Size);
  Entry.u32(Size);
  Entry.u64(0); // codec 0 and seven zero bytes
  Entry.u64(checksum(Entry.data()));
  Out.raw(Entry.data());
}

Error PackWriter::add(const Digest &Name, std::span<const uint8_t> Bytes) {
  if (contains(Name))
    return Error::success();
  if (Bytes.empty() || Bytes.size() > ChunkBytes)
    return fail(ErrorCode::Usage, "a chunk of %zu bytes", Bytes.size());
  if (Error E = writeAt(S->Pack, S->PackPath, S->PackEnd, Bytes))
    return E;
  writeEntry(S->NewEntries, Name, S->PackEnd, uint32_t(Bytes.size()));
  S->PackEnd += Bytes.size();
  // Else the kernel keeps gigabytes until the sync, and the disk idles.
  if (S->PackEnd - S->WritebackEnd >= WritebackBytes) {
    (void)::sync_file_range(S->Pack, off_t(S->WritebackEnd),
                            off_t(S->PackEnd - S->WritebackEnd),
                            SYNC_FILE_RANGE_WRITE);
    S->WritebackEnd = S->PackEnd;
  }
  S->Names.insert(Name);
  S->NewNames.push_back(Name);
  return Error::success();
}

Error PackWriter::sync() {
  if (S->NewNames.empty())
    return Error::success();
  if (::fdatasync(S->Pack))
    return systemError(S->PackPath, "sync");
  std::span<const uint8_t> Entries = S->NewEntries.data();
  if (Error E = writeAt(S->Index, S->IndexPath, S->IndexEnd, Entries))
    return E;
  if (::fdatasync(S->Index))
    return systemError(S->IndexPath, "sync");
  S->IndexEnd += Entries.size();
  S->PackSynced = S->PackEnd;
  S->NewEntries = ByteWriter();
  S->NewNames.clear();
  return Error::success();
}

Error PackWriter::rollback() {
  for (const Digest &Name : S->NewNames)
    S->Names.erase(Name);
  S->NewNames.clear();
  S->NewEntries = ByteWriter();
  S->PackEnd = S->WritebackEnd = S->PackSynced;
  // A failed sync may have left a part of its entries.
  if (::ftruncate(S->Index, off_t(S->IndexEnd)))
    return systemError(S->IndexPath, "truncate");
  if (::ftruncate(S->Pack, off_t(S->PackEnd)))
    return systemError(S->PackPath, "truncate");
  return Error::success();
}

uint64_t PackWriter::size() const { return S->PackEnd; }

//===-- PackSet -----------------------------------------------------------===//

struct PackSet::State {
  std::vector<std::string> Files;
  std::unordered_map<Digest, ChunkLocation> Chunks;
};

PackSet::PackSet(std::unique_ptr<State> S) : S(std::move(S)) {}
PackSet::~PackSet() = default;

static void checkLocation(ByteReader &In, const ChunkLocation &Where,
                          uint64_t Reserved) {
  if (Where.Codec > 1 || Reserved)
    In.reject(format("codec %u does not exist", Where.Codec));
  if (!Where.Size || Where.Size > ChunkBytes ||
      Where.Stored > ZSTD_COMPRESSBOUND(ChunkBytes) ||
      (!Where.Codec && Where.Stored != Where.Size))
    In.reject(
        format("a chunk of %u bytes stored as %u", Where.Size, Where.Stored));
}

Expected<std::vector<std::pair<Digest, ChunkLocation>>>
parsePackIndex(std::span<const uint8_t> Bytes, const std::string &Name) {
  std::vector<std::pair<Digest, ChunkLocation>> Result;
  if (Bytes.size() < HeaderBytes)
    return Result; // its writer was killed before the first sync
  ByteReader In(Bytes, Name);
  if (std::memcmp(In.raw(8).data(), IndexMagic, 8))
    In.reject("not a pack index");
  if (uint32_t Found = In.u32(); Found != Version)
    In.reject(format("version %u, this r3 reads %u", Found, Version));
  In.u32();
  while (!In.failed() && In.left() >= EntryBytes) {
    std::span<const uint8_t> Entry = Bytes.subspan(In.offset(), EntryBytes);
    Digest Chunk = In.digest();
    ChunkLocation Where;
    Where.Offset = In.u64();
    Where.Stored = In.u32();
    Where.Size = In.u32();
    uint64_t Codec = In.u64();
    Where.Codec = uint8_t(Codec);
    if (In.u64() != checksum(Entry.first(EntryBytes - 8)))
      break; // torn: this and all after it was never promised
    checkLocation(In, Where, Codec >> 8);
    Result.emplace_back(Chunk, Where);
  }
  if (In.failed())
    return In.error();
  return Result;
}

static Expected<std::vector<std::string>>
listIndexes(const std::string &Directory) {
  std::vector<std::string> Result;
  std::error_code Failure;
  std::filesystem::directory_iterator At(Directory, Failure), End;
  for (; !Failure && At != End; At.increment(Failure))
    if (std::string Name = At->path().string(); Name.ends_with(".idx"))
      Result.push_back(Name);
  if (Failure)
    return fail(
        Failure == std::errc::no_such_file_or_directory ? ErrorCode::NotFound
                                                        : ErrorCode::Failed,
        "%s: cannot list: %s", Directory.c_str(), Failure.message().c_str());
  std::sort(Result.begin(), Result.end());
  return Result;
}

Expected<std::unique_ptr<PackSet>> PackSet::open(const std::string &Directory) {
  Expected<std::vector<std::string>> Indexes = listIndexes(Directory);
  if (!Indexes)
    return Indexes.error();
  auto S = std::make_unique<State>();
  for (const std::string &Path : *Indexes) {
    Expected<std::vector<uint8_t>> Bytes = readFile(Path);
    if (!Bytes && Bytes.error().code() == ErrorCode::NotFound)
      continue; // its writer had nothing to keep
    if (!Bytes)
      return Bytes.error();
    auto Entries = parsePackIndex(*Bytes, Path);
    if (!Entries)
      return Entries.error();
    for (auto &[Name, Where] : *Entries) {
      Where.File = uint32_t(S->Files.size());
      S->Chunks.emplace(Name, Where);
    }
    S->Files.push_back(Path.substr(0, Path.size() - 4) + ".pack");
  }
  return std::unique_ptr<PackSet>(new PackSet(std::move(S)));
}

bool PackSet::contains(const Digest &Name) const {
  return S->Chunks.count(Name);
}

Expected<ChunkLocation> PackSet::find(const Digest &Name) const {
  auto Found = S->Chunks.find(Name);
  if (Found == S->Chunks.end())
    return fail(ErrorCode::NotFound, "chunk %s is in no pack",
                Name.hex().c_str());
  return Found->second;
}

static Expected<std::vector<uint8_t>> readStored(const std::string &Path,
                                                 const ChunkLocation &Where) {
  int Fd = ::open(Path.c_str(), O_RDONLY | O_CLOEXEC);
  if (Fd < 0)
    return systemError(Path, "open");
  std::vector<uint8_t> Bytes(Where.Stored);
  size_t Got = 0;
  ssize_t Part = 1;
  while (Got != Bytes.size() && Part) {
    Part = ::pread(Fd, Bytes.data() + Got, Bytes.size() - Got,
                   off_t(Where.Offset + Got));
    if (Part < 0 && errno != EINTR)
      break;
    Got += size_t(std::max<ssize_t>(Part, 0));
  }
  Error Failure = Part < 0 ? systemError(Path, "read") : Error::success();
  ::close(Fd);
  if (Failure)
    return Failure;
  if (Got != Bytes.size())
    return fail(ErrorCode::Damaged,
                "%s: offset %llu: %zu bytes left, %u needed", Path.c_str(),
                (unsigned long long)Where.Offset, Got, Where.Stored);
  return Bytes;
}

Expected<std::vector<uint8_t>> PackSet::read(const Digest &Name) const {
  Expected<ChunkLocation> Where = find(Name);
  if (!Where)
    return Where.error();
  const std::string &Path = S->Files[Where->File];
  Expected<std::vector<uint8_t>> Bytes = readStored(Path, *Where);
  if (!Bytes)
    return Bytes.error();
  if (Where->Codec) {
    std::vector<uint8_t> Raw(Where->Size);
    size_t Got =
        ZSTD_decompress(Raw.data(), Raw.size(), Bytes->data(), Bytes->size());
    Raw.resize(ZSTD_isError(Got) ? 0 : Got);
    *Bytes = std::move(Raw);
  }
  if (Bytes->size() != Where->Size || chunkDigest(*Bytes) != Name)
    return fail(ErrorCode::Damaged,
                "%s: offset %llu: the bytes are not chunk %s", Path.c_str(),
                (unsigned long long)Where->Offset, Name.hex().c_str());
  return Bytes;
}

const std::vector<std::string> &PackSet::files() const { return S->Files; }

} // namespace r3
