// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SQLite behind a thin RAII wrapper: a connection, a statement and a
// transaction. Every failure becomes an Error that names the file and SQLite's
// own message. One thread uses a connection and what came from it.
#pragma once

#include "runtime/support/Error.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace r3 {

/// A prepared statement. Parameters are bound from left to right; a text is
/// copied. The connection must live longer.
class Statement {
public:
  Statement &bind(std::string_view Text);
  Statement &bind(const char *Text) { return bind(std::string_view(Text)); }
  Statement &bind(int64_t Value);
  Statement &bind(double Value);
  Statement &bindNull();

  /// True: a row is there. False: the statement has ended.
  Expected<bool> step();
  /// For statements that give no rows.
  Error run();
  /// Ready for new parameters.
  void reset();

  int64_t integer(int Column) const;
  double real(int Column) const;
  std::string text(int Column) const;
  bool isNull(int Column) const;

private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt *S) const;
  };
  Statement(sqlite3_stmt *S, sqlite3 *Connection, std::string File)
      : S(S), Connection(Connection), File(std::move(File)) {}
  void note(int Code);

  std::unique_ptr<sqlite3_stmt, Finalize> S;
  sqlite3 *Connection;
  std::string File;
  int Next = 1;
  int Failure = 0; // the first failed bind; reported by step()
};

class Database {
public:
  enum class Mode { Read, Write };
  /// Write creates the file where it is missing. Read of a missing file is
  /// NotFound; a file that is no database is Damaged.
  static Expected<Database> open(const std::string &Path, Mode How);

  /// One or more statements without parameters and rows.
  Error execute(const std::string &Sql);
  Expected<Statement> prepare(std::string_view Sql);
  /// The row that the last INSERT made.
  int64_t lastRow() const;
  const std::string &path() const { return Path; }

private:
  struct Close {
    void operator()(sqlite3 *Connection) const;
  };
  Database(sqlite3 *Connection, std::string Path)
      : Connection(Connection), Path(std::move(Path)) {}

  std::unique_ptr<sqlite3, Close> Connection;
  std::string Path;
};

/// Rolls back unless commit() succeeded.
class Transaction {
public:
  static Expected<Transaction> begin(Database &Where);
  Transaction(Transaction &&Other) noexcept;
  Transaction &operator=(Transaction &&) = delete;
  ~Transaction();
  Error commit();

private:
  explicit Transaction(Database &Where) : Where(&Where) {}
  Database *Where;
};

} // namespace r3
