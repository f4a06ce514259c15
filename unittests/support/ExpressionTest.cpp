// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/support/Expression.h"
#include "unittests/support/TestFolder.h"

using namespace r3;

static std::optional<int64_t> lookup(std::string_view Name) {
  if (Name == "grid.x")
    return 7;
  if (Name == "view.n[2]")
    return -3;
  if (Name == "big")
    return INT64_MAX;
  if (Name == "small")
    return INT64_MIN;
  return std::nullopt;
}

static int64_t valueOf(const char *Text) {
  Expected<int64_t> Value = evaluateExpression(Text, lookup);
  EXPECT_TRUE(Value) << Text << ": " << Value.error().message();
  return Value ? *Value : -999;
}

TEST(Expression, Values) {
  EXPECT_EQ(valueOf("1 + 2*3 - 4"), 3);
  EXPECT_EQ(valueOf("(1+2)*3"), 9);
  EXPECT_EQ(valueOf("10 - 3 - 2"), 5);
  EXPECT_EQ(valueOf("-2 - -3"), 1);
  EXPECT_EQ(valueOf("7 / 2 + 7 % 2"), 4);
  EXPECT_EQ(valueOf("ceildiv(grid.x, 2)"), 4);
  EXPECT_EQ(valueOf("ceildiv(-7, 2)"), -3);
  EXPECT_EQ(valueOf("ceildiv(-7, -2)"), 4);
  EXPECT_EQ(valueOf("min(3, max(grid.x, 1))"), 3);
  EXPECT_EQ(valueOf("view.n[2] * 2"), -6);
}

TEST(Expression, Errors) {
  auto fails = [](const char *Text, const char *Why) {
    return failsWith(evaluateExpression(Text, lookup), Why);
  };
  EXPECT_TRUE(fails("", "offset 0: name expected"));
  EXPECT_TRUE(fails("1 +", "name expected"));
  EXPECT_TRUE(fails("1 2", "offset 2: end expected"));
  EXPECT_TRUE(fails("grid.w", "unknown name 'grid.w'"));
  EXPECT_TRUE(fails("gcd(1,2)", "unknown function 'gcd'"));
  EXPECT_TRUE(fails("min(1)", "',' expected"));
  EXPECT_TRUE(fails("(1", "')' expected"));
  EXPECT_TRUE(fails("1/0", "division by zero"));
  EXPECT_TRUE(fails("1%0", "division by zero"));
  EXPECT_TRUE(fails("ceildiv(1,0)", "division by zero"));
  EXPECT_TRUE(fails("small / -1", "overflow"));
  EXPECT_TRUE(fails("big + 1", "overflow"));
  EXPECT_TRUE(fails("-small", "overflow"));
  EXPECT_TRUE(fails("big * 2", "overflow"));
  EXPECT_TRUE(fails("9223372036854775808", "integer too large"));
  EXPECT_TRUE(failsWith(evaluateExpression(std::string(100000, '('), lookup),
                        "too deeply"));
  EXPECT_TRUE(
      failsWith(evaluateExpression(std::string(100000, '-') + "1", lookup),
                "too deeply"));
}

TEST(Expression, CheckLooksAtTheGrammarOnly) {
  EXPECT_FALSE(checkExpression("n / (m - 1) * 9223372036854775807 * 2"));
  EXPECT_TRUE(failsWith(checkExpression("n +"), "name expected"));
  EXPECT_TRUE(failsWith(checkExpression("f(n, 1)"), "unknown function"));
}

TEST(Guard, RoundTrip) {
  for (const char *Text :
       {"align(p,16)", "divides(4,n)", "n==-8", "distinct(p,view.data)"}) {
    Expected<Guard> Parsed = Guard::parse(Text);
    ASSERT_TRUE(Parsed) << Text;
    EXPECT_EQ(Parsed->text(), Text);
  }
  EXPECT_EQ(Guard::parse(" align( p , 16 ) ")->text(), "align(p,16)");
}

TEST(Guard, Errors) {
  for (const char *Text :
       {"", "align(p)", "align(16,p)", "align(p,0)", "divides(n,4)", "n=8",
        "n==", "distinct(p,4)", "near(p,q)", "align(p,16) x", "n==8,"})
    EXPECT_FALSE(Guard::parse(Text)) << Text;
}
