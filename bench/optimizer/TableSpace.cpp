// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a measured space, and gives its rows to an optimiser.
#include "bench/optimizer/TableSpace.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace r3 {

namespace {

constexpr int Tries = 100;

std::optional<double> number(const std::string &Text) {
  char *End = nullptr;
  const double Value = std::strtod(Text.c_str(), &End);
  if (Text.empty() || *End || !std::isfinite(Value))
    return std::nullopt;
  return Value;
}

std::vector<std::string> fields(std::string Line) {
  if (!Line.empty() && Line.back() == '\r')
    Line.pop_back();
  std::vector<std::string> Result(1);
  for (char C : Line)
    if (C == ',')
      Result.emplace_back();
    else
      Result.back() += C;
  return Result;
}

} // namespace

TableSpace::Column TableSpace::describe(std::vector<std::string> Values) {
  Column C;
  std::vector<double> Numbers;
  for (const std::string &V : Values)
    if (auto N = number(V))
      Numbers.push_back(*N);
  if (Numbers.size() < Values.size()) {
    // Names: one feature each.
    std::sort(Values.begin(), Values.end());
    for (size_t I = 0; I < Values.size(); ++I) {
      C.Features.emplace_back(Values.size(), 0.0f);
      C.Features.back()[I] = 1;
    }
    C.Values = std::move(Values);
    return C;
  }
  std::sort(Values.begin(), Values.end(), [](const auto &A, const auto &B) {
    return *number(A) < *number(B);
  });
  std::sort(Numbers.begin(), Numbers.end());
  const bool Log = Numbers.front() > 0;
  auto Scale = [&](double N) { return Log ? std::log2(N) : N; };
  const double Low = Scale(Numbers.front());
  const double Span = std::max(Scale(Numbers.back()) - Low, 1e-9);
  for (double N : Numbers)
    C.Features.push_back({float((Scale(N) - Low) / Span)});
  // What a size is a multiple of matters on a GPU as much as how large it is:
  // 3 is not between 2 and 4.
  constexpr int MostTwos = 6;
  if (Numbers.size() > 2)
    for (size_t I = 0; I < Numbers.size(); ++I) {
      int Twos = 0;
      while (Twos < MostTwos && std::fmod(Numbers[I], double(2 << Twos)) == 0)
        ++Twos;
      C.Features[I].push_back(float(Twos) / float(MostTwos));
    }
  C.Values = std::move(Values);
  return C;
}

Expected<TableSpace> TableSpace::read(const std::string &Path) {
  std::ifstream In(Path);
  if (!In)
    return fail(ErrorCode::NotFound, "%s: %s", Path.c_str(),
                std::strerror(errno));
  std::vector<std::vector<std::string>> Lines;
  for (std::string Line; std::getline(In, Line);)
    if (!Line.empty() && Line[0] != '#')
      Lines.push_back(fields(Line));
  if (Lines.size() < 2 || Lines[0].size() < 2)
    return fail(ErrorCode::Damaged, "%s: no configurations", Path.c_str());
  const size_t Width = Lines[0].size() - 1;

  TableSpace T;
  std::vector<std::map<std::string, int32_t>> Numbering(Width);
  for (size_t C = 0; C < Width; ++C) {
    for (size_t L = 1; L < Lines.size(); ++L) {
      if (Lines[L].size() != Width + 1)
        return fail(ErrorCode::Damaged, "%s: configuration %zu has %zu fields",
                    Path.c_str(), L, Lines[L].size());
      Numbering[C].emplace(Lines[L][C], 0);
    }
    std::vector<std::string> Values;
    for (const auto &[Value, Index] : Numbering[C])
      Values.push_back(Value);
    T.Columns.push_back(describe(std::move(Values)));
    for (size_t I = 0; I < T.Columns[C].Values.size(); ++I)
      Numbering[C][T.Columns[C].Values[I]] = int32_t(I);
  }
  T.Best = INFINITY;
  for (size_t L = 1; L < Lines.size(); ++L) {
    Point P;
    for (size_t C = 0; C < Width; ++C)
      P.push_back(Numbering[C].at(Lines[L][C]));
    std::optional<double> Cost = number(Lines[L].back());
    if (!Cost && Lines[L].back() != "fail")
      return fail(ErrorCode::Damaged,
                  "%s: configuration %zu: '%s' is no time and not fail",
                  Path.c_str(), L, Lines[L].back().c_str());
    if (Cost)
      T.Best = std::min(T.Best, *Cost);
    if (T.Costs.emplace(P, Cost).second)
      T.Rows.push_back(std::move(P));
  }
  return T;
}

size_t TableSpace::featureCount() const {
  size_t Count = 0;
  for (const Column &C : Columns)
    Count += C.Features[0].size();
  return Count;
}

void TableSpace::features(const Point &P, float *Out) const {
  for (size_t C = 0; C < Columns.size(); ++C)
    for (float F : Columns[C].Features[size_t(P[C])])
      *Out++ = F;
}

std::optional<Point> TableSpace::draw(Random &Dice) const {
  return Dice.pick(Rows);
}

std::optional<Point> TableSpace::step(const Point &P, Random &Dice) const {
  for (int I = 0; I < Tries; ++I) {
    Point Next = P;
    const size_t C = Dice.below(Next.size());
    const auto Values = int32_t(Columns[C].Values.size());
    // Half of the steps go to a value beside the present one.
    if (Dice.chance(0.5))
      Next[C] += Dice.chance(0.5) ? 1 : -1;
    else
      Next[C] = int32_t(Dice.below(size_t(Values)));
    if (Next != P && Costs.count(Next))
      return Next;
  }
  return std::nullopt;
}

std::optional<Point> TableSpace::cross(const Point &A, const Point &B,
                                       Random &Dice) const {
  for (int I = 0; I < Tries; ++I) {
    Point Next = A;
    for (size_t C = 0; C < Next.size(); ++C)
      if (Dice.chance(0.5))
        Next[C] = B[C];
    if (Costs.count(Next))
      return Next;
  }
  return std::nullopt;
}

std::optional<std::vector<Point>> TableSpace::all(size_t AtMost) const {
  if (Rows.size() > AtMost)
    return std::nullopt;
  return Rows;
}

} // namespace r3
