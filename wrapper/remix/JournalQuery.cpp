// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading the journal.
#include "runtime/support/Json.h"
#include "wrapper/remix/JournalText.h"

#include <algorithm>

namespace r3 {

std::string timesText(const std::vector<double> &Times) {
  rapidjson::StringBuffer Buffer;
  json::Writer W(Buffer);
  W.StartArray();
  for (double T : Times)
    W.Double(T);
  W.EndArray();
  return Buffer.GetString();
}

Expected<std::vector<double>> parseTimes(const std::string &Text) {
  auto Parsed = json::parse(Text, "times");
  if (!Parsed)
    return Parsed.error();
  if (!Parsed->IsArray())
    return fail(ErrorCode::Damaged, "times: not an array");
  std::vector<double> Times;
  for (const json::Value &T : Parsed->GetArray()) {
    if (!T.IsNumber())
      return fail(ErrorCode::Damaged, "times: not a number");
    Times.push_back(T.GetDouble());
  }
  return Times;
}

std::string stepsText(const std::map<std::string, double> &Ms) {
  rapidjson::StringBuffer Buffer;
  json::Writer W(Buffer);
  W.StartObject();
  for (const auto &[Step, Value] : Ms) {
    W.Key(Step.c_str());
    W.Double(Value);
  }
  W.EndObject();
  return Buffer.GetString();
}

Expected<std::map<std::string, double>> parseSteps(const std::string &Text) {
  auto Parsed = json::parse(Text, "steps");
  if (!Parsed)
    return Parsed.error();
  if (!Parsed->IsObject())
    return fail(ErrorCode::Damaged, "steps: not an object");
  std::map<std::string, double> Ms;
  for (const auto &Member : Parsed->GetObject())
    if (Member.value.IsNumber())
      Ms[Member.name.GetString()] = Member.value.GetDouble();
  return Ms;
}

Expected<Session> readSession(Database &D, const std::string &Identity) {
  auto Query = D.prepare(
      "SELECT id, budget_ms, spent_ms, max_evals, state, (SELECT count(*) FROM "
      "evaluation e JOIN variant v ON v.id = e.variant WHERE e.session = "
      "session.id AND v.origin <> 'original' AND e.outcome <> 'duplicate'), "
      "in_flight FROM session WHERE identity = ?");
  if (!Query)
    return Query.error();
  auto Row = Query->bind(Identity).step();
  if (!Row)
    return Row.error();
  if (!*Row)
    return fail(ErrorCode::NotFound, "%s: no such session", D.path().c_str());
  Session S;
  S.Id = Query->integer(0);
  S.BudgetMs = Query->integer(1);
  S.SpentMs = Query->integer(2);
  S.MaxEvaluations = Query->integer(3);
  S.State = Query->text(4);
  S.Evaluations = Query->integer(5);
  S.InFlight = Query->integer(6);
  S.Resumed = S.SpentMs > 0 || S.Evaluations > 0;
  return S;
}

Expected<std::optional<Session>>
Journal::findSession(const std::string &Identity) {
  auto Found = readSession(D, Identity);
  if (!Found && Found.error().code() == ErrorCode::NotFound)
    return std::optional<Session>();
  if (!Found)
    return Found.error();
  return std::optional(std::move(*Found));
}

namespace {

const char *const Columns =
    "SELECT e.id, e.session, k.key, k.name, e.setting, e.backend, e.device, "
    "e.tools, v.json, v.origin, v.note, e.seed, e.outcome, e.message, e.code, "
    "e.registers, e.shared, e.spills, e.original_ns, e.variant_ns, e.steps_ms, "
    "e.gain, e.low, e.high, e.same_as, e.finished_at, e.ir, e.ptx FROM "
    "evaluation e JOIN "
    "kernel k ON k.id = e.kernel JOIN variant v ON v.id = e.variant ";

/// The plain columns of a row; those with a format of their own follow.
Evaluation plainColumns(const Statement &Row) {
  Evaluation E;
  E.Id = Row.integer(0);
  E.Session = Row.integer(1);
  E.Key = Row.text(2);
  E.Name = Row.text(3);
  E.Setting = Row.text(4);
  E.Backend = Row.text(5);
  E.Device = Row.text(6);
  E.Tools = Row.text(7);
  E.Origin = Row.text(9);
  E.Note = Row.text(10);
  E.Seed = Row.integer(11);
  E.Message = Row.text(13);
  E.Code = Row.text(14);
  E.Registers = Row.integer(15);
  E.Shared = Row.integer(16);
  E.Spills = Row.integer(17);
  E.Gain = {Row.real(21), Row.real(22), Row.real(23)};
  E.SameAs = Row.integer(24);
  E.FinishedAt = Row.integer(25);
  E.Ir = Row.text(26);
  E.Ptx = Row.text(27);
  return E;
}

Expected<Evaluation> readRow(const Statement &Row, const std::string &File) {
  Evaluation E = plainColumns(Row);
  std::string Where =
      format("%s: evaluation %lld", File.c_str(), static_cast<long long>(E.Id));
  auto Change = Variant::parse(Row.text(8));
  if (!Change)
    return Change.error().in(Where);
  auto Result = parseOutcome(Row.text(12));
  if (!Result)
    return Result.error().in(Where);
  auto Original = parseTimes(Row.text(18));
  auto Changed = parseTimes(Row.text(19));
  auto Steps = parseSteps(Row.text(20));
  if (!Original || !Changed || !Steps)
    return fail(ErrorCode::Damaged, "%s: times are damaged", Where.c_str());
  E.Change = std::move(*Change);
  E.Result = *Result;
  E.OriginalNs = std::move(*Original);
  E.VariantNs = std::move(*Changed);
  E.Ms = std::move(*Steps);
  return E;
}

Expected<std::optional<Evaluation>> readOne(Statement &Query,
                                            const std::string &File) {
  auto Row = Query.step();
  if (!Row)
    return Row.error();
  if (!*Row)
    return std::optional<Evaluation>();
  auto E = readRow(Query, File);
  if (!E)
    return E.error();
  return std::optional<Evaluation>(std::move(*E));
}

} // namespace

Expected<std::optional<Evaluation>>
Journal::find(const std::string &Key, const std::string &Setting,
              const std::string &VariantId) {
  auto Query = D.prepare(std::string(Columns) +
                         "WHERE k.key = ? AND e.setting = ? AND e.variant = ?");
  if (!Query)
    return Query.error();
  Query->bind(Key).bind(Setting).bind(VariantId);
  return readOne(*Query, D.path());
}

static bool launchedAlike(const Variant &A, const Variant &B) {
  return std::ranges::equal(A.Launch, B.Launch, [](auto &One, auto &Other) {
    return One.Target == Other.Target && One.Value == Other.Value;
  });
}

Expected<std::optional<Evaluation>> Journal::findSame(const Evaluation &Like) {
  auto Query = D.prepare(std::string(Columns) +
                         "WHERE k.key = ? AND e.setting = ? AND e.code = ? AND "
                         "e.same_as IS NULL ORDER BY e.id");
  if (!Query)
    return Query.error();
  Query->bind(Like.Key).bind(Like.Setting).bind(Like.Code);
  while (true) {
    auto One = readOne(*Query, D.path());
    if (!One || !*One || launchedAlike((*One)->Change, Like.Change))
      return One;
  }
}

Expected<std::vector<Evidence>> Journal::evidence(const std::string &Key) {
  auto Query = D.prepare(
      "SELECT e.device, e.setting, e.variant, e.level, e.evaluation, e.gain, "
      "e.low, e.high, e.detail, e.at FROM evidence e JOIN kernel k ON k.id = "
      "e.kernel WHERE k.key = ? ORDER BY e.id");
  if (!Query)
    return Query.error();
  Query->bind(Key);
  std::vector<Evidence> All;
  while (true) {
    auto Row = Query->step();
    if (!Row)
      return Row.error();
    if (!*Row)
      return All;
    Evidence E;
    E.Key = Key;
    E.Device = Query->text(0);
    E.Setting = Query->text(1);
    E.VariantId = Query->text(2);
    E.Level = Query->text(3);
    E.Evaluation = Query->integer(4);
    E.Gain = {Query->real(5), Query->real(6), Query->real(7)};
    E.Detail = Query->text(8);
    E.At = Query->integer(9);
    All.push_back(std::move(E));
  }
}

Expected<std::vector<JournalKernel>> Journal::kernels() {
  auto Query = D.prepare("SELECT key, name, home FROM kernel ORDER BY id");
  if (!Query)
    return Query.error();
  std::vector<JournalKernel> All;
  while (true) {
    auto Row = Query->step();
    if (!Row)
      return Row.error();
    if (!*Row)
      return All;
    All.push_back({Query->text(0), Query->text(1), Query->text(2)});
  }
}

Expected<std::vector<Evaluation>>
Journal::evaluations(const EvaluationFilter &Which) {
  auto Query = D.prepare(std::string(Columns) +
                         "WHERE (?1 = '' OR k.key = ?1) AND (?2 = '' OR "
                         "e.backend = ?2) AND (?3 = '' OR e.setting = ?3) AND "
                         "(?4 = 0 OR e.session = ?4) ORDER BY e.id");
  if (!Query)
    return Query.error();
  Query->bind(Which.Key).bind(Which.Backend).bind(Which.Setting);
  Query->bind(Which.Session);
  std::vector<Evaluation> All;
  while (true) {
    auto One = readOne(*Query, D.path());
    if (!One)
      return One.error();
    if (!*One)
      return All;
    All.push_back(std::move(**One));
  }
}

} // namespace r3
