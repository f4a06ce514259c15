// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Formatting.
#include "wrapper/r3/Text.h"

#include "runtime/support/Error.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace r3 {

std::string bytesText(uint64_t Bytes) {
  const char *Units[] = {"bytes", "KB", "MB", "GB", "TB"};
  double Value = double(Bytes);
  size_t Unit = 0;
  for (; Value >= 1024 && Unit < 4; ++Unit)
    Value /= 1024;
  return Unit ? format("%.1f %s", Value, Units[Unit])
              : format("%llu bytes", static_cast<unsigned long long>(Bytes));
}

std::string durationText(double Nanoseconds) {
  if (Nanoseconds < 1e3)
    return format("%.0f ns", Nanoseconds);
  if (Nanoseconds < 1e6)
    return format("%.1f us", Nanoseconds / 1e3);
  if (Nanoseconds < 1e9)
    return format("%.1f ms", Nanoseconds / 1e6);
  return format("%.1f s", Nanoseconds / 1e9);
}

std::string clockText(uint64_t Milliseconds) {
  unsigned long long Seconds = Milliseconds / 1000;
  if (Seconds >= 3600)
    return format("%llu:%02llu:%02llu", Seconds / 3600, Seconds / 60 % 60,
                  Seconds % 60);
  return format("%02llu:%02llu", Seconds / 60, Seconds % 60);
}

std::string countText(uint64_t Count) {
  std::string Digits = std::to_string(Count);
  for (int At = int(Digits.size()) - 3; At > 0; At -= 3)
    Digits.insert(size_t(At), ",");
  return Digits;
}

std::string percentText(double Share) {
  return format(Share > 0 && Share < 0.001 ? "%.2f %%" : "%.1f %%",
                Share * 100);
}

std::string gainText(double Median, double Low, double High) {
  return format("%.3fx [%.3f, %.3f]", Median, Low, High);
}

std::string floorText(double Us, const std::string &By, const FloorReport &Of) {
  std::string Text = format("floor %.2f us", Us) +
                     (By.empty() ? "" : " by " + By) + ": " +
                     bytesText(Of.ReadBytes) + " read, " +
                     bytesText(Of.WrittenBytes) + " written";
  for (auto [Count, Type] : {std::pair(Of.Counted.Float, "float"),
                             std::pair(Of.Counted.Double, "double"),
                             std::pair(Of.Counted.Half, "half")})
    if (Count)
      Text += ", " + countText(Count) + " " + Type + " operations";
  return Of.Uncounted.empty()
             ? Text
             : Text + "; arithmetic is left out: " + Of.Uncounted;
}

std::string plural(uint64_t Count, std::string_view Word) {
  return countText(Count) + " " + std::string(Word) + (Count == 1 ? "" : "s");
}

std::string printable(std::string_view Text) {
  std::string Safe(Text);
  for (char &C : Safe)
    if (static_cast<unsigned char>(C) < 0x20 || C == 0x7f)
      C = '?';
  return Safe;
}

namespace {

bool isContinuation(char C) { return (C & 0xc0) == 0x80; }

/// Characters, without colour codes (ESC [ ... m).
size_t width(const std::string &Text) {
  size_t Count = 0;
  for (size_t I = 0; I < Text.size(); ++I) {
    if (Text[I] == '\x1b') {
      I = std::min(Text.find('m', I), Text.size());
      continue;
    }
    Count += !isContinuation(Text[I]);
  }
  return Count;
}

} // namespace

std::string shortened(const std::string &Text, size_t Width) {
  if (width(Text) <= Width || Width < 5)
    return Text;
  size_t Head = (Width - 3) * 2 / 3, Tail = Width - 3 - Head;
  auto HeadEnd = Head, TailStart = Text.size() - Tail;
  while (HeadEnd > 0 && isContinuation(Text[HeadEnd]))
    --HeadEnd;
  while (TailStart < Text.size() && isContinuation(Text[TailStart]))
    ++TailStart;
  return Text.substr(0, HeadEnd) + "..." + Text.substr(TailStart);
}

Table::Table(std::vector<std::string> Given) : Headings(std::move(Given)) {
  for (std::string &Heading : Headings) {
    Right.push_back(Heading.starts_with(">"));
    if (Right.back())
      Heading.erase(0, 1);
  }
}

void Table::add(std::vector<std::string> Cells) {
  Cells.resize(Headings.size());
  Rows.push_back(std::move(Cells));
}

std::string Table::text() const {
  std::vector<size_t> Widths;
  for (const std::string &Heading : Headings)
    Widths.push_back(width(Heading));
  for (const auto &Row : Rows)
    for (size_t I = 0; I < Row.size(); ++I)
      Widths[I] = std::max(Widths[I], width(Row[I]));
  std::string Out;
  auto Print = [&](const std::vector<std::string> &Row) {
    std::string Line;
    for (size_t I = 0; I < Row.size(); ++I) {
      std::string Padding(Widths[I] - width(Row[I]), ' ');
      Line += I ? "  " : "";
      Line += Right[I] ? Padding + Row[I] : Row[I] + Padding;
    }
    Line.erase(Line.find_last_not_of(' ') + 1);
    Out += Line + "\n";
  };
  Print(Headings);
  for (const auto &Row : Rows)
    Print(Row);
  return Out;
}

} // namespace r3
