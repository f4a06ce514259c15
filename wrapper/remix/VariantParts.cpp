// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The changes, in this order: edits of the pipeline, the pipeline itself,
// level, maxnreg, ptxas, launch rules, constants.
#include "wrapper/remix/VariantParts.h"

#include <set>

namespace r3 {

VariantParts::VariantParts(const Variant &Whole, const std::string &Level,
                           const std::map<std::string, std::string> &Pipelines)
    : Whole(Whole) {
  addPipeline(Level, Pipelines);
  addText("code generation", &Variant::Level);
  for (const auto &[Name, Value] : Whole.Options)
    add(Name + " = " + std::to_string(Value),
        [Name = Name](Variant &V) { V.Options.erase(Name); });
  addNumber("maxnreg", &Variant::MaxRegisters);
  addText("ptxas", &Variant::PtxasLevel);
  addNumber("maxthreads", &Variant::MaxThreads);
  addNumber("minblocks", &Variant::MinBlocks);
  addText("loads", &Variant::Loads);
  addText("stores", &Variant::Stores);
  addText("arch", &Variant::Arch);
  addText("remap", &Variant::Remap);
  for (const LaunchRule &R : Whole.Launch)
    add(R.Target + " = " + R.Value, [Target = R.Target](Variant &V) {
      std::erase_if(V.Launch, [&](const LaunchRule &Other) {
        return Other.Target == Target;
      });
    });
  for (const auto &[Name, Value] : Whole.Specialise)
    add(Name + " = " + std::to_string(Value),
        [Name = Name](Variant &V) { V.Specialise.erase(Name); });
}

void VariantParts::add(std::string Name, std::function<void(Variant &)> Leave) {
  Names.push_back(std::move(Name));
  LeaveOut.push_back(std::move(Leave));
}

void VariantParts::addText(const char *Name, std::string Variant::*Member) {
  if (!(Whole.*Member).empty())
    add(Name + (" " + Whole.*Member), [=](Variant &V) { (V.*Member).clear(); });
}

void VariantParts::addNumber(const char *Name, uint32_t Variant::*Member) {
  if (Whole.*Member)
    add(format("%s %u", Name, Whole.*Member),
        [=](Variant &V) { V.*Member = 0; });
}

void VariantParts::addPipeline(
    const std::string &Level,
    const std::map<std::string, std::string> &Pipelines) {
  HasPipeline = !Whole.Pipeline.empty();
  if (!HasPipeline)
    return;
  const auto Printed = Pipelines.find(Level);
  const std::string Default = "default<" + Level + ">";
  const bool NamesDefault =
      Whole.Pipeline.find("default<") != std::string::npos;
  auto From = parsePipeline(
      NamesDefault || Printed == Pipelines.end() ? Default : Printed->second);
  auto To = parsePipeline(Whole.Pipeline);
  if (From && To)
    Names = Diff.emplace(*From, *To).edits();
  PipelineAt = Names.size();
  // The default one as printed is not always the same as the default one.
  Names.push_back(Diff && !NamesDefault ? "passes as printed" : "passes");
}

Variant VariantParts::with(const std::vector<size_t> &Kept) const {
  const std::set<size_t> All(Kept.begin(), Kept.end());
  Variant V = Whole;
  if (HasPipeline && !All.count(PipelineAt)) {
    V.Pipeline.clear();
  } else if (Diff) {
    std::vector<bool> Wanted(PipelineAt);
    for (size_t I = 0; I < PipelineAt; ++I)
      Wanted[I] = All.count(I);
    V.Pipeline = pipelineText(Diff->apply(Wanted));
  }
  const size_t First = Names.size() - LeaveOut.size();
  for (size_t I = First; I < Names.size(); ++I)
    if (!All.count(I))
      LeaveOut[I - First](V);
  if (V.Patch.empty() && V.Ptx.empty() && V.Remap.empty() && V.Launch.empty() &&
      V.Specialise.empty())
    V.Guards.clear();
  return V;
}

} // namespace r3
