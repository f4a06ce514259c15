// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A recursive-descent evaluator: one function a rule of the grammar in the
// header. The first error sticks, and ends the reading.
#include "runtime/support/Expression.h"

namespace r3 {

namespace {

bool isNameStart(char C) {
  return (C >= 'a' && C <= 'z') || (C >= 'A' && C <= 'Z') || C == '_';
}
bool isDigit(char C) { return C >= '0' && C <= '9'; }

/// Words and signs of a text, shared by expressions and guards.
class Scanner {
public:
  explicit Scanner(std::string_view Text) : Text(Text) {}

  /// The next character that is no blank; 0 at the end.
  char peek() {
    while (At < Text.size() && (Text[At] == ' ' || Text[At] == '\t'))
      ++At;
    return At < Text.size() ? Text[At] : '\0';
  }
  bool accept(char C) {
    if (peek() != C)
      return false;
    ++At;
    return true;
  }
  void expect(char C) {
    if (!accept(C))
      reject(format("'%c' expected", C));
  }
  /// A name: identifiers, fields and elements ("view.data", "n[2]").
  std::string_view name() {
    if (!isNameStart(peek())) {
      reject("name expected");
      return {};
    }
    size_t Begin = At;
    while (At < Text.size() &&
           (isNameStart(Text[At]) || isDigit(Text[At]) || Text[At] == '.' ||
            Text[At] == '[' || Text[At] == ']'))
      ++At;
    return Text.substr(Begin, At - Begin);
  }
  int64_t integer() {
    if (!isDigit(peek())) {
      reject("integer expected");
      return 0;
    }
    int64_t Value = 0;
    while (At < Text.size() && isDigit(Text[At])) {
      if (__builtin_mul_overflow(Value, 10, &Value) ||
          __builtin_add_overflow(Value, Text[At] - '0', &Value)) {
        reject("integer too large");
        return 0;
      }
      ++At;
    }
    return Value;
  }
  int64_t signedInteger() { return accept('-') ? -integer() : integer(); }

  void reject(const std::string &Why) {
    if (!Failure)
      Failure = fail(ErrorCode::Damaged, "'%.*s': offset %zu: %s",
                     int(Text.size()), Text.data(), At, Why.c_str());
  }
  Error finish() {
    if (!Failure && peek())
      reject("end expected");
    return Failure;
  }
  bool failed() const { return static_cast<bool>(Failure); }

private:
  std::string_view Text;
  size_t At = 0;
  Error Failure;
};

class Evaluator {
public:
  /// Lookup null: the grammar alone is checked, values mean nothing.
  Evaluator(std::string_view Text, const NameLookup *Lookup)
      : Scan(Text), Lookup(Lookup) {}

  Expected<int64_t> run() {
    int64_t Value = expression();
    if (Error E = Scan.finish())
      return E;
    return Value;
  }

private:
  int64_t expression() {
    int64_t Value = term();
    while (!Scan.failed()) {
      if (Scan.accept('+'))
        overflow(__builtin_add_overflow(Value, term(), &Value));
      else if (Scan.accept('-'))
        overflow(__builtin_sub_overflow(Value, term(), &Value));
      else
        break;
    }
    return Value;
  }

  int64_t term() {
    int64_t Value = factor();
    while (!Scan.failed()) {
      if (Scan.accept('*'))
        overflow(__builtin_mul_overflow(Value, factor(), &Value));
      else if (Scan.accept('/'))
        Value = divide(Value, factor());
      else if (Scan.accept('%'))
        Value = remainder(Value, factor());
      else
        break;
    }
    return Value;
  }

  int64_t factor() {
    if (++Depth > DepthLimit)
      Scan.reject("nested too deeply");
    int64_t Value = Scan.failed() ? 0 : atom();
    --Depth;
    return Value;
  }

  int64_t atom() {
    if (Scan.accept('-')) {
      int64_t Value = 0;
      overflow(__builtin_sub_overflow(int64_t(0), factor(), &Value));
      return Value;
    }
    if (Scan.accept('(')) {
      int64_t Value = expression();
      Scan.expect(')');
      return Value;
    }
    if (isDigit(Scan.peek()))
      return Scan.integer();
    std::string_view Name = Scan.name();
    if (Scan.failed())
      return 0;
    return Scan.peek() == '(' ? call(Name) : value(Name);
  }

  int64_t call(std::string_view Name) {
    Scan.expect('(');
    int64_t A = expression();
    Scan.expect(',');
    int64_t B = expression();
    Scan.expect(')');
    if (Name == "min")
      return A < B ? A : B;
    if (Name == "max")
      return A > B ? A : B;
    if (Name == "ceildiv")
      return ceilDivide(A, B);
    Scan.reject(
        format("unknown function '%.*s'", int(Name.size()), Name.data()));
    return 0;
  }

  int64_t value(std::string_view Name) {
    if (!Lookup)
      return 1;
    if (std::optional<int64_t> Value = (*Lookup)(Name))
      return *Value;
    Scan.reject(format("unknown name '%.*s'", int(Name.size()), Name.data()));
    return 0;
  }

  bool canDivide(int64_t A, int64_t B) {
    if (Scan.failed() || !Lookup)
      return false;
    if (B == 0)
      Scan.reject("division by zero");
    overflow(A == INT64_MIN && B == -1);
    return !Scan.failed();
  }
  int64_t divide(int64_t A, int64_t B) { return canDivide(A, B) ? A / B : 0; }
  int64_t remainder(int64_t A, int64_t B) {
    return canDivide(A, B) ? A % B : 0;
  }
  int64_t ceilDivide(int64_t A, int64_t B) {
    if (!canDivide(A, B))
      return 0;
    bool RoundUp = A % B != 0 && (A < 0) == (B < 0);
    return A / B + RoundUp;
  }

  void overflow(bool Happened) {
    if (Happened && Lookup)
      Scan.reject("overflow");
  }

  static constexpr unsigned DepthLimit = 100;
  Scanner Scan;
  const NameLookup *Lookup;
  unsigned Depth = 0;
};

} // namespace

Expected<int64_t> evaluateExpression(std::string_view Text,
                                     const NameLookup &Lookup) {
  return Evaluator(Text, &Lookup).run();
}

Error checkExpression(std::string_view Text) {
  Expected<int64_t> Value = Evaluator(Text, /*Lookup=*/nullptr).run();
  return Value ? Error::success() : Value.error();
}

Expected<Guard> Guard::parse(std::string_view Text) {
  Scanner Scan(Text);
  Guard Result;
  std::string_view Word = Scan.name();
  if (!Scan.failed() && Scan.accept('(')) {
    if (Word == "align" || Word == "distinct") {
      Result.Name = Scan.name();
      Scan.expect(',');
      Result.What = Word == "align" ? Kind::Align : Kind::Distinct;
      if (Result.What == Kind::Align)
        Result.Number = Scan.integer();
      else
        Result.Second = Scan.name();
    } else if (Word == "divides") {
      Result.What = Kind::Divides;
      Result.Number = Scan.integer();
      Scan.expect(',');
      Result.Name = Scan.name();
    } else {
      Scan.reject("align, divides or distinct expected");
    }
    Scan.expect(')');
    if (Result.What != Kind::Distinct && Result.Number <= 0)
      Scan.reject("a number over 0 expected");
  } else {
    Result.Name = Word;
    Scan.expect('=');
    Scan.expect('=');
    Result.Number = Scan.signedInteger();
  }
  if (Error E = Scan.finish())
    return E;
  return Result;
}

std::string Guard::text() const {
  switch (What) {
  case Kind::Align:
    return format("align(%s,%lld)", Name.c_str(), (long long)Number);
  case Kind::Divides:
    return format("divides(%lld,%s)", (long long)Number, Name.c_str());
  case Kind::Distinct:
    return format("distinct(%s,%s)", Name.c_str(), Second.c_str());
  case Kind::Equals:
    break;
  }
  return format("%s==%lld", Name.c_str(), (long long)Number);
}

} // namespace r3
