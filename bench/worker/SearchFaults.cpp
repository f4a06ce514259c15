// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A search of variants of which many are planted faults (Faults.cpp): counts
// how those of each kind ended, and what is left of the worker's processes.
// Prints one line of JSON:
//   r3-bench-search-faults STORE BACKEND KERNEL VARIANTS COMPILERS
#include "bench/worker/FreshJournal.h"
#include "wrapper/r3/Catalogue.h"
#include "wrapper/r3/Confirm.h"
#include "wrapper/remix/Search.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>

using namespace r3;

namespace {

/// Of a thousand variants; the rest is without harm. Those that take a second
/// and more each are few.
struct Kind {
  const char *Name;
  unsigned Share;
};
constexpr Kind Kinds[] = {{"abort", 100}, {"hoard", 60}, {"bad-asm", 100},
                          {"wild", 80},   {"deep", 30},  {"endless", 28},
                          {"spin", 2}};

const char *kindOf(unsigned Draw) {
  for (const Kind &K : Kinds) {
    if (Draw < K.Share)
      return K.Name;
    Draw -= K.Share;
  }
  return "no-harm";
}

/// Kinds by turns that are spread evenly: 619 and 1000 have no common divisor.
ProposalSource faults(unsigned Count) {
  return listed("faults", [=](const SpaceInput &Input) {
    std::vector<Candidate> All(Count);
    for (unsigned I = 0; I < Count; ++I) {
      All[I].Note = kindOf(I * 619 % 1000);
      All[I].Change.Pipeline = format("default<%s>,%s<%u>", Input.Level.c_str(),
                                      All[I].Note.c_str(), I + 1);
    }
    return Expected<std::vector<Candidate>>(std::move(All));
  });
}

class Tally : public SearchObserver {
public:
  void evaluated(const KernelProgress &, const Evaluation &E, const Session &,
                 bool) override {
    if (E.Change.isOriginal())
      return;
    ++Endings[E.Note][E.Result];
    Messages[E.Note] = E.Message;
  }
  void warn(const std::string &Message) override {
    std::fprintf(stderr, "%s\n", Message.c_str());
  }

  std::map<std::string, std::map<Outcome, size_t>> Endings; // by kind
  std::map<std::string, std::string> Messages;              // the last of each
};

/// Children that have not ended, or that nobody has waited for. Orphans are
/// this process's, too.
std::pair<size_t, size_t> leftBehind() {
  size_t Running = 0, Zombies = 0;
  std::this_thread::sleep_for(std::chrono::seconds(2));
  for (pid_t Pid; (Pid = waitpid(-1, nullptr, WNOHANG)) >= 0;) {
    if (Pid > 0) {
      ++Zombies;
      continue;
    }
    ++Running; // at least one
    break;
  }
  return {Running, Zombies};
}

void print(const Tally &T, const SearchSummary &S, uint64_t Ms,
           std::pair<size_t, size_t> Left) {
  rapidjson::StringBuffer Buffer;
  json::Writer W(Buffer);
  W.StartObject();
  W.Key("endings");
  W.StartObject();
  for (const auto &[Name, Endings] : T.Endings) {
    W.Key(Name.c_str());
    W.StartObject();
    for (const auto &[Result, Count] : Endings) {
      W.Key(std::string(outcomeName(Result)).c_str());
      W.Uint64(Count);
    }
    W.EndObject();
  }
  W.EndObject();
  W.Key("messages");
  W.StartObject();
  for (const auto &[Name, Message] : T.Messages) {
    W.Key(Name.c_str());
    W.String(Message);
  }
  W.EndObject();
  for (const auto &[Name, Value] :
       {std::pair<const char *, uint64_t>("tried", S.Kernels[0].Tried),
        {"workers lost", S.WorkersLost},
        {"processes left", Left.first},
        {"zombies left", Left.second},
        {"ms", Ms}}) {
    W.Key(Name);
    W.Uint64(Value);
  }
  W.Key("state");
  W.String(S.State.State);
  W.EndObject();
  std::printf("%s\n", Buffer.GetString());
}

Error run(char **Words) {
  const std::string Folder = Words[0], Backend = Words[1];
  auto Opened = Store::open(Folder, /*Create=*/false);
  if (!Opened)
    return Opened.error();
  const Catalogue Recorded = Catalogue::read(*Opened);
  auto Chosen = Recorded.selectOne(Backend, Words[2]);
  if (!Chosen)
    return Chosen.error();
  const std::vector<SearchKernel> Kernels = {searchKernel(**Chosen)};
  auto Log = freshJournal(Folder + "/faults");
  if (!Log)
    return Log.error();
  WorkerOptions Options;
  Options.Backend = Backend;
  Options.StorePath = Folder;
  Options.Compilers = static_cast<unsigned>(std::atoi(Words[4]));
  SearchOptions Wanted;
  Wanted.Space = faults(static_cast<unsigned>(std::atoi(Words[3])));
  Wanted.BudgetMs = UINT64_MAX / 4; // all variants are tried
  const std::atomic<bool> Never{false};
  Tally Counted;
  const uint64_t Begin = monotonicMs();
  auto Found = Search(**Log, workerSource(Options), monotonicMs, Counted, Never)
                   .run(Kernels, Wanted);
  if (!Found)
    return Found.error();
  const uint64_t Ms = monotonicMs() - Begin;
  print(Counted, *Found, Ms, leftBehind());
  return Error::success();
}

} // namespace

int main(int Count, char **Words) {
  if (Count != 6) {
    std::fprintf(stderr, "r3-bench-search-faults STORE BACKEND KERNEL VARIANTS "
                         "COMPILERS\n");
    return 2;
  }
  (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
  Error Problem = run(Words + 1);
  if (Problem)
    std::fprintf(stderr, "error: %s\n", Problem.message().c_str());
  return Problem ? 1 : 0;
}
