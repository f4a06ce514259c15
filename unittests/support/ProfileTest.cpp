// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/support/Profile.h"
#include "unittests/support/TestFolder.h"

using namespace r3;

static KernelProfile example() {
  KernelProfile Profile;
  Profile.Key = "1a2b3c4d5e6f708090a0b0c0d0e0f000";
  Profile.Name = "stencil3d<double>(int)";
  Profile.Home = "src/a \"b\".cu:main";
  Profile.Units = {"src/a.cu", "src/b.cu"};
  Profile.Fingerprints = {{"sm_90", "0f"}, {"x86-64", "1e"}};
  ProfileEntry Entry;
  Entry.Device = "sm_90 NVIDIA H200 132SM 60MB";
  Entry.Class = "block=256,1,1";
  Entry.Change.Pipeline = "default<O3>,\n\tinstcombine\\x";
  Entry.Change.Level = "O3";
  Entry.Change.MaxRegisters = 64;
  Entry.Change.PtxasLevel = "O2";
  Entry.Change.Launch = {{"grid.x", "ceildiv(grid.x, 2)"}, {"shared", "0"}};
  Entry.Change.Specialise = {{"n", -5}, {"view.m", 8}};
  Entry.Change.Guards = {"align(p,16)", "n==-5"};
  Entry.Gain = 1.31;
  Entry.Low = 1.0;
  Entry.High = 1e-7;
  Entry.Evidence = "weak";
  Entry.Origin = "passes";
  Entry.Versions = "llvm 22.1.8";
  Entry.Code = "ab";
  Profile.Entries = {Entry, Entry};
  Profile.Entries[1].Class = "all";
  Profile.Entries[1].Change = Variant();
  return Profile;
}

TEST(Profile, Folder) {
  KernelProfile Profile = example();
  EXPECT_EQ(Profile.folder(), "stencil3d-1a2b3c4d");
  Profile.Name = "ns::a b<x>";
  EXPECT_EQ(Profile.folder(), "ns__a_b-1a2b3c4d");
  Profile.Name = "<lambda>";
  EXPECT_EQ(Profile.folder(), "kernel-1a2b3c4d");
}

TEST(Profile, RoundTrip) {
  std::string Text = example().toml();
  Expected<KernelProfile> Parsed = KernelProfile::parse(Text, "k.toml");
  ASSERT_TRUE(Parsed) << Parsed.error().message() << "\n" << Text;
  EXPECT_EQ(Parsed->toml(), Text);
  EXPECT_EQ(Parsed->Home, example().Home);
  EXPECT_EQ(Parsed->Units, example().Units);
  EXPECT_EQ(Parsed->Fingerprints, example().Fingerprints);
  ASSERT_EQ(Parsed->Entries.size(), 2u);
  // Sorted: "all" comes before "block...".
  EXPECT_EQ(Parsed->Entries[0].Class, "all");
  EXPECT_TRUE(Parsed->Entries[0].Change.isOriginal());
  EXPECT_EQ(Parsed->Entries[1].Change.canonicalJson(),
            example().Entries[0].Change.canonicalJson());
  EXPECT_EQ(Parsed->Entries[1].Gain, 1.31);
  EXPECT_EQ(Parsed->Entries[1].High, 1e-7);
  EXPECT_EQ(Parsed->Entries[1].Evidence, "weak");
}

TEST(Profile, OtherCharactersAreEscaped) {
  KernelProfile Profile = example();
  Profile.Home = "src/\xc3\xa9\xef\xbb\xbc\xf0\x9f\x98\x80.cu:\x01";
  std::string Text = Profile.toml();
  EXPECT_NE(Text.find("src/\\u00e9\\ufefc\\U0001f600.cu:\\u0001"),
            std::string::npos)
      << Text;
  EXPECT_EQ(KernelProfile::parse(Text, "k")->Home, Profile.Home);
  // No UTF-8: shown as such, and still a profile.
  Profile.Home = "\xff\xc3(\xed\xa0\x80\xf4\x90\x80\x80";
  EXPECT_TRUE(KernelProfile::parse(Profile.toml(), "k"));
  // Found by a fuzzer: this character outside of a string is undefined
  // behaviour in toml++ 3.3.
  EXPECT_TRUE(failsWith(KernelProfile::parse("\n\xef\xbb\xbc", "k.toml"),
                        "k.toml: line 2: a character that is not ASCII"));
  EXPECT_TRUE(failsWith(KernelProfile::parse("[\x01", "k.toml"), "line 1"));
}

TEST(Profile, ChangedByHandLosesItsEvidence) {
  std::string Text = example().toml();
  size_t At = Text.find("maxnreg = 64");
  Text.replace(At, 12, "maxnreg = 32");
  Expected<KernelProfile> Parsed = KernelProfile::parse(Text, "k.toml");
  ASSERT_TRUE(Parsed) << Parsed.error().message();
  EXPECT_EQ(Parsed->Entries[1].Change.MaxRegisters, 32u);
  EXPECT_EQ(Parsed->Entries[1].Evidence, "none");
  EXPECT_EQ(Parsed->Entries[0].Evidence, "weak");
}

TEST(Profile, Mistakes) {
  auto fails = [](std::string Text, const char *Why) {
    return failsWith(KernelProfile::parse(Text, "k.toml"), Why);
  };
  std::string Head = "format = 1\nkey = \"k\"\nname = \"n\"\n";
  std::string Entry = Head + "[[entry]]\ndevice = \"d\"\nvariant = \"v\"\n";
  EXPECT_TRUE(KernelProfile::parse(Entry, "k"));
  EXPECT_TRUE(fails("", "format 0, this r3 reads 1"));
  EXPECT_TRUE(fails("format = 2\n", "format 2"));
  EXPECT_TRUE(fails("format = \"1\"\n", "'format' is no number"));
  EXPECT_TRUE(fails("format = 1\n", "key 'key' is missing"));
  EXPECT_TRUE(fails("x =\n", "k.toml: line 1: "));
  EXPECT_TRUE(fails(Head + "colour = 1\n", "line 4: unknown key 'colour'"));
  EXPECT_TRUE(fails(Head + "units = 1\n", "'units' is not an array"));
  EXPECT_TRUE(fails(Head + "units = [1]\n", "'units' is not a string"));
  EXPECT_TRUE(fails(Head + "entry = [1]\n", "an entry is not a table"));
  EXPECT_TRUE(fails(Head + "[[entry]]\n", "key 'device' is missing"));
  EXPECT_TRUE(fails(Entry + "level = \"O9\"\n", "'O9' is not one of"));
  EXPECT_TRUE(fails(Entry + "maxnreg = 256\n", "no number up to 255"));
  EXPECT_TRUE(fails(Entry + "gain = \"1\"\n", "'gain' is not a number"));
  EXPECT_TRUE(fails(Entry + "guards = [\"x\"]\n", "'=' expected"));
  EXPECT_TRUE(fails(Entry + "launch = [{target=\"w\",value=\"1\"}]\n",
                    "'w' is no target"));
  EXPECT_TRUE(fails(Entry + "specialise = {n = \"1\"}\n", "holds integers"));
}

TEST(Profile, CutAtEveryLength) {
  std::string Text = example().toml();
  for (size_t Size = 0; Size != Text.size() - 1; ++Size) {
    Expected<KernelProfile> Parsed =
        KernelProfile::parse(Text.substr(0, Size), "cut");
    // What is left may be well-formed (a cut between two lines), but then it
    // says less.
    if (Parsed) {
      EXPECT_NE(Parsed->toml(), Text) << Size;
    }
  }
}

TEST(UnitHeader, Paths) {
  EXPECT_EQ(unitHeaderPath("src/a.cu"), "units/src/a.cu.h");
  EXPECT_EQ(unitHeaderPath("../b/./a.cu"), "units/__up/b/a.cu.h");
  EXPECT_EQ(unitHeaderPath("/tmp/a.cu"), "units/tmp/a.cu.h");
}

TEST(UnitHeader, RoundTrip) {
  std::map<std::string, std::string> Kernels = {{"b-1", "text"}, {"a-2", ""}};
  std::string Text = unitHeaderText(Kernels);
  Expected<std::vector<std::string>> Folders = parseUnitHeader(Text, "h");
  ASSERT_TRUE(Folders) << Folders.error().message();
  EXPECT_EQ(*Folders, (std::vector<std::string>{"a-2", "b-1"}));
  EXPECT_NE(Text.find("extern \"C\" char __r3_profile_"), std::string::npos);
  Kernels["a-2"] = "changed";
  EXPECT_NE(unitHeaderText(Kernels), Text);
  std::string Empty = unitHeaderText({});
  EXPECT_EQ(std::count(Empty.begin(), Empty.end(), '\n'), 1);
  EXPECT_TRUE(parseUnitHeader(Empty, "h")->empty());
}

TEST(UnitHeader, Mistakes) {
  std::string Text = unitHeaderText({{"a-1", "x"}, {"b-2", "y"}});
  for (size_t Size = 0; Size != Text.size(); ++Size) {
    // The first line alone is a header without entries.
    bool FirstLine = Size == Text.find('\n') + 1;
    EXPECT_EQ(bool(parseUnitHeader(Text.substr(0, Size), "cut")), FirstLine)
        << Size;
  }
  auto fails = [&](const char *From, const char *To, const char *Why) {
    std::string Changed = Text;
    size_t At = Changed.find(From);
    Changed.replace(At, std::string(From).size(), To);
    return failsWith(parseUnitHeader(Changed, "h"), Why);
  };
  EXPECT_TRUE(fails("format 1", "format 2", "does not read"));
  EXPECT_TRUE(fails("// r3", "// x3", "not a profile header"));
  EXPECT_TRUE(fails("a-1", "../a", "entry 1 is malformed"));
  EXPECT_TRUE(fails("a-1", "a-2", "does not belong"));
  EXPECT_TRUE(failsWith(parseUnitHeader(Text + "int x;\n", "h"), "belong"));
}
