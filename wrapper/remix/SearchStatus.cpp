// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/remix/SearchStatus.h"

#include "runtime/support/Files.h"
#include "runtime/support/Process.h"

#include <filesystem>
#include <unistd.h>

namespace r3 {

namespace {

constexpr uint64_t Format = 1;
constexpr uint64_t MostBytes = 16 << 20;

std::string hostName() {
  char Host[256] = "unknown";
  gethostname(Host, sizeof(Host) - 1);
  return Host;
}

void writeKernel(json::PrettyWriter &W, const KernelStatus &K) {
  W.StartObject();
  W.Key("name");
  W.String(K.Name);
  W.Key("tried");
  W.Uint64(K.Tried);
  W.Key("outcomes");
  W.StartObject();
  for (const auto &[Name, Count] : K.Outcomes) {
    W.Key(Name);
    W.Uint64(Count);
  }
  W.EndObject();
  if (!K.BestNote.empty()) {
    W.Key("best");
    W.StartObject();
    W.Key("note");
    W.String(K.BestNote);
    W.Key("median");
    W.Double(K.Best.Median);
    W.Key("low");
    W.Double(K.Best.Low);
    W.Key("high");
    W.Double(K.Best.High);
    W.EndObject();
  }
  W.EndObject();
}

KernelStatus readKernel(const json::Value &From) {
  KernelStatus K;
  K.Name = json::text(From, "name", "");
  K.Tried = json::number(From, "tried", 0);
  if (const json::Value *Outcomes = json::object(From, "outcomes"))
    for (const auto &Member : Outcomes->GetObject())
      if (Member.value.IsUint64())
        K.Outcomes[Member.name.GetString()] = Member.value.GetUint64();
  if (const json::Value *Best = json::object(From, "best")) {
    K.BestNote = json::text(*Best, "note", "");
    K.Best = {json::real(*Best, "median", 0), json::real(*Best, "low", 0),
              json::real(*Best, "high", 0)};
  }
  return K;
}

} // namespace

SearchStatus SearchStatus::own() {
  SearchStatus S;
  S.Pid = uint64_t(getpid());
  S.PidStart = processStart(getpid());
  S.Host = hostName();
  return S;
}

SearchStatus::Life SearchStatus::life() const {
  if (Phase == "ended")
    return Life::Gone;
  if (Host != hostName())
    return Life::Elsewhere;
  return PidStart && processStart(pid_t(Pid)) == PidStart ? Life::Running
                                                          : Life::Gone;
}

Expected<SearchStatus> SearchStatus::read(const std::string &Path) {
  if (!std::filesystem::exists(Path))
    return fail(ErrorCode::NotFound, "%s: not there", Path.c_str());
  auto Text = readTextFile(Path, MostBytes);
  if (!Text)
    return Text.error();
  auto Parsed = json::parse(*Text, Path);
  if (!Parsed)
    return Parsed.error();
  const json::Value &From = *Parsed;
  auto Version = json::number(From, "format");
  if (!Version)
    return Version.error().in(Path);
  if (*Version != Format)
    return fail(ErrorCode::Stale, "%s: format %llu, this r3 reads %llu",
                Path.c_str(), static_cast<unsigned long long>(*Version),
                static_cast<unsigned long long>(Format));
  SearchStatus S;
  S.Pid = json::number(From, "pid", 0);
  S.PidStart = json::number(From, "pidStart", 0);
  S.Host = json::text(From, "host", "");
  S.Phase = json::text(From, "phase", "");
  S.Ending = json::text(From, "ending", "");
  S.Device = json::text(From, "device", "");
  S.Backend = json::text(From, "backend", "");
  S.StartedAt = json::number(From, "startedAt", 0);
  S.UpdatedAt = json::number(From, "updatedAt", 0);
  S.SpentMs = json::number(From, "spentMs", 0);
  S.BudgetMs = json::number(From, "budgetMs", 0);
  S.Evaluations = json::number(From, "evaluations", 0);
  S.MaxEvaluations = json::number(From, "maxEvaluations", 0);
  S.PerSecond = json::real(From, "perSecond", 0);
  S.LeftMs = json::number(From, "leftMs", 0);
  S.KernelsToSearch = json::number(From, "kernelsToSearch", 0);
  if (const json::Value *Kernels = json::array(From, "kernels"))
    for (const json::Value &K : Kernels->GetArray())
      S.Kernels.push_back(readKernel(K));
  return S;
}

void SearchStatus::writeMembers(json::PrettyWriter &W) const {
  const struct {
    const char *Name;
    uint64_t Value;
  } Numbers[] = {{"pid", Pid},
                 {"pidStart", PidStart},
                 {"startedAt", StartedAt},
                 {"updatedAt", UpdatedAt},
                 {"spentMs", SpentMs},
                 {"budgetMs", BudgetMs},
                 {"evaluations", Evaluations},
                 {"maxEvaluations", MaxEvaluations},
                 {"leftMs", LeftMs},
                 {"kernelsToSearch", KernelsToSearch}};
  const struct {
    const char *Name;
    const std::string &Value;
  } Texts[] = {{"host", Host},
               {"phase", Phase},
               {"ending", Ending},
               {"device", Device},
               {"backend", Backend}};
  W.Key("format");
  W.Uint64(Format);
  for (const auto &Row : Texts) {
    W.Key(Row.Name);
    W.String(Row.Value);
  }
  for (const auto &Row : Numbers) {
    W.Key(Row.Name);
    W.Uint64(Row.Value);
  }
  W.Key("perSecond");
  W.Double(PerSecond);
  W.Key("kernels");
  W.StartArray();
  for (const KernelStatus &K : Kernels)
    writeKernel(W, K);
  W.EndArray();
}

Error SearchStatus::write(const std::string &Path) const {
  rapidjson::StringBuffer Buffer;
  json::PrettyWriter W(Buffer);
  W.StartObject();
  writeMembers(W);
  W.EndObject();
  return writeFileAtomically(Path, std::string(Buffer.GetString()) + "\n");
}

} // namespace r3
