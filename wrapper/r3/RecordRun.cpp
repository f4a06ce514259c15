// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads run statistics; removes what is cold.
#include "wrapper/r3/RecordRun.h"

#include "runtime/support/Files.h"
#include "runtime/support/Pack.h"
#include "runtime/support/Reason.h"
#include "runtime/support/Recording.h"
#include "wrapper/r3/Catalogue.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace r3 {

namespace fs = std::filesystem;

namespace {

bool belongsTo(const std::string &Path, const std::string &RunId) {
  return runOfProcess(fs::path(Path).stem().string()) == RunId;
}

void addProcess(const RunStats &Process,
                std::map<std::string, RecordedKernel> &Kernels) {
  for (const KernelRunStats &S : Process.Kernels) {
    RecordedKernel &K = Kernels[S.Key];
    K.Key = S.Key;
    K.Name = S.Name;
    K.TotalNs += S.totalNs();
    K.Launches += S.Launches;
    K.Sampled += S.Sampled;
    K.Recorded += S.Recorded;
    K.Bytes += S.BytesRecorded;
    K.PauseNs += S.PauseNs;
    K.ReasonCount += S.ReasonCount;
    if (S.LastReason) {
      Reason Last = Reason(S.LastReason);
      K.Reason = std::string(reasonName(Last)) + ": " +
                 std::string(reasonDescription(Last));
    }
  }
}

/// Whether another run was active between the start and the end of Run.
bool hasCompany(const Store &From, const std::string &RunId,
                const RecordedRun &Run) {
  for (const std::string &Path : From.listRuns()) {
    if (belongsTo(Path, RunId))
      continue;
    auto Other = RunStats::read(Path);
    if (Other && Other->LastUpdateNs >= Run.StartedAtNs &&
        Other->StartedAtNs <= Run.LastUpdateNs)
      return true;
  }
  return false;
}

/// The key of a manifest's kernel: the name of its folder.
std::string keyOf(const std::string &Path) {
  return fs::path(Path).parent_path().filename().string();
}

/// Packs of this run that no manifest refers to.
Error removeDeadPacks(const Store &From,
                      const std::set<std::string> &PacksBefore) {
  auto Packs = PackSet::open(From.packDirectory());
  if (!Packs)
    return Packs.error();
  std::set<uint32_t> Live;
  auto Note = [&](const Digest &Chunk) {
    auto Place = (*Packs)->find(Chunk);
    if (Place)
      Live.insert(Place->File);
  };
  for (const std::string &Path : From.listRecordings()) {
    auto Bytes = readFile(Path);
    auto R = Bytes ? Recording::parse(*Bytes, Path)
                   : Expected<Recording>(Bytes.error());
    // Unreadable: what it refers to is not known, so nothing is removed.
    if (!R)
      return R.error();
    for (const RecordedAllocation &A : R->Allocations) {
      std::for_each(A.Before.begin(), A.Before.end(), Note);
      for (const ChangedChunk &C : A.After)
        Note(C.After);
    }
  }
  const std::vector<std::string> &Files = (*Packs)->files();
  for (uint32_t I = 0; I < Files.size(); ++I) {
    if (Live.count(I) || PacksBefore.count(Files[I]))
      continue;
    // The index first: chunks without an index are not there for anybody.
    ::unlink(fs::path(Files[I]).replace_extension(".idx").c_str());
    ::unlink(Files[I].c_str());
  }
  return Error::success();
}

} // namespace

std::set<std::string> listPacks(const Store &From) {
  std::set<std::string> Paths;
  std::error_code Failure;
  for (fs::directory_iterator At(From.packDirectory(), Failure), End;
       !Failure && At != End; At.increment(Failure))
    if (At->path().extension() == ".pack")
      Paths.insert(At->path().string());
  return Paths;
}

RecordedRun readRecordedRun(const Store &From, const std::string &RunId) {
  RecordedRun Run;
  std::map<std::string, RecordedKernel> Kernels;
  for (const std::string &Path : From.listRuns()) {
    if (!belongsTo(Path, RunId))
      continue;
    auto Process = RunStats::read(Path);
    if (!Process) {
      Run.Damaged.push_back(Process.error().message());
      continue;
    }
    Run.StartedAtNs = Run.Processes
                          ? std::min(Run.StartedAtNs, Process->StartedAtNs)
                          : Process->StartedAtNs;
    Run.LastUpdateNs = std::max(Run.LastUpdateNs, Process->LastUpdateNs);
    Run.Backend = backendOfRun(*Process);
    ++Run.Processes;
    addProcess(*Process, Kernels);
  }
  double Total = 0;
  for (const auto &[Key, K] : Kernels)
    Total += K.TotalNs;
  for (auto &[Key, K] : Kernels) {
    K.Share = Total > 0 ? K.TotalNs / Total : 0;
    Run.Kernels.push_back(std::move(K));
  }
  std::stable_sort(
      Run.Kernels.begin(), Run.Kernels.end(),
      [](const auto &A, const auto &B) { return A.TotalNs > B.TotalNs; });
  return Run;
}

Error dropCold(const Store &From, const std::string &RunId,
               const std::set<std::string> &Before,
               const std::set<std::string> &PacksBefore, double MinShare,
               RecordedRun &Run) {
  std::map<std::string, RecordedKernel *> Cold;
  for (RecordedKernel &K : Run.Kernels)
    // Without a measured launch nothing is known of its time.
    if (K.Sampled && K.Share < MinShare)
      Cold[K.Key] = &K;
  if (Cold.empty() || hasCompany(From, RunId, Run))
    return Error::success();
  bool Dropped = false;
  for (const std::string &Path : From.listRecordings()) {
    auto Found = Cold.find(keyOf(Path));
    if (Found == Cold.end() || Before.count(Path))
      continue;
    if (::unlink(Path.c_str()) != 0)
      return fail(ErrorCode::Failed, "%s: cannot be removed: %s", Path.c_str(),
                  std::strerror(errno));
    ++Found->second->Dropped;
    Dropped = true;
    // Fails while the folder has other recordings, which is right.
    ::rmdir(fs::path(Path).parent_path().c_str());
  }
  return Dropped ? removeDeadPacks(From, PacksBefore) : Error::success();
}

} // namespace r3
