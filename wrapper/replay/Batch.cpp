// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/replay/Batch.h"

#include "wrapper/replay/Message.h"

#include <algorithm>

namespace r3::replay {

std::string BatchRequest::json() const {
  return Message("batch")
      .number("launch", Launch)
      .texts("slots", Slots)
      .numbers("poison", PoisonBytes)
      .flag("warm", Mode == CacheMode::Warm)
      .flag("flushes", Flushes)
      .numbersIf("written", Written)
      .number("sketchSeed", SketchSeed)
      .json();
}

std::vector<uint8_t> BatchRequest::blob() const {
  ByteWriter Out;
  Out.bytes(Where.serialize());
  Restored.write(Out);
  Digested.write(Out);
  Out.u64(Sketched.size());
  for (ValueType Type : Sketched)
    Out.u8(static_cast<uint8_t>(Type));
  return Out.take();
}

Expected<BatchRequest> BatchRequest::parse(const json::Value &Header,
                                           std::span<const uint8_t> Blob) {
  BatchRequest R;
  R.Launch = json::number(Header, "launch", 0);
  R.Slots = readTexts(Header, "slots");
  R.Mode =
      json::boolean(Header, "warm", false) ? CacheMode::Warm : CacheMode::Cold;
  R.Flushes = json::boolean(Header, "flushes", true);
  R.PoisonBytes = readNumbers(Header, "poison").value_or(R.PoisonBytes);
  R.Written = readNumbers(Header, "written");
  R.SketchSeed = json::number(Header, "sketchSeed", 0);
  if (R.Slots.empty() || R.PoisonBytes.size() != R.Slots.size())
    return fail(ErrorCode::Usage, "%zu launches with %zu poison bytes",
                R.Slots.size(), R.PoisonBytes.size());
  ByteReader In(Blob, "batch");
  auto Where = Poison::parse(In.bytes());
  if (!Where)
    return Where.error();
  R.Where = std::move(*Where);
  R.Restored = IntervalSet::read(In);
  R.Digested = IntervalSet::read(In);
  for (size_t Left = In.count(/*MinBytes=*/1); Left; --Left) {
    R.Sketched.push_back(static_cast<ValueType>(In.u8()));
    if (ValueType Type = R.Sketched.back(); Type != ValueType::Bytes &&
                                            Type != ValueType::F32 &&
                                            Type != ValueType::F64)
      In.reject("a type that has no sketches");
  }
  if (Error E = In.finish())
    return E;
  return R;
}

static std::string clocksJson(const ClockSample &C) {
  return Message()
      .real("smMhz", C.SmMhz)
      .real("memoryMhz", C.MemoryMhz)
      .number("reasons", C.Reasons)
      .json();
}

static ClockSample readClocks(const json::Value &Object, const char *Name) {
  const json::Value *C = json::object(Object, Name);
  if (!C)
    return {};
  return {json::real(*C, "smMhz", 0), json::real(*C, "memoryMhz", 0),
          json::number(*C, "reasons", 0)};
}

std::string BatchTimes::json() const {
  return Message()
      .reals("us", Us)
      .raw("before", clocksJson(Before))
      .raw("after", clocksJson(After))
      .text("clocksUnread", ClocksUnread)
      .real("eventsUs", EventsUs)
      .real("hostUs", HostUs)
      .real("emptyHostUs", EmptyHostUs)
      .json();
}

BatchTimes BatchTimes::parse(const json::Value &Object) {
  BatchTimes T;
  T.Us = readReals(Object, "us");
  T.Before = readClocks(Object, "before");
  T.After = readClocks(Object, "after");
  T.ClocksUnread = json::text(Object, "clocksUnread", "");
  T.EventsUs = json::real(Object, "eventsUs", 0);
  T.HostUs = json::real(Object, "hostUs", 0);
  T.EmptyHostUs = json::real(Object, "emptyHostUs", 0);
  return T;
}

IntervalSet coarsened(const IntervalSet &Set, size_t Most) {
  const std::vector<Interval> &All = Set.intervals();
  if (All.size() <= Most)
    return Set;
  std::vector<uint64_t> Gaps;
  for (size_t I = 1; I < All.size(); ++I)
    Gaps.push_back(All[I].Begin - All[I - 1].End);
  std::vector<uint64_t> Sorted = Gaps;
  const auto Largest = Sorted.begin() + ptrdiff_t(Gaps.size() - Most);
  std::nth_element(Sorted.begin(), Largest, Sorted.end());
  IntervalSet Result;
  Interval Open = All.front();
  for (size_t I = 1; I < All.size(); ++I) {
    if (Gaps[I - 1] <= *Largest) { // of those that are filled
      Open.End = All[I].End;
      continue;
    }
    Result.append(Open);
    Open = All[I];
  }
  Result.append(Open);
  return Result;
}

} // namespace r3::replay
