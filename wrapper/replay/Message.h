// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSON headers of frames, written in one expression:
//   Message("run").number("launch", 0).flag("flush", true).json()
#pragma once

#include "runtime/support/Json.h"
#include "runtime/support/LaunchMap.h"
#include "runtime/support/Measurement.h"
#include "runtime/support/Outcome.h"
#include "runtime/support/Recording.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace r3::replay {

class Message {
public:
  /// An object with a "verb".
  explicit Message(std::string_view Verb);
  /// An object without one, as a part of others.
  Message();

  /// Bytes that are no UTF-8 (a crashed compiler's last words) become '?'.
  Message &text(const char *Name, std::string_view Value);
  Message &number(const char *Name, uint64_t Value);
  Message &real(const char *Name, double Value);
  Message &flag(const char *Name, bool Value);
  Message &reals(const char *Name, const std::vector<double> &Values);
  Message &texts(const char *Name, const std::vector<std::string> &Values);
  Message &numbers(const char *Name, const std::vector<uint64_t> &Values);
  /// No member where there are none.
  Message &numbersIf(const char *Name,
                     const std::optional<std::vector<uint64_t>> &Values);
  /// A member whose value is JSON already.
  Message &raw(const char *Name, std::string_view Json);
  /// An array of values that are JSON already.
  Message &raws(const char *Name, const std::vector<std::string> &Json);
  /// "ms": {step: number}.
  Message &times(const std::map<std::string, double> &Ms);
  /// "outcome" and "message".
  Message &outcome(Outcome Value, std::string_view Text);

  std::string json();

private:
  rapidjson::StringBuffer Buffer;
  json::Writer Writer;
};

/// A reply, on both links the same.
std::string ratesJson(const RatesReport &Rates);
RatesReport readRates(const json::Value &Object);
std::string operationsJson(const Operations &Of);
Operations readOperations(const json::Value &Object);
std::string floorJson(const FloorReport &Floor);
/// Grid, block and shared memory of a launch.
std::string launchJson(const LaunchConfig &Launch);
LaunchConfig readLaunch(const json::Value &Object);
/// Limits of a device, without those of a kernel.
std::string limitsJson(const LaunchLimits &Limits);
LaunchLimits readLimits(const json::Value &Object);

std::string identityJson(const DeviceIdentity &Identity);
DeviceIdentity readIdentity(const json::Value &Object);

/// {"verb":"reply","error":...,"code":...}.
std::string errorReply(const Error &E);
/// The error in a reply, if it is one.
Error replyError(const json::Value &Reply);

std::vector<std::string> readTexts(const json::Value &Object, const char *Name);
/// Nothing where there is no such array.
std::optional<std::vector<uint64_t>> readNumbers(const json::Value &Object,
                                                 const char *Name);
std::vector<double> readReals(const json::Value &Object, const char *Name);
std::map<std::string, double> readTimes(const json::Value &Reply);

} // namespace r3::replay
