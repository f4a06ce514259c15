// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/support/Recording.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

using namespace r3;

namespace {
/// Arguments that are put together field by field.
struct Arguments {
  std::vector<uint8_t> Bytes;
  std::vector<ArgumentField> Fields;
  template <typename T>
  Arguments &add(const char *Name, ValueType Type, T Value) {
    Fields.push_back({uint32_t(Bytes.size()), sizeof(T), Type, Name});
    Bytes.resize(Bytes.size() + sizeof(T));
    std::memcpy(Bytes.data() + Bytes.size() - sizeof(T), &Value, sizeof(T));
    return *this;
  }
  std::string text() const { return argumentClass({}, Bytes, Fields); }
};
} // namespace

static const std::string Plain = "block=1,1,1 shared=0 grid=2^0/1,2^0/1,2^0/1";

TEST(ArgumentClass, Launch) {
  LaunchConfig Launch;
  Launch.Block = {256, 1, 1};
  Launch.Grid = {1000, 3, 128};
  Launch.DynamicShared = 48;
  EXPECT_EQ(argumentClass(Launch, {}, {}),
            "block=256,1,1 shared=48 grid=2^9/8,2^1/1,2^7/128");
  Launch.Cooperative = true;
  Launch.Cluster = {2, 1, 1};
  EXPECT_EQ(argumentClass(Launch, {}, {}),
            "block=256,1,1 shared=48 cooperative cluster=2,1,1 "
            "grid=2^9/8,2^1/1,2^7/128");
}

TEST(ArgumentClass, Integers) {
  Arguments A;
  A.add("n", ValueType::I32, int32_t(1 << 20))
      .add("m", ValueType::I64, int64_t(-24))
      .add("z", ValueType::I8, int8_t(0))
      .add("s", ValueType::I64, std::numeric_limits<int64_t>::min());
  EXPECT_EQ(A.text(), Plain + " n=2^20/128 m=-2^4/8 z=0 s=-2^63/128");
}

TEST(ArgumentClass, SameBucketSameClass) {
  auto classOf = [](int32_t N) {
    return Arguments().add("n", ValueType::I32, N).text();
  };
  EXPECT_EQ(classOf(1024 + 128), classOf(2048 - 128));
  EXPECT_NE(classOf(1024 + 128), classOf(1024 + 64));
  EXPECT_NE(classOf(1024), classOf(2048));
}

TEST(ArgumentClass, Pointers) {
  Arguments A;
  A.add("a", ValueType::Pointer, uint64_t(0x1000))
      .add("b", ValueType::Pointer, uint64_t(0x1008))
      .add("c", ValueType::Pointer, uint64_t(0x1000))
      .add("d", ValueType::Pointer, uint64_t(0));
  EXPECT_EQ(A.text(), Plain + " a=@256 b=@8 c=@256=a d=null");
}

TEST(ArgumentClass, Floats) {
  Arguments A;
  A.add("f", ValueType::F32, 1.5f)
      .add("g", ValueType::F64, -0.0)
      .add("h", ValueType::F64, std::nan(""))
      .add("i", ValueType::F32, -INFINITY)
      .add("j", ValueType::F16, uint16_t(0x7c00))
      .add("k", ValueType::BF16, uint16_t(0x3f80));
  EXPECT_EQ(A.text(), Plain + " f=finite g=zero h=notfinite i=notfinite "
                              "j=notfinite k=finite");
}

TEST(ArgumentClass, FieldsThatSayNothing) {
  Arguments A;
  A.add("raw", ValueType::Bytes, uint64_t(7));
  A.Fields.push_back({100, 8, ValueType::I64, "outside"});
  EXPECT_EQ(A.text(), Plain);
}
