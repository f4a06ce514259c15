// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the recorder knows about a kernel: its descriptor, whether it can be
// recorded, and its line in the run's statistics.
#include "runtime/record/Message.h"
#include "runtime/record/Recorder.h"

#include <algorithm>

namespace r3::record {

/// Gives the kernel a line in the statistics. Under its lock.
void Recorder::describe(KernelState &K) {
  if (K.Slot != RunStatsWriter::MaxKernels)
    return;
  K.Stats.Key = K.Code ? K.Code->Key : "";
  K.Stats.Name = K.Info && !K.Info->Display.empty() ? K.Info->Display : K.Name;
  std::lock_guard Guard(SlotsLock);
  K.Slot = Statistics->addKernel(K.Stats.Key, K.Stats.Name);
}

void KernelState::addTime(uint64_t Ns, bool Cold) {
  if (Cold && Stats.Sampled)
    return;
  if (OnlyCold)
    Stats.Sampled = Stats.SampledNs = 0;
  OnlyCold = Cold;
  ++Stats.Sampled;
  Stats.SampledNs += Ns;
}

void Recorder::update(KernelState &K) {
  if (K.Slot < RunStatsWriter::MaxKernels)
    Statistics->update(K.Slot, K.Stats);
}

void Recorder::note(KernelState &K, Reason Why, const std::string &Detail) {
  std::string Name;
  {
    std::lock_guard Guard(K.Lock);
    K.Stats.LastReason = uint32_t(Why);
    ++K.Stats.ReasonCount;
    update(K);
    uint64_t Bit = uint64_t(1) << (unsigned(Why) % 64);
    if (K.Said & Bit)
      return;
    K.Said |= Bit;
    Name = K.Stats.Name;
  }
  std::string Text =
      Name + ": not recorded: " + std::string(reasonDescription(Why));
  say(Detail.empty() ? Text : Text + " (" + Detail + ")");
}

static bool isNamed(const std::vector<std::string> &Wanted,
                    const std::string &Name, const std::string &Display) {
  return Wanted.empty() ||
         std::any_of(Wanted.begin(), Wanted.end(), [&](const std::string &W) {
           return Name.find(W) != std::string::npos ||
                  Display.find(W) != std::string::npos;
         });
}

/// Why the kernel can never be recorded on this device. A kernel that needs a
/// device link is recorded: its replay waits for that.
static Reason staticReason(const KernelState &K, const DeviceIdentity &Where) {
  if (!K.Code || !K.Module)
    return Reason::NoBitcode;
  Expected<Reason> Why = parseReason(K.Code->Reason);
  if (!Why || *Why == Reason::DeviceLink)
    return Reason::None;
  if (*Why == Reason::InlineAsm && Where.Backend != "cpu")
    return Reason::None;
  return *Why;
}

/// Reads what the kernel is from its unit's descriptor. Under its lock.
void Recorder::identify(KernelState &K, const DeviceIdentity &Where) {
  if (K.Unit)
    return;
  if (Expected<LoadedUnit *> Unit = Program.load(K.Table)) {
    K.Unit = *Unit;
    K.Info = K.Unit->Unit->findKernel(K.Name);
    K.Module = K.Unit->moduleFor(Where.Arch);
  } else {
    sayOnce("cannot read the descriptor of a unit: " + Unit.error().message());
  }
  if (K.Info && K.Module)
    if (auto It = K.Info->Code.find(K.Module->Arch); It != K.Info->Code.end())
      K.Code = &It->second;
}

/// At the kernel's first launch. Under its lock. False where it cannot be
/// recorded.
bool Recorder::resolve(KernelState &K, DeviceState &S) {
  if (K.Choice)
    return K.Refused == Reason::None;
  identify(K, S.Identity);
  PolicyOptions P = Options.Policy;
  K.Refused = staticReason(K, S.Identity);
  P.Wanted = K.Refused == Reason::None &&
             isNamed(Options.Kernels, K.Name, K.Info->Display);
  K.Choice.emplace(P, Options.Seed ^ std::hash<std::string>()(K.Name));
  describe(K);
  return K.Refused == Reason::None;
}

} // namespace r3::record
