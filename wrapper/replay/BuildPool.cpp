// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each thread takes the oldest order that nobody has begun. A thread starts its
// compile worker itself and lives as long as the supervisor: children die with
// the thread that started them.
#include "wrapper/replay/BuildPool.h"

#include <algorithm>

namespace r3::replay {

std::string refusal(const Variant &V, const std::string &Backend) {
  if (Backend == "cpu" && V.MaxRegisters)
    return "a register limit has no meaning on the cpu device";
  if (Backend == "cpu" && !V.PtxasLevel.empty())
    return "a ptxas level has no meaning on the cpu device";
  if (Backend == "cpu" && (V.MaxThreads || V.MinBlocks))
    return "launch bounds have no meaning on the cpu device";
  if (Backend == "cpu" && !(V.Loads.empty() && V.Stores.empty()))
    return "cache operators have no meaning on the cpu device";
  if (Backend == "cpu" && !V.Arch.empty())
    return "a GPU's architecture has no meaning on the cpu device";
  return {};
}

bool isCheckedFirst(const Variant &V,
                    const std::optional<uint64_t> &PassLimit) {
  return !PassLimit && (V.Patch.empty() || !V.Pipeline.empty());
}

BuildPool::~BuildPool() {
  {
    std::lock_guard Guard(Lock);
    Ending = true;
  }
  Changed.notify_all();
  for (std::thread &T : Threads)
    T.join();
}

void BuildPool::open(unsigned Most) {
  std::lock_guard Guard(Lock);
  Compilers = Most;
}

void BuildPool::setJob(std::shared_ptr<const CompileJob> Next) {
  std::lock_guard Guard(Lock);
  Job = std::move(Next);
  Orders.clear();
  Changed.notify_all();
}

void BuildPool::order(uint64_t Request, const std::string &Json) {
  std::lock_guard Guard(Lock);
  if (!Job)
    return;
  auto Wanted = std::make_shared<Order>();
  Wanted->Json = Json;
  Orders[Request] = std::move(Wanted);
  if (!Idle && Threads.size() < Compilers)
    Threads.emplace_back([this] { work(); });
  Changed.notify_all();
}

void BuildPool::drop() {
  std::lock_guard Guard(Lock);
  Orders.clear();
  Changed.notify_all();
}

std::optional<BuiltAhead> BuildPool::take(uint64_t Request) {
  std::unique_lock Guard(Lock);
  auto Found = Orders.find(Request);
  if (Found == Orders.end())
    return std::nullopt;
  const std::shared_ptr<Order> Wanted = Found->second;
  Changed.wait(Guard, [&] {
    Found = Orders.find(Request);
    return Wanted->Done || Found == Orders.end();
  });
  if (Found == Orders.end())
    return std::nullopt;
  Orders.erase(Found);
  return std::move(Wanted->Made);
}

std::shared_ptr<BuildPool::Order> BuildPool::nextOrder() const {
  for (const auto &[Request, Each] : Orders)
    if (!Each->Begun)
      return Each;
  return nullptr;
}

void BuildPool::work() {
  CompileLink Link(Program, GraceMs, All);
  std::shared_ptr<const CompileJob> Loaded;
  std::unique_lock Guard(Lock);
  for (;;) {
    std::shared_ptr<Order> Next;
    ++Idle;
    Changed.wait(Guard, [&] { return Ending || (Next = nextOrder()); });
    --Idle;
    if (Ending)
      return;
    Next->Begun = true;
    const std::shared_ptr<const CompileJob> From = Job;
    Guard.unlock();
    if (Loaded != From)
      Link.setJob(*From);
    Loaded = From;
    auto Made = make(Link, *From, Next->Json);
    Guard.lock();
    Next->Made = std::move(Made);
    Next->Done = true;
    Changed.notify_all();
  }
}

std::optional<BuiltAhead> BuildPool::make(CompileLink &Link,
                                          const CompileJob &From,
                                          const std::string &Json) const {
  auto Request = json::parse(Json, "request");
  if (!Request)
    return std::nullopt;
  const json::Value *Text = json::object(*Request, "variant");
  auto V = Text ? Variant::parse(json::print(*Text))
                : Expected<Variant>(Error(ErrorCode::Usage, "no variant"));
  if (!V || V->isOriginal() || !refusal(*V, From.Backend).empty())
    return std::nullopt;
  std::optional<uint64_t> PassLimit;
  if (const auto Limit = json::number(*Request, "passLimit"))
    PassLimit = *Limit;
  Link.allowPrecision(json::boolean(*Request, "allowPrecision", false));
  Link.limitPasses(PassLimit);
  // Where it is launched alike, what came of its binary holds for it, too.
  const bool MaySkip =
      json::boolean(*Request, "once", false) && V->Launch.empty();
  BuiltAhead Made{Link.build(V->canonicalJson(), DeadlineMs, "",
                             MaySkip ? &Known : nullptr),
                  {}};
  Link.limitPasses({});
  const bool Repeats = MaySkip && Known.has(Made.Plain.Code);
  if (Made.Plain.Ending == Outcome::Ok && !Repeats && From.Backend == "cpu" &&
      isCheckedFirst(*V, PassLimit))
    Made.Checked = Link.build(V->canonicalJson(), DeadlineMs, "bounds");
  return Made;
}

} // namespace r3::replay
