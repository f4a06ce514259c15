// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/support/BlockShape.h"

#include <algorithm>
#include <charconv>

namespace r3 {

static Error wrong(std::string_view Text, const char *Why) {
  return fail(ErrorCode::Damaged, "block shape '%s': %s",
              std::string(Text).c_str(), Why);
}

/// One part; Last: the axis of the part before, or -1.
static Error takePart(std::string_view Text, std::string_view Part, int &Last,
                      BlockShape &Into) {
  const bool IsSplit = Part.starts_with("split-");
  if (!IsSplit && !Part.starts_with("merge-"))
    return wrong(Text, "split-AXIS=FACTOR or merge-AXIS=FACTOR expected");
  Part.remove_prefix(6);
  if (Part.size() < 3 || Part[0] < 'x' || Part[0] > 'z' || Part[1] != '=')
    return wrong(Text, "x=FACTOR, y=FACTOR or z=FACTOR expected");
  const int Axis = Part[0] - 'x';
  if (Axis <= Last)
    return wrong(Text, "one part for each axis, in order");
  Last = Axis;
  Part.remove_prefix(2);
  uint32_t Factor = 0;
  auto Read = std::from_chars(Part.data(), Part.data() + Part.size(), Factor);
  if (Read.ec != std::errc() || Read.ptr != Part.data() + Part.size() ||
      Part[0] == '0' || Factor < 2 || Factor > 1024)
    return wrong(Text, "a factor from 2 to 1024 expected");
  BlockShape::Axis &Found = Into.Axes[size_t(Axis)];
  (IsSplit ? Found.Split : Found.Merge) = Factor;
  return Error::success();
}

Expected<BlockShape> BlockShape::parse(std::string_view Text) {
  BlockShape Result;
  int Last = -1;
  for (std::string_view Rest = Text;;) {
    const size_t End = std::min(Rest.find(';'), Rest.size());
    if (Error E = takePart(Text, Rest.substr(0, End), Last, Result))
      return E;
    if (End == Rest.size())
      return Result;
    Rest.remove_prefix(End + 1);
  }
}

std::string BlockShape::text() const {
  std::string Text;
  for (size_t I = 0; I < 3; ++I)
    if (Axes[I].Split > 1 || Axes[I].Merge > 1)
      Text += format("%s%s-%c=%u", Text.empty() ? "" : ";",
                     Axes[I].Split > 1 ? "split" : "merge", 'x' + int(I),
                     std::max(Axes[I].Split, Axes[I].Merge));
  return Text;
}

std::vector<LaunchRule> BlockShape::launchRules() const {
  std::vector<LaunchRule> Rules;
  auto Add = [&](const char *What, size_t Axis, char Operator, uint32_t By) {
    const std::string Target = std::string(What) + "." + "xyz"[Axis];
    Rules.push_back({Target, Target + Operator + std::to_string(By)});
  };
  for (size_t I = 0; I < 3; ++I) {
    const bool IsSplit = Axes[I].Split > 1;
    const uint32_t Factor = std::max(Axes[I].Split, Axes[I].Merge);
    if (Factor == 1)
      continue;
    Add("grid", I, IsSplit ? '*' : '/', Factor);
    Add("block", I, IsSplit ? '/' : '*', Factor);
  }
  return Rules;
}

std::vector<std::string> BlockShape::guards() const {
  std::vector<std::string> Guards;
  for (size_t I = 0; I < 3; ++I) {
    if (Axes[I].Split > 1)
      Guards.push_back(
          format("divides(%u,block.%c)", Axes[I].Split, 'x' + int(I)));
    if (Axes[I].Merge > 1)
      Guards.push_back(
          format("divides(%u,grid.%c)", Axes[I].Merge, 'x' + int(I)));
  }
  return Guards;
}

void BlockShape::putInto(Variant &Change) const {
  Change.Remap = text();
  Change.Launch = launchRules();
  for (const std::string &Guard : guards())
    if (std::find(Change.Guards.begin(), Change.Guards.end(), Guard) ==
        Change.Guards.end())
      Change.Guards.push_back(Guard);
}

Error checkRemap(const Variant &Change) {
  if (Change.Remap.empty())
    return Error::success();
  auto Shape = BlockShape::parse(Change.Remap);
  if (!Shape)
    return Shape.error();
  const std::vector<LaunchRule> Rules = Shape->launchRules();
  const bool Same = std::equal(
      Rules.begin(), Rules.end(), Change.Launch.begin(), Change.Launch.end(),
      [](const LaunchRule &A, const LaunchRule &B) {
        return A.Target == B.Target && A.Value == B.Value;
      });
  if (!Same)
    return fail(ErrorCode::Damaged,
                "remap: the launch must be that of the shape of block '%s'",
                Change.Remap.c_str());
  for (const std::string &Guard : Shape->guards())
    if (std::find(Change.Guards.begin(), Change.Guards.end(), Guard) ==
        Change.Guards.end())
      return fail(ErrorCode::Damaged, "remap: the guard %s is missing",
                  Guard.c_str());
  return Error::success();
}

} // namespace r3
