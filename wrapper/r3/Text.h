// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers and tables for people. Widths count characters of UTF-8, not bytes.
#pragma once

#include "runtime/support/Measurement.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace r3 {

std::string bytesText(uint64_t Bytes);        // "1.5 GB" (powers of 1024)
std::string durationText(double Nanoseconds); // "63.2 us"
std::string clockText(uint64_t Milliseconds); // "06:10", "1:02:03"
std::string countText(uint64_t Count);        // "4,812"
std::string percentText(double Share);        // 0.621 -> "62.1 %"
std::string gainText(double Median, double Low, double High); // "1.62x [..]"
/// "floor 33.10 us by memory: 1.2 MB read, 1.2 MB written, 4,812 float
/// operations". By: empty, where that was not said.
std::string floorText(double Us, const std::string &By, const FloorReport &Of);
/// "1 kernel", "3 kernels".
std::string plural(uint64_t Count, std::string_view Word);
/// Control characters become '?': text from files must not steer a terminal.
std::string printable(std::string_view Text);
/// At most Width characters, the middle left out where it is longer.
std::string shortened(const std::string &Text, size_t Width);

/// Columns that line up. Numbers are right-aligned where the heading says so
/// with a leading '>'. Colour codes do not count as width.
class Table {
public:
  explicit Table(std::vector<std::string> Headings);
  void add(std::vector<std::string> Cells);
  bool empty() const { return Rows.empty(); }
  std::string text() const;

private:
  std::vector<std::string> Headings;
  std::vector<bool> Right;
  std::vector<std::vector<std::string>> Rows;
};

} // namespace r3
