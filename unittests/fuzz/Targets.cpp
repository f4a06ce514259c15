// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "unittests/fuzz/Targets.h"

#include "runtime/support/Bytes.h"
#include "runtime/support/Expression.h"
#include "runtime/support/Pack.h"
#include "runtime/support/Profile.h"
#include "runtime/support/Protocol.h"
#include "runtime/support/Recording.h"
#include "runtime/support/RunStats.h"
#include "runtime/support/Unit.h"
#include "runtime/support/Variant.h"
#include "unittests/fuzz/Seeds.h"
#include "wrapper/replay/ElfCode.h"
#include "wrapper/replay/Footprint.h"
#include "wrapper/replay/Plain.h"
#include "wrapper/replay/Plan.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <elf.h>

namespace r3::fuzz {

using Input = std::span<const uint8_t>;

void require(bool Holds, const char *Text) {
  if (Holds)
    return;
  std::fprintf(stderr, "property does not hold: %s\n", Text);
  std::abort();
}

static std::string textOf(Input Bytes) { return {Bytes.begin(), Bytes.end()}; }

static bool equal(Input A, Input B) {
  return A.size() == B.size() && std::equal(A.begin(), A.end(), B.begin());
}

//===-- Readers -----------------------------------------------------------===//

static bool runRecording(Input Bytes) {
  Expected<Recording> Parsed = Recording::parse(Bytes, "fuzz");
  if (!Parsed)
    return false;
  require(equal(Parsed->serialize(), Bytes), "a manifest has one form");
  (void)argumentClass(Parsed->Launch, Parsed->Arguments, Parsed->Fields);
  return true;
}

static bool runUnit(Input Bytes) {
  Expected<Unit> Parsed = Unit::parseSection(Bytes, "fuzz");
  if (!Parsed)
    return false;
  std::string Id;
  std::vector<uint8_t> Written = Parsed->serialize(Id);
  Expected<Unit> Again = Unit::parseSection(Written, "again");
  require(bool(Again) && Again->json() == Parsed->json(),
          "a unit reads as it was written");
  return true;
}

static bool runUnitJson(Input Bytes) {
  Expected<Unit> Parsed = Unit::parseJson(textOf(Bytes));
  if (!Parsed)
    return false;
  Expected<Unit> Again = Unit::parseJson(Parsed->json());
  require(bool(Again) && Again->json() == Parsed->json(),
          "a descriptor reads as it was written");
  return true;
}

static bool runElf(Input Bytes) {
  auto Parsed = parseElfUnits(Bytes, "fuzz");
  return Parsed && !Parsed->empty();
}

static bool runPackIndex(Input Bytes) {
  auto Parsed = parsePackIndex(Bytes, "fuzz");
  if (!Parsed)
    return false;
  require(Parsed->size() * 48 <= Bytes.size(),
          "an index has no more entries than bytes");
  return !Parsed->empty();
}

static bool runFrame(Input Bytes) {
  Expected<Frame> Parsed = decodeFrame(Bytes);
  if (!Parsed)
    return false;
  require(equal(encodeFrame(*Parsed), Bytes), "a frame has one form");
  return true;
}

static bool runVariant(Input Bytes) {
  Expected<Variant> Parsed = Variant::parse(textOf(Bytes));
  if (!Parsed)
    return false;
  std::string Json = Parsed->canonicalJson();
  Expected<Variant> Again = Variant::parse(Json);
  require(bool(Again) && Again->canonicalJson() == Json,
          "the canonical form of a variant is a variant");
  return true;
}

static bool runProfile(Input Bytes) {
  Expected<KernelProfile> Parsed = KernelProfile::parse(textOf(Bytes), "fuzz");
  if (!Parsed)
    return false;
  std::string Toml = Parsed->toml();
  Expected<KernelProfile> Again = KernelProfile::parse(Toml, "again");
  require(bool(Again) && Again->toml() == Toml,
          "a profile reads as it was written");
  return true;
}

static bool runUnitHeader(Input Bytes) {
  Expected<std::vector<std::string>> Folders =
      parseUnitHeader(textOf(Bytes), "fuzz");
  if (!Folders)
    return false;
  for (const std::string &Folder : *Folders)
    require(Folder.find('/') == std::string::npos,
            "a folder's name stays in its place");
  return true;
}

static bool runExpression(Input Bytes) {
  std::string Text = textOf(Bytes);
  auto Lookup = [](std::string_view Name) -> std::optional<int64_t> {
    return int64_t(Name.size()) - 3;
  };
  Expected<int64_t> Value = evaluateExpression(Text, Lookup);
  Error Grammar = checkExpression(Text);
  require(!Value || !Grammar, "what has a value follows the grammar");
  Expected<Guard> Parsed = Guard::parse(Text);
  if (!Parsed)
    return bool(Value);
  Expected<Guard> Again = Guard::parse(Parsed->text());
  require(bool(Again) && Again->text() == Parsed->text(),
          "a guard reads as it was written");
  return true;
}

static bool runStats(Input Bytes) {
  return bool(RunStats::parse(Bytes, "fuzz"));
}

static bool runPlan(Input Given) {
  auto Parsed = replay::ReplayPlan::parse(Given);
  if (!Parsed)
    return false;
  const Bytes Written = Parsed->serialize();
  auto Again = replay::ReplayPlan::parse(Written);
  require(Again && equal(Again->serialize(), Written),
          "a plan reads as it was written");
  return true;
}

static bool runFootprint(Input Bytes) {
  ByteReader In(Bytes, "fuzz");
  const auto Parsed = replay::Footprint::read(In);
  if (In.finish())
    return false;
  ByteWriter Out;
  Parsed.write(Out);
  require(equal(Out.data(), Bytes), "a footprint has one form");
  (void)replay::Poison(Parsed);
  return true;
}

static bool runPlain(Input Bytes) {
  auto Parsed = replay::PlainLaunch::parse(Bytes);
  if (!Parsed)
    return false;
  require(equal(Parsed->serialize(), Bytes), "a plain launch has one form");
  return true;
}

static bool runPoison(Input Bytes) {
  auto Parsed = replay::Poison::parse(Bytes);
  if (!Parsed)
    return false;
  require(equal(Parsed->serialize(), Bytes), "poison has one form");
  return true;
}

static bool runImage(Input Bytes) {
  auto Cubin = replay::cubinIn(Bytes, "sm_90");
  return Cubin && replay::codeDigest(*Cubin, "k");
}

//===-- Checksums ---------------------------------------------------------===//

static void putChecksum(Bytes &Input, size_t Begin, size_t End) {
  ByteWriter Out;
  Out.u64(checksum({Input.data() + Begin, End - Begin}));
  std::copy(Out.data().begin(), Out.data().end(), Input.begin() + long(End));
}

static void sealWhole(Bytes &Input) {
  if (Input.size() >= 8)
    putChecksum(Input, 0, Input.size() - 8);
}

static void sealIndex(Bytes &Input) {
  for (size_t At = 16; At + 48 <= Input.size(); At += 48)
    putChecksum(Input, At, At + 40);
}

static void sealElf(Bytes &Input) {
  // The only unit of the seed lies behind the ELF header.
  static const size_t Size = unitSeeds()[0].size();
  if (Input.size() >= sizeof(Elf64_Ehdr) + Size)
    putChecksum(Input, sizeof(Elf64_Ehdr), sizeof(Elf64_Ehdr) + Size - 8);
}

static const Target Table[] = {
    {"recording", runRecording, recordingSeeds, sealWhole},
    {"unit", runUnit, unitSeeds, sealWhole},
    {"unit-json", runUnitJson, unitJsonSeeds, nullptr},
    {"elf", runElf, elfSeeds, sealElf},
    {"pack-index", runPackIndex, packIndexSeeds, sealIndex},
    {"frame", runFrame, frameSeeds, sealWhole},
    {"variant", runVariant, variantSeeds, nullptr},
    {"profile", runProfile, profileSeeds, nullptr},
    {"unit-header", runUnitHeader, unitHeaderSeeds, nullptr},
    {"expression", runExpression, expressionSeeds, nullptr},
    {"run-stats", runStats, runStatsSeeds, nullptr},
    {"plan", runPlan, planSeeds, nullptr},
    {"footprint", runFootprint, footprintSeeds, nullptr},
    {"poison", runPoison, poisonSeeds, nullptr},
    {"plain", runPlain, plainSeeds, nullptr},
    {"image", runImage, imageSeeds, nullptr},
};

std::span<const Target> targets() { return Table; }

const Target *findTarget(std::string_view Name) {
  for (const Target &T : Table)
    if (T.Name == Name)
      return &T;
  return nullptr;
}

} // namespace r3::fuzz
