// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3 store gc: removes from the store what nothing refers to.
#include "wrapper/r3/Command.h"
#include "wrapper/r3/Garbage.h"
#include "wrapper/r3/Interrupt.h"
#include "wrapper/r3/Text.h"

#include "wrapper/remix/Journal.h"

#include "runtime/support/Json.h"
#include "runtime/support/StoreLock.h"

#include <ctime>
#include <map>
#include <optional>

namespace r3 {

namespace {

class StoreCommand : public Command {
public:
  void declare(Flags &Options) override {
    Options.choice("ACTION", Action, {"gc"}, "what to do");
    Options.flag("--dry-run", DryRun, "remove nothing, only say what would go");
    Options.duration("--older-than", OlderThanMs,
                     "leave alone what was written later (default: 0s)");
    Options.flag("--json", Json, "print JSON");
  }

  Expected<int> run(Context &Given) override {
    if (Action.empty())
      return fail(ErrorCode::Usage, "what to do? r3 store gc");
    auto From = Given.openStore();
    if (!From)
      return From.error();
    // Nobody writes a reference to anything while this is held.
    std::optional<StoreLock> Lock;
    std::optional<OwnerLock> JournalLock;
    if (!DryRun)
      if (Error E = lock(*From, Lock, JournalLock))
        return Error(E.code(), E.message() + "; nothing was removed");
    auto Found =
        findGarbage(*From, std::time(nullptr) - int64_t(OlderThanMs / 1000));
    if (!Found)
      return Error(Found.error().code(), Found.error().message() +
                                             ": what it refers to is not "
                                             "known, nothing was removed");
    StopOnSignal Signals;
    if (Error E = remove(*Found, Signals.flag()))
      return E;
    if (Json)
      printJson(Given, *Found);
    else
      print(Given, *Found);
    if (Signals.flag())
      return fail(ErrorCode::Interrupted, "interrupted");
    return 0;
  }

private:
  static Error lock(const Store &From, std::optional<StoreLock> &Lock,
                    std::optional<OwnerLock> &JournalLock) {
    auto Own = StoreLock::own(From);
    if (!Own)
      return Own.error();
    Lock.emplace(std::move(*Own));
    auto Log = OwnerLock::take(From.journalPath() + ".lock", "r3 store gc");
    if (!Log)
      return Log.error().in("the journal is in use");
    JournalLock.emplace(std::move(*Log));
    return Error::success();
  }

  Error remove(const Garbage &Found, const std::atomic<bool> &Stop) {
    if (DryRun) {
      Gone = Found.Files;
      return Error::success();
    }
    return removeGarbage(Found, Stop,
                         [&](const GarbageFile &F) { Gone.push_back(F); });
  }

  uint64_t goneBytes() const {
    uint64_t Sum = 0;
    for (const GarbageFile &F : Gone)
      Sum += F.Bytes;
    return Sum;
  }

  void print(Context &Given, const Garbage &Found) const {
    std::map<std::string, std::pair<uint64_t, uint64_t>> Kinds;
    for (const GarbageFile &F : Gone) {
      ++Kinds[F.Kind].first;
      Kinds[F.Kind].second += F.Bytes;
    }
    Table Lines({"KIND", ">FILES", ">SIZE"});
    for (const auto &[Kind, Sum] : Kinds)
      Lines.add({Kind, countText(Sum.first), bytesText(Sum.second)});
    if (!Lines.empty())
      Given.Out.print(Lines.text());
    if (Given.Verbose)
      for (const GarbageFile &F : Gone)
        Given.Err.print("  " + F.Path + "\n");
    Given.Out.print(std::string(DryRun ? "would remove " : "removed ") +
                    plural(Gone.size(), "file") + ", " +
                    bytesText(goneBytes()) + " of " +
                    bytesText(Found.StoreBytes) + "\n");
    constexpr uint64_t WorthSaying = 1 << 20;
    if (Found.HeldBytes > WorthSaying)
      Given.Out.print(bytesText(Found.HeldBytes) +
                      " more that nothing refers to lie in packs with chunks "
                      "that are needed\n");
  }

  void printJson(Context &Given, const Garbage &Found) const {
    rapidjson::StringBuffer Buffer;
    json::PrettyWriter W(Buffer);
    W.StartObject();
    W.Key("dryRun");
    W.Bool(DryRun);
    W.Key("bytes");
    W.Uint64(goneBytes());
    W.Key("storeBytes"); // before
    W.Uint64(Found.StoreBytes);
    W.Key("heldBytes");
    W.Uint64(Found.HeldBytes);
    W.Key("files");
    W.StartArray();
    for (const GarbageFile &F : Gone) {
      W.StartObject();
      W.Key("kind");
      W.String(F.Kind);
      W.Key("path");
      W.String(F.Path);
      W.Key("bytes");
      W.Uint64(F.Bytes);
      W.EndObject();
    }
    W.EndArray();
    W.EndObject();
    Given.Out.print(std::string(Buffer.GetString()) + "\n");
  }

  std::string Action;
  bool DryRun = false, Json = false;
  uint64_t OlderThanMs = 0;
  std::vector<GarbageFile> Gone; // or would be
};

} // namespace

std::unique_ptr<Command> makeStore() {
  return std::make_unique<StoreCommand>();
}

} // namespace r3
