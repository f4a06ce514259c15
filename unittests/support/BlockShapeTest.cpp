// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/support/BlockShape.h"
#include "runtime/support/LaunchMap.h"
#include "unittests/support/TestFolder.h"

using namespace r3;

TEST(BlockShape, IsReadStrictly) {
  for (const char *Text :
       {"split-x=4", "merge-y=2", "split-x=2;merge-y=4;split-z=1024"}) {
    auto Shape = BlockShape::parse(Text);
    ASSERT_TRUE(Shape) << Shape.error().message();
    EXPECT_EQ(Shape->text(), Text);
  }
  for (const char *Text :
       {"", "split", "split-x", "split-x=", "split-x=1", "split-x=1025",
        "split-x=04", "split-x=2x", "split-w=2", "cut-x=2", "split-x=2;",
        "split-y=2;split-x=2", "split-x=2;merge-x=2"})
    EXPECT_TRUE(failsWith(BlockShape::parse(Text), "block shape '")) << Text;
}

TEST(BlockShape, KeepsAllThreads) {
  Recording R;
  R.Launch.Grid = {12, 8, 1};
  R.Launch.Block = {64, 2, 4};
  Variant V;
  BlockShape::parse("split-x=16;merge-y=4;split-z=2")->putInto(V);
  auto Mapped = mapLaunch(V.Launch, LaunchView(R));
  ASSERT_TRUE(Mapped) << Mapped.error().message();
  EXPECT_EQ(Mapped->Grid, (Dim3{192, 2, 2}));
  EXPECT_EQ(Mapped->Block, (Dim3{4, 8, 2}));
  auto Guards = allGuards(V);
  ASSERT_TRUE(Guards);
  EXPECT_EQ(Guards->size(), 3u);
  EXPECT_FALSE(*firstBroken(*Guards, LaunchView(R)));
  R.Launch.Grid[1] = 6; // no whole number of merged blocks
  EXPECT_TRUE(*firstBroken(*Guards, LaunchView(R)));
}

TEST(BlockShape, AVariantHasTheLaunchOfItsShape) {
  Variant V;
  BlockShape::parse("split-x=4")->putInto(V);
  auto Back = Variant::parse(V.canonicalJson());
  ASSERT_TRUE(Back) << Back.error().message();
  Variant Other = V;
  Other.Launch[0].Value = "grid.x*2";
  EXPECT_TRUE(failsWith(Variant::parse(Other.canonicalJson()),
                        "the launch must be that of the shape"));
  Other = V;
  Other.Guards.clear();
  EXPECT_TRUE(failsWith(Variant::parse(Other.canonicalJson()),
                        "the guard divides(4,block.x) is missing"));
}
