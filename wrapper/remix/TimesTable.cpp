// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/remix/TimesTable.h"

#include "wrapper/remix/JournalText.h"

#include <algorithm>

namespace r3 {

namespace {

constexpr int Version = 1;

std::string nameOf(const Variant &Of, const std::string &Code) {
  if (Code.empty())
    return "variant " + Of.id().hex();
  if (Of.Launch.empty())
    return Code;
  Variant Launch;
  Launch.Launch = Of.Launch;
  return "launch " + Launch.id().hex() + " " + Code;
}

Error damaged(const std::string &Path, const Error &Why) {
  return Error(ErrorCode::Damaged, Why.message()).in(Path);
}

/// One thing at a time of an evaluator, with the table's word on each report.
class RecordedEvaluator : public Evaluator {
public:
  RecordedEvaluator(std::unique_ptr<Evaluator> Inner,
                    std::shared_ptr<TimesTable> Table,
                    const std::vector<SearchKernel> &Kernels)
      : Inner(std::move(Inner)), Table(std::move(Table)), Kernels(Kernels),
        Identity(this->Inner->identity()) {
    Identity.Tools += ", times from a table";
  }

  bool isLost() const override { return Inner->isLost(); }
  const DeviceIdentity &identity() const override { return Identity; }
  const std::map<std::string, std::string> &pipelines() const override {
    return Inner->pipelines();
  }
  unsigned compilers() const override { return Inner->compilers(); }

  Error load(const std::vector<std::string> &Paths) override {
    Requests.clear();
    const auto Of = std::find_if(
        Kernels.begin(), Kernels.end(), [&](const SearchKernel &K) {
          return std::equal(K.Recordings.begin(), K.Recordings.end(),
                            Paths.begin(), Paths.end(),
                            [](const SearchRecording &R, const std::string &P) {
                              return R.Path == P;
                            });
        });
    if (Of == Kernels.end())
      return fail(ErrorCode::Usage, "the table has no place for these");
    Kernel = Of->About.Key;
    Setting = settingOf(*Of, Identity);
    return Inner->load(Paths);
  }
  Expected<ReplayReport> prepare(size_t Recording,
                                 unsigned Repetitions) override {
    return Inner->prepare(Recording, Repetitions);
  }

  /// What is in the table is not run either.
  Error know(const std::vector<KnownBinary> &All) override {
    auto Codes = Table->binaries(Kernel, Setting);
    if (!Codes)
      return Codes.error();
    std::vector<KnownBinary> Known = All;
    for (std::string &Code : *Codes)
      Known.push_back({std::move(Code), "", ""});
    return Inner->know(Known);
  }
  Expected<EvaluationReport> evaluate(const EvaluationRequest &What) override {
    return settle(What, Inner->evaluate(What));
  }
  Error submit(const EvaluationRequest &What) override {
    if (Error E = Inner->submit(What))
      return E;
    Requests.push_back(What);
    return Error::success();
  }
  Expected<EvaluationReport> next() override {
    const EvaluationRequest Oldest = std::move(Requests.front());
    Requests.pop_front();
    return settle(Oldest, Inner->next());
  }
  void drop() override {
    Requests.clear();
    Inner->drop();
  }
  Expected<MeasurementReport> measure(const MeasurementRequest &) override {
    return fail(ErrorCode::Usage, "the table has no batches");
  }
  Expected<NvccReport> nvcc() override { return Inner->nvcc(); }
  Expected<RatesReport> rates() override { return Inner->rates(); }

private:
  Expected<EvaluationReport> settle(const EvaluationRequest &What,
                                    Expected<EvaluationReport> Report) {
    if (!Report)
      return Report;
    return Table->settle(Kernel, Setting, What.Change, std::move(*Report));
  }

  std::unique_ptr<Evaluator> Inner;
  std::shared_ptr<TimesTable> Table;
  const std::vector<SearchKernel> &Kernels;
  DeviceIdentity Identity;
  std::string Kernel, Setting;            // of what is loaded
  std::deque<EvaluationRequest> Requests; // submitted
};

} // namespace

Expected<std::shared_ptr<TimesTable>>
TimesTable::open(const std::string &Path) {
  auto D = Database::open(Path, Database::Mode::Write);
  if (!D)
    return D.error();
  auto Query = D->prepare("PRAGMA user_version");
  if (!Query)
    return Query.error();
  if (auto Row = Query->step(); !Row)
    return Row.error();
  const int64_t Found = Query->integer(0);
  Query->reset();
  if (Found != 0 && Found != Version)
    return fail(ErrorCode::Stale, "%s: table of version %lld, this r3 reads %d",
                Path.c_str(), static_cast<long long>(Found), Version);
  if (!Found)
    if (Error E = D->execute(format(
            "BEGIN;"
            "CREATE TABLE times(kernel TEXT NOT NULL, setting TEXT NOT NULL, "
            "binary TEXT NOT NULL, outcome TEXT NOT NULL, message TEXT NOT "
            "NULL, registers INTEGER NOT NULL, shared INTEGER NOT NULL, spills "
            "INTEGER NOT NULL, original_ns TEXT NOT NULL, variant_ns TEXT NOT "
            "NULL, PRIMARY KEY(kernel, setting, binary));"
            "PRAGMA user_version = %d;"
            "COMMIT;",
            Version)))
      return E;
  return std::shared_ptr<TimesTable>(new TimesTable(std::move(*D)));
}

Expected<std::vector<std::string>>
TimesTable::binaries(const std::string &Kernel, const std::string &Setting) {
  auto Query = D.prepare("SELECT binary FROM times WHERE kernel = ? AND "
                         "setting = ? AND instr(binary, ' ') = 0 ORDER BY "
                         "binary");
  if (!Query)
    return Query.error();
  Query->bind(Kernel).bind(Setting);
  std::vector<std::string> All;
  while (true) {
    auto Row = Query->step();
    if (!Row)
      return Row.error();
    if (!*Row)
      return All;
    All.push_back(Query->text(0));
  }
}

Expected<EvaluationReport> TimesTable::settle(const std::string &Kernel,
                                              const std::string &Setting,
                                              const Variant &Of,
                                              EvaluationReport Measured) {
  const std::string Name = nameOf(Of, Measured.Code);
  if (Measured.Result != Outcome::Duplicate) {
    auto Add = D.prepare("INSERT OR IGNORE INTO times VALUES(?, ?, ?, ?, ?, ?, "
                         "?, ?, ?, ?)");
    if (!Add)
      return Add.error();
    Add->bind(Kernel).bind(Setting).bind(Name);
    Add->bind(outcomeName(Measured.Result)).bind(Measured.Message);
    Add->bind(int64_t(Measured.Registers)).bind(int64_t(Measured.Shared));
    Add->bind(int64_t(Measured.Spills)).bind(timesText(Measured.OriginalNs));
    if (Error E = Add->bind(timesText(Measured.VariantNs)).run())
      return E;
  }
  auto Query = D.prepare("SELECT outcome, message, registers, shared, spills, "
                         "original_ns, variant_ns FROM times WHERE kernel = ? "
                         "AND setting = ? AND binary = ?");
  if (!Query)
    return Query.error();
  auto Row = Query->bind(Kernel).bind(Setting).bind(Name).step();
  if (!Row)
    return Row.error();
  if (!*Row) // the journal has it from elsewhere
    return Measured;
  auto Result = parseOutcome(Query->text(0));
  auto Original = parseTimes(Query->text(5));
  auto Changed = parseTimes(Query->text(6));
  if (!Result)
    return damaged(D.path(), Result.error());
  if (!Original || !Changed)
    return damaged(D.path(), Original ? Changed.error() : Original.error());
  Measured.Result = *Result;
  Measured.Message = Query->text(1);
  Measured.Registers = uint32_t(Query->integer(2));
  Measured.Shared = uint32_t(Query->integer(3));
  Measured.Spills = uint32_t(Query->integer(4));
  Measured.OriginalNs = std::move(*Original);
  Measured.VariantNs = std::move(*Changed);
  return Measured;
}

EvaluatorSource recordedTimes(EvaluatorSource Source,
                              std::shared_ptr<TimesTable> Table,
                              const std::vector<SearchKernel> &Kernels) {
  return [Source = std::move(Source), Table = std::move(Table),
          &Kernels]() -> Expected<std::unique_ptr<Evaluator>> {
    auto Inner = Source();
    if (!Inner)
      return Inner;
    return std::unique_ptr<Evaluator>(
        new RecordedEvaluator(std::move(*Inner), Table, Kernels));
  };
}

} // namespace r3
