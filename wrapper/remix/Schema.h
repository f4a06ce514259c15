// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The journal's schema as a list of migrations: step N takes a journal from
// version N to version N + 1 (SQLite's user_version). A released step is never
// changed; what is new becomes a further step.
//
// Tables: kernel, recording, session, variant, evaluation, evidence, request.
// evaluation.setting is the digest of what a timing depends on besides the
// variant: device, tools and recordings; (kernel, setting, variant) is there
// once, so nothing is evaluated twice.
#pragma once

#include "runtime/support/Error.h"
#include "wrapper/remix/Database.h"

namespace r3 {

/// The version that this code reads and writes.
int journalVersion();
/// user_version of an open database.
Expected<int> readJournalVersion(Database &Where);
/// Runs the missing steps, each with its version in one transaction. A journal
/// newer than this code is refused (Stale).
Error migrateJournal(Database &Where);

} // namespace r3
