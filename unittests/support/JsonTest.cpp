// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/support/Json.h"
#include "unittests/support/TestFolder.h"

using namespace r3;

TEST(Json, Members) {
  auto Parsed = json::parse(
      R"({"t": "x", "n": 18446744073709551615, "r": 1.5, "b": true,
          "a": [1], "o": {}})",
      "test");
  ASSERT_TRUE(Parsed) << Parsed.error().message();
  EXPECT_EQ(*json::text(*Parsed, "t"), "x");
  EXPECT_EQ(*json::number(*Parsed, "n"), UINT64_MAX);
  EXPECT_EQ(json::real(*Parsed, "r", 0), 1.5);
  EXPECT_EQ(json::real(*Parsed, "n", 0), 18446744073709551615.0);
  EXPECT_TRUE(json::boolean(*Parsed, "b", false));
  EXPECT_TRUE(json::array(*Parsed, "a"));
  EXPECT_FALSE(json::array(*Parsed, "o"));
  EXPECT_TRUE(json::object(*Parsed, "o"));
  EXPECT_EQ(json::text(*Parsed, "z", "default"), "default");
  EXPECT_EQ(json::number(*Parsed, "z", 3), 3u);
}

TEST(Json, MissingAndWrongTypeDiffer) {
  auto Parsed = json::parse(R"({"t": 1, "n": -1})", "test");
  ASSERT_TRUE(Parsed);
  EXPECT_EQ(json::text(*Parsed, "z").error().code(), ErrorCode::NotFound);
  EXPECT_EQ(json::text(*Parsed, "t").error().code(), ErrorCode::Damaged);
  EXPECT_EQ(json::number(*Parsed, "n").error().code(), ErrorCode::Damaged);
  // No object at all is a missing member, not a crash.
  EXPECT_EQ(json::text((*Parsed)["t"], "z").error().code(),
            ErrorCode::NotFound);
}

TEST(Json, ParsingIsStrict) {
  auto fails = [](std::string Text, const char *Why) {
    return failsWith(json::parse(Text, "f.json"), Why);
  };
  EXPECT_TRUE(fails("", "f.json: offset 0: the document is empty"));
  EXPECT_TRUE(fails("{} x", "offset 3: the document root must not be"));
  EXPECT_TRUE(fails("{\"a\": \"\xff\"}", "encoding"));
  EXPECT_TRUE(fails("{'a': 1}", "missing a name"));
  EXPECT_TRUE(fails("[1,]", "invalid value"));
  EXPECT_TRUE(fails(std::string(65, '['), "offset 64: nested over 64 levels"));
  EXPECT_TRUE(json::parse(R"(["[[[[", "\"[[["])", "f"));
  std::string Deep = std::string(64, '[') + std::string(64, ']');
  EXPECT_TRUE(json::parse(Deep, "f"));
}
