// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/trust/Sanitizer.h"

#include <charconv>

namespace r3::trust {

namespace {

constexpr std::string_view Mark = "=========";

std::string_view trimmed(std::string_view Text) {
  const size_t Begin = Text.find_first_not_of(" \t\r");
  return Begin == Text.npos
             ? std::string_view()
             : Text.substr(Begin, Text.find_last_not_of(" \t\r") - Begin + 1);
}

/// The number in "ERROR SUMMARY: 3 errors", "RACECHECK SUMMARY: 1 hazard ...".
std::optional<unsigned> summaryOf(std::string_view Line) {
  constexpr std::string_view Word = "SUMMARY:";
  const size_t At = Line.find(Word);
  if (At == Line.npos)
    return std::nullopt;
  const std::string_view Rest = trimmed(Line.substr(At + Word.size()));
  unsigned Number = 0;
  const auto Read =
      std::from_chars(Rest.data(), Rest.data() + Rest.size(), Number);
  return Read.ec == std::errc() ? std::optional(Number) : std::nullopt;
}

/// A line that belongs to the finding above it and says where or by whom; what
/// the host did is R3's own affair.
bool isDetail(std::string_view Line) {
  return Line.starts_with("  ") && Line.find("backtrace") == Line.npos &&
         Line.find("Frame") == Line.npos;
}

} // namespace

std::optional<SanitizerReport> readSanitizerReport(std::string_view Output) {
  SanitizerReport R;
  bool Complete = false, InFirst = false;
  while (!Output.empty()) {
    const size_t End = std::min(Output.find('\n'), Output.size());
    std::string_view Line = Output.substr(0, End);
    Output.remove_prefix(std::min(End + 1, Output.size()));
    if (!Line.starts_with(Mark))
      continue;
    const bool Detail = isDetail(Line.substr(Mark.size()));
    Line = trimmed(Line.substr(Mark.size()));
    if (InFirst && Detail)
      R.First += ", " + std::string(Line);
    InFirst = InFirst && Detail;
    if (const auto Number = summaryOf(Line)) {
      Complete = true;
      R.Findings = std::max(R.Findings, *Number);
    } else if (R.First.empty() && !Line.empty() &&
               !Line.starts_with("COMPUTE-SANITIZER")) {
      R.First = Line;
      InFirst = true;
    }
  }
  return Complete ? std::optional(R) : std::nullopt;
}

} // namespace r3::trust
