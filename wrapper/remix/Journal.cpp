// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writing: opening with lock and migration, sessions, evaluations, evidence.
// Reading rows back is in JournalQuery.cpp.
#include "wrapper/remix/Journal.h"

#include "wrapper/remix/JournalText.h"
#include "wrapper/remix/Schema.h"

#include <ctime>
#include <sys/vfs.h>

namespace r3 {

namespace {

/// File systems on which SQLite's write-ahead log (shared memory between
/// processes) does not work.
bool isNetworkFileSystem(const std::string &Path) {
  struct statfs Info{};
  if (statfs(Path.c_str(), &Info) != 0)
    return false;
  switch (uint32_t(Info.f_type)) {
  case 0x6969:     // NFS
  case 0xff534d42: // CIFS
  case 0xfe534d42: // SMB2
  case 0x0bd00bd0: // Lustre
  case 0x47504653: // GPFS
  case 0x19830326: // BeeGFS
  case 0x01021997: // 9P
    return true;
  default:
    return false;
  }
}

} // namespace

Expected<std::unique_ptr<Journal>>
Journal::openForWriting(const std::string &Path, const std::string &Purpose) {
  auto Lock = OwnerLock::take(Path + ".lock", Purpose);
  if (!Lock)
    return Lock.error().in("the journal is in use");
  auto D = Database::open(Path, Database::Mode::Write);
  if (!D)
    return D.error();
  std::unique_ptr<Journal> J(new Journal(std::move(*D), std::move(*Lock)));
  if (Error E = J->configure())
    return E;
  if (Error E = migrateJournal(J->D))
    return E;
  return J;
}

Expected<std::unique_ptr<Journal>>
Journal::openForReading(const std::string &Path) {
  auto D = Database::open(Path, Database::Mode::Read);
  if (!D)
    return D.error();
  auto Version = readJournalVersion(*D);
  if (!Version)
    return Version.error();
  // A reader cannot migrate: the writer's next start does.
  if (*Version != journalVersion())
    return fail(ErrorCode::Stale,
                "%s: journal of version %d, this r3 reads version %d: `r3 "
                "remix` brings an older one up to date",
                Path.c_str(), *Version, journalVersion());
  return std::unique_ptr<Journal>(new Journal(std::move(*D), std::nullopt));
}

Error Journal::configure() {
  bool Network = isNetworkFileSystem(D.path());
  if (Network)
    Notice = "the store is on a network file system: the journal is kept "
             "without write-ahead log and is slower";
  // Without the log every commit reaches the disk; with it a power cut may
  // take the last commits, a killed process takes none.
  return D.execute(Network ? "PRAGMA journal_mode = DELETE;"
                             "PRAGMA synchronous = FULL;"
                             "PRAGMA foreign_keys = ON;"
                           : "PRAGMA journal_mode = WAL;"
                             "PRAGMA synchronous = NORMAL;"
                             "PRAGMA foreign_keys = ON;");
}

Expected<int64_t> Journal::kernelId(const std::string &Key) {
  auto Query = D.prepare("SELECT id FROM kernel WHERE key = ?");
  if (!Query)
    return Query.error();
  auto Row = Query->bind(Key).step();
  if (!Row)
    return Row.error();
  if (!*Row)
    return fail(ErrorCode::NotFound, "%s: no kernel %s in the journal",
                D.path().c_str(), Key.c_str());
  return Query->integer(0);
}

Error Journal::noteKernel(const JournalKernel &Kernel,
                          std::span<const JournalRecording> Recordings) {
  auto Change = Transaction::begin(D);
  if (!Change)
    return Change.error();
  auto Insert = D.prepare(
      "INSERT INTO kernel(key, name, home) VALUES(?, ?, ?) ON CONFLICT(key) DO "
      "UPDATE SET name = excluded.name, home = excluded.home");
  if (!Insert)
    return Insert.error();
  if (Error E =
          Insert->bind(Kernel.Key).bind(Kernel.Name).bind(Kernel.Home).run())
    return E;
  auto Id = kernelId(Kernel.Key);
  if (!Id)
    return Id.error();
  auto Row =
      D.prepare("INSERT OR IGNORE INTO recording(kernel, digest, class, "
                "backend, footprint, program_ns) VALUES(?, ?, ?, ?, ?, ?)");
  if (!Row)
    return Row.error();
  for (const JournalRecording &R : Recordings) {
    Row->reset();
    Row->bind(*Id).bind(R.Digest).bind(R.Class).bind(R.Backend);
    if (Error E =
            Row->bind(int64_t(R.Footprint)).bind(int64_t(R.ProgramNs)).run())
      return E;
  }
  return Change->commit();
}

Expected<Session> Journal::openSession(const SessionSpec &Spec) {
  auto Insert = D.prepare(
      "INSERT INTO session(identity, backend, device, tools, space, seed, "
      "budget_ms, max_evals, in_flight, state, started_at, updated_at) "
      "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, 'open', ?, ?) ON CONFLICT(identity) "
      "DO "
      "UPDATE SET budget_ms = max(budget_ms, excluded.budget_ms), "
      "max_evals = excluded.max_evals");
  if (!Insert)
    return Insert.error();
  int64_t Now = std::time(nullptr);
  Insert->bind(Spec.Identity).bind(Spec.Backend).bind(Spec.Device);
  Insert->bind(Spec.Tools).bind(Spec.Space).bind(int64_t(Spec.Seed));
  Insert->bind(int64_t(Spec.BudgetMs)).bind(int64_t(Spec.MaxEvaluations));
  Insert->bind(int64_t(Spec.InFlight));
  if (Error E = Insert->bind(Now).bind(Now).run())
    return E;
  return readSession(D, Spec.Identity);
}

Error Journal::updateSession(const Session &S) {
  auto Update = D.prepare("UPDATE session SET spent_ms = ?, budget_ms = ?, "
                          "state = ?, updated_at = ? WHERE id = ?");
  if (!Update)
    return Update.error();
  Update->bind(int64_t(S.SpentMs)).bind(int64_t(S.BudgetMs)).bind(S.State);
  return Update->bind(int64_t(std::time(nullptr))).bind(S.Id).run();
}

Error Journal::addOne(Evaluation &Made) {
  auto Id = kernelId(Made.Key);
  if (!Id)
    return Id.error();
  std::string VariantId = Made.Change.id().hex();
  auto Change = D.prepare("INSERT OR IGNORE INTO variant(id, json, origin, "
                          "note) VALUES(?, ?, ?, ?)");
  if (!Change)
    return Change.error();
  Change->bind(VariantId).bind(Made.Change.canonicalJson());
  if (Error E = Change->bind(Made.Origin).bind(Made.Note).run())
    return E;

  auto Row = D.prepare(
      "INSERT INTO evaluation(session, kernel, setting, backend, device, tools,"
      " variant, seed, outcome, message, code, registers, shared, spills,"
      " original_ns, variant_ns, steps_ms, gain, low, high, same_as,"
      " finished_at, ir, ptx) "
      "VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  if (!Row)
    return Row.error();
  Row->bind(Made.Session).bind(*Id).bind(Made.Setting).bind(Made.Backend);
  Row->bind(Made.Device).bind(Made.Tools).bind(VariantId);
  Row->bind(int64_t(Made.Seed)).bind(outcomeName(Made.Result));
  Row->bind(Made.Message).bind(Made.Code).bind(int64_t(Made.Registers));
  Row->bind(int64_t(Made.Shared)).bind(int64_t(Made.Spills));
  Row->bind(timesText(Made.OriginalNs)).bind(timesText(Made.VariantNs));
  Row->bind(stepsText(Made.Ms)).bind(Made.Gain.Median);
  Row->bind(Made.Gain.Low).bind(Made.Gain.High);
  if (Made.SameAs)
    Row->bind(Made.SameAs);
  else
    Row->bindNull();
  Row->bind(int64_t(Made.FinishedAt)).bind(Made.Ir).bind(Made.Ptx);
  if (Error E = Row->run())
    return E;
  Made.Id = D.lastRow();
  return Error::success();
}

Error Journal::add(std::span<Evaluation> Made, const Session &Progress) {
  auto Change = Transaction::begin(D);
  if (!Change)
    return Change.error();
  for (Evaluation &E : Made)
    if (Error Failure = addOne(E))
      return Failure;
  if (Error E = updateSession(Progress))
    return E;
  return Change->commit();
}

Error Journal::addEvidence(const Evidence &Found) {
  auto Id = kernelId(Found.Key);
  if (!Id)
    return Id.error();
  auto Row = D.prepare("INSERT INTO evidence(kernel, device, variant, level, "
                       "evaluation, gain, low, high, detail, setting, at) "
                       "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  if (!Row)
    return Row.error();
  Row->bind(*Id).bind(Found.Device).bind(Found.VariantId).bind(Found.Level);
  Row->bind(Found.Evaluation).bind(Found.Gain.Median).bind(Found.Gain.Low);
  Row->bind(Found.Gain.High).bind(Found.Detail).bind(Found.Setting);
  return Row->bind(int64_t(std::time(nullptr))).run();
}

} // namespace r3
