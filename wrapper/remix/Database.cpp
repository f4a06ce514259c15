// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The wrapper over SQLite's C interface.
#include "wrapper/remix/Database.h"

#include <sqlite3.h>

#include <utility>

namespace r3 {

namespace {

ErrorCode codeFor(int Sqlite) {
  switch (Sqlite & 0xff) {
  case SQLITE_FULL:
    return ErrorCode::NoSpace;
  case SQLITE_CORRUPT:
  case SQLITE_NOTADB:
    return ErrorCode::Damaged;
  case SQLITE_CANTOPEN:
    return ErrorCode::NotFound;
  case SQLITE_READONLY:
  case SQLITE_PERM:
    return ErrorCode::CannotRunHere;
  default:
    return ErrorCode::Failed;
  }
}

Error failure(int Code, sqlite3 *Connection, const std::string &File) {
  const char *Why =
      Connection ? sqlite3_errmsg(Connection) : sqlite3_errstr(Code);
  return fail(codeFor(Code), "%s: %s", File.c_str(), Why);
}

} // namespace

void Statement::Finalize::operator()(sqlite3_stmt *S) const {
  sqlite3_finalize(S);
}

void Database::Close::operator()(sqlite3 *Connection) const {
  sqlite3_close_v2(Connection);
}

void Statement::note(int Code) {
  if (Code != SQLITE_OK && !Failure)
    Failure = Code;
  ++Next;
}

Statement &Statement::bind(std::string_view Text) {
  note(sqlite3_bind_text64(S.get(), Next, Text.data() ? Text.data() : "",
                           Text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}

Statement &Statement::bind(int64_t Value) {
  note(sqlite3_bind_int64(S.get(), Next, Value));
  return *this;
}

Statement &Statement::bind(double Value) {
  note(sqlite3_bind_double(S.get(), Next, Value));
  return *this;
}

Statement &Statement::bindNull() {
  note(sqlite3_bind_null(S.get(), Next));
  return *this;
}

Expected<bool> Statement::step() {
  if (Failure)
    return failure(Failure, Connection, File);
  int Code = sqlite3_step(S.get());
  if (Code == SQLITE_ROW)
    return true;
  if (Code == SQLITE_DONE)
    return false;
  return failure(Code, Connection, File);
}

Error Statement::run() {
  auto Row = step();
  return Row ? Error::success() : Row.error();
}

void Statement::reset() {
  sqlite3_reset(S.get());
  sqlite3_clear_bindings(S.get());
  Next = 1;
  Failure = 0;
}

int64_t Statement::integer(int Column) const {
  return sqlite3_column_int64(S.get(), Column);
}

double Statement::real(int Column) const {
  return sqlite3_column_double(S.get(), Column);
}

std::string Statement::text(int Column) const {
  auto *Text =
      reinterpret_cast<const char *>(sqlite3_column_text(S.get(), Column));
  return Text ? std::string(Text, sqlite3_column_bytes(S.get(), Column))
              : std::string();
}

bool Statement::isNull(int Column) const {
  return sqlite3_column_type(S.get(), Column) == SQLITE_NULL;
}

Expected<Database> Database::open(const std::string &Path, Mode How) {
  int Flags = How == Mode::Read ? SQLITE_OPEN_READONLY
                                : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3 *Connection = nullptr;
  int Code = sqlite3_open_v2(Path.c_str(), &Connection, Flags, nullptr);
  // SQLite hands out a connection even where it could not open the file.
  Database Result(Connection, Path);
  if (Code != SQLITE_OK)
    return failure(Code, Connection, Path);
  sqlite3_extended_result_codes(Connection, 1);
  sqlite3_busy_timeout(Connection, 5000);
  return Result;
}

Error Database::execute(const std::string &Sql) {
  int Code =
      sqlite3_exec(Connection.get(), Sql.c_str(), nullptr, nullptr, nullptr);
  return Code == SQLITE_OK ? Error::success()
                           : failure(Code, Connection.get(), Path);
}

Expected<Statement> Database::prepare(std::string_view Sql) {
  sqlite3_stmt *S = nullptr;
  int Code =
      sqlite3_prepare_v2(Connection.get(), Sql.data(), Sql.size(), &S, nullptr);
  if (Code != SQLITE_OK)
    return failure(Code, Connection.get(), Path);
  return Statement(S, Connection.get(), Path);
}

int64_t Database::lastRow() const {
  return sqlite3_last_insert_rowid(Connection.get());
}

Expected<Transaction> Transaction::begin(Database &Where) {
  if (Error E = Where.execute("BEGIN IMMEDIATE"))
    return E;
  return Transaction(Where);
}

Transaction::Transaction(Transaction &&Other) noexcept
    : Where(std::exchange(Other.Where, nullptr)) {}

Transaction::~Transaction() {
  // What a failed rollback leaves behind, SQLite undoes at the next open.
  if (Where)
    (void)Where->execute("ROLLBACK");
}

Error Transaction::commit() {
  if (Error E = Where->execute("COMMIT"))
    return E;
  Where = nullptr;
  return Error::success();
}

} // namespace r3
