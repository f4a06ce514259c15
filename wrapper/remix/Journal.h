// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The journal: every evaluation that was ever made for a store, in SQLite
// (tables in Schema.h). There is one writer, which holds an exclusive lock;
// any number of readers look on. Results that arrive together are committed
// together, before the next evaluation starts, so that SIGKILL loses only what
// is in flight. On a network file system the journal works without
// write-ahead log and notice() says so.
#pragma once

#include "runtime/support/Error.h"
#include "runtime/support/Outcome.h"
#include "runtime/support/Variant.h"
#include "wrapper/remix/Database.h"
#include "wrapper/remix/OwnerLock.h"
#include "wrapper/remix/Statistics.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace r3 {

struct JournalKernel {
  std::string Key, Name, Home;
};

struct JournalRecording {
  std::string Digest, Class, Backend;
  uint64_t Footprint = 0, ProgramNs = 0;
};

/// What a search is. Identity (a digest) decides whether it is the same one.
struct SessionSpec {
  std::string Identity;
  std::string Backend, Device, Tools;
  std::string Space; // digest of the search space
  uint64_t Seed = 0;
  uint64_t BudgetMs = 0;
  uint64_t MaxEvaluations = 0; // 0: no limit
  uint64_t InFlight = 1;       // of a new session
};

struct Session {
  int64_t Id = 0;
  uint64_t BudgetMs = 0; // total, over all runs of the command
  uint64_t SpentMs = 0;
  uint64_t MaxEvaluations = 0;
  uint64_t Evaluations = 0; // by this session, duplicates not counted
  /// Proposals that are out at once. It stays as it was when the session began:
  /// what is proposed depends on it.
  uint64_t InFlight = 1;
  std::string State; // "open", "complete", "spent", "settled"
  bool Resumed = false;
};

struct Evaluation {
  int64_t Id = 0;
  int64_t Session = 0;
  std::string Key, Name; // of the kernel
  std::string Setting;   // digest of device, tools and recordings
  std::string Backend, Device, Tools;
  Variant Change;
  std::string Origin; // "passes", "original"
  std::string Note;   // for people: "maxnreg 64"
  uint64_t Seed = 0;
  Outcome Result = Outcome::Ok;
  std::string Message;
  std::string Code;    // digest of the binary, empty where there is none
  std::string Ir, Ptx; // see KnownBinary
  uint32_t Registers = 0, Shared = 0, Spills = 0;
  std::vector<double> OriginalNs, VariantNs;
  std::map<std::string, double> Ms;
  RatioSpread Gain;
  int64_t SameAs = 0; // the evaluation with the same binary
  uint64_t FinishedAt = 0;
};

/// What the gate said of a variant.
struct Evidence {
  std::string Key, Device, Setting, VariantId;
  std::string Level; // "strong", "weak" or "rejected"
  int64_t Evaluation = 0;
  RatioSpread Gain;   // Low, High: bounds of the median, 0 where unknown
  std::string Detail; // JSON, see EvidenceText.h
  uint64_t At = 0;
};

/// Which evaluations are asked for; empty members match all.
struct EvaluationFilter {
  std::string Key, Backend, Setting;
  int64_t Session = 0;
};

class Journal {
public:
  /// Takes the writer's lock (Purpose tells others what it is for), creates
  /// the file where it is missing and brings it to the current version.
  static Expected<std::unique_ptr<Journal>>
  openForWriting(const std::string &Path, const std::string &Purpose);
  /// NotFound where no search has been made; Stale for another version.
  static Expected<std::unique_ptr<Journal>>
  openForReading(const std::string &Path);

  /// Empty, or what a user should know about how this journal is kept.
  const std::string &notice() const { return Notice; }

  /// All that were ever noted.
  Expected<std::vector<JournalKernel>> kernels();
  Error noteKernel(const JournalKernel &Kernel,
                   std::span<const JournalRecording> Recordings);
  /// The session with this identity, or a new one. A larger budget or limit
  /// than before is taken over.
  Expected<Session> openSession(const SessionSpec &Spec);
  Error updateSession(const Session &S);
  /// None where this search was not begun.
  Expected<std::optional<Session>> findSession(const std::string &Identity);

  /// One transaction: all of them, and the session's progress. Fills Id.
  Error add(std::span<Evaluation> Made, const Session &Progress);
  Error addEvidence(const Evidence &Found);
  /// Of a kernel, in the order in which it was added.
  Expected<std::vector<Evidence>> evidence(const std::string &Key);

  Expected<std::optional<Evaluation>> find(const std::string &Key,
                                           const std::string &Setting,
                                           const std::string &VariantId);
  /// The first evaluation that really ran the binary of this one, of the same
  /// kernel, in the same setting and launched alike.
  Expected<std::optional<Evaluation>> findSame(const Evaluation &Like);
  /// In the order in which they were made.
  Expected<std::vector<Evaluation>> evaluations(const EvaluationFilter &Which);

private:
  Journal(Database D, std::optional<OwnerLock> Lock)
      : D(std::move(D)), Lock(std::move(Lock)) {}
  Error configure();
  Expected<int64_t> kernelId(const std::string &Key);
  Error addOne(Evaluation &Made);

  Database D;
  std::optional<OwnerLock> Lock;
  std::string Notice;
};

} // namespace r3
