// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The migrations, and the loop that runs them.
#include "wrapper/remix/Schema.h"

#include <iterator>

namespace r3 {

namespace {

const char *const Steps[] = {
    R"sql(
CREATE TABLE kernel(
  id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL, home TEXT NOT NULL);
CREATE TABLE recording(
  id INTEGER PRIMARY KEY, kernel INTEGER NOT NULL REFERENCES kernel,
  digest TEXT NOT NULL UNIQUE, class TEXT NOT NULL, backend TEXT NOT NULL,
  footprint INTEGER NOT NULL, program_ns INTEGER NOT NULL);
CREATE TABLE session(
  id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE,
  backend TEXT NOT NULL, device TEXT NOT NULL, tools TEXT NOT NULL,
  space TEXT NOT NULL, seed INTEGER NOT NULL,
  budget_ms INTEGER NOT NULL, spent_ms INTEGER NOT NULL DEFAULT 0,
  max_evals INTEGER NOT NULL, state TEXT NOT NULL,
  started_at INTEGER NOT NULL, updated_at INTEGER NOT NULL);
CREATE TABLE variant(
  id TEXT PRIMARY KEY, json TEXT NOT NULL, origin TEXT NOT NULL,
  note TEXT NOT NULL);
CREATE TABLE evaluation(
  id INTEGER PRIMARY KEY, session INTEGER NOT NULL REFERENCES session,
  kernel INTEGER NOT NULL REFERENCES kernel, setting TEXT NOT NULL,
  backend TEXT NOT NULL, device TEXT NOT NULL, tools TEXT NOT NULL,
  variant TEXT NOT NULL REFERENCES variant, seed INTEGER NOT NULL,
  outcome TEXT NOT NULL, message TEXT NOT NULL, code TEXT NOT NULL,
  registers INTEGER NOT NULL, shared INTEGER NOT NULL,
  spills INTEGER NOT NULL, original_ns TEXT NOT NULL,
  variant_ns TEXT NOT NULL, steps_ms TEXT NOT NULL,
  gain REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL,
  same_as INTEGER REFERENCES evaluation, finished_at INTEGER NOT NULL,
  UNIQUE(kernel, setting, variant));
CREATE INDEX evaluation_code ON evaluation(kernel, setting, code);
CREATE INDEX evaluation_session ON evaluation(session);
CREATE TABLE evidence(
  id INTEGER PRIMARY KEY, kernel INTEGER NOT NULL REFERENCES kernel,
  device TEXT NOT NULL, variant TEXT NOT NULL REFERENCES variant,
  level TEXT NOT NULL, evaluation INTEGER REFERENCES evaluation,
  gain REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL,
  detail TEXT NOT NULL, at INTEGER NOT NULL);
CREATE TABLE request(
  id INTEGER PRIMARY KEY, session INTEGER NOT NULL REFERENCES session,
  kernel INTEGER NOT NULL REFERENCES kernel, client TEXT NOT NULL,
  prompt TEXT NOT NULL, reply TEXT, state TEXT NOT NULL,
  tokens_in INTEGER NOT NULL DEFAULT 0, tokens_out INTEGER NOT NULL DEFAULT 0,
  cost REAL NOT NULL DEFAULT 0, sent_at INTEGER NOT NULL,
  answered_at INTEGER, UNIQUE(session, kernel, client, prompt));
)sql",
    R"sql(
ALTER TABLE evidence ADD COLUMN setting TEXT NOT NULL DEFAULT '';
)sql",
    R"sql(
ALTER TABLE session ADD COLUMN in_flight INTEGER NOT NULL DEFAULT 1;
ALTER TABLE evaluation ADD COLUMN ir TEXT NOT NULL DEFAULT '';
ALTER TABLE evaluation ADD COLUMN ptx TEXT NOT NULL DEFAULT '';
)sql",
};

Error runStep(Database &Where, int Step) {
  auto Change = Transaction::begin(Where);
  if (!Change)
    return Change.error();
  if (Error E = Where.execute(Steps[Step]))
    return E.in(format("migration to version %d", Step + 1));
  if (Error E = Where.execute(format("PRAGMA user_version = %d", Step + 1)))
    return E;
  return Change->commit();
}

} // namespace

int journalVersion() { return std::size(Steps); }

Expected<int> readJournalVersion(Database &Where) {
  auto Query = Where.prepare("PRAGMA user_version");
  if (!Query)
    return Query.error();
  auto Row = Query->step();
  if (!Row)
    return Row.error();
  return int(Query->integer(0));
}

Error migrateJournal(Database &Where) {
  auto Version = readJournalVersion(Where);
  if (!Version)
    return Version.error();
  if (*Version > journalVersion())
    return fail(ErrorCode::Stale,
                "%s: journal of version %d, this r3 knows up to %d: use the r3 "
                "that wrote it, or move the file away",
                Where.path().c_str(), *Version, journalVersion());
  for (int Step = *Version; Step < journalVersion(); ++Step)
    if (Error E = runStep(Where, Step))
      return E.in(Where.path());
  return Error::success();
}

} // namespace r3
