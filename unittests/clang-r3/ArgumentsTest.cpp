// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Command lines as clang-r3 reads them, among them all options of clang.
#include "wrapper/clang-r3/Arguments.h"

#include "llvm/ADT/StringTable.h"

#include <gtest/gtest.h>
#include <map>
#include <string_view>

using namespace r3;
using namespace r3::clangr3;

namespace {

// clang's own list: spelling, kind, whom it is for.
#define OPTTABLE_STR_TABLE_CODE
#include "clang/Options/Options.inc"
#undef OPTTABLE_STR_TABLE_CODE

struct ClangOption {
  unsigned Name;
  std::string_view Kind, Visibility;
  unsigned Parameters;
};
constexpr ClangOption ClangOptions[] = {
#define OPTION(Prefixes, Name, Id, Kind, Group, Alias, AliasArguments, Flags,  \
               Visibility, Parameters, ...)                                    \
  {Name, #Kind, #Visibility, Parameters},
#include "clang/Options/Options.inc"
#undef OPTION
};

CommandLine parse(const std::vector<std::string> &Words,
                  const std::map<std::string, std::string> &Files = {}) {
  Expected<CommandLine> Line =
      parseCommandLine(Words, [&](const std::string &Path) {
        auto Found = Files.find(Path);
        return Found == Files.end()
                   ? Expected<std::string>(Error(ErrorCode::NotFound, "none"))
                   : Expected<std::string>(Found->second);
      });
  EXPECT_TRUE(bool(Line)) << (Line ? "" : Line.error().message());
  return Line ? *Line : CommandLine{};
}

std::string messageOf(const std::vector<std::string> &Words) {
  Expected<CommandLine> Line = parseCommandLine(Words, [](const std::string &) {
    return Expected<std::string>(Error(ErrorCode::NotFound, "none"));
  });
  return Line ? "" : Line.error().message();
}

std::vector<std::string> paths(const CommandLine &Line) {
  std::vector<std::string> Found;
  for (const Input &I : Line.Inputs)
    Found.push_back(I.Path);
  return Found;
}

using Words = std::vector<std::string>;

// Whatever clang takes as a value must not look like an input, and whatever it
// takes as an input must.
TEST(Arguments, AgreesWithClangOnEveryOption) {
  unsigned Checked = 0;
  for (const ClangOption &O : ClangOptions) {
    std::string Name(OptionStrTable[O.Name]);
    if (O.Visibility.find("DefaultVis") == std::string_view::npos ||
        Name.empty() || Name[0] != '-' || Name.find('<') != std::string::npos)
      continue;
    Words Line = {Name};
    size_t Inputs = 1;
    if (O.Kind == "Flag")
      ;
    else if (O.Kind == "Joined" || O.Kind == "CommaJoined")
      Line = {Name + "x"};
    else if (O.Kind == "Separate" || O.Kind == "JoinedOrSeparate")
      Line.push_back("value.cu");
    else if (O.Kind == "JoinedAndSeparate")
      Line = {Name + "x", "value.cu"};
    else if (O.Kind == "MultiArg")
      Line.insert(Line.end(), O.Parameters, "value.cu");
    else
      continue;
    Line.push_back("source.cu");
    CommandLine Read = parse(Line);
    EXPECT_EQ(paths(Read), Words(Inputs, "source.cu")) << Name;
    bool IsOutput = Name == "-o" || Name == "--output" || Name == "--output=";
    EXPECT_EQ(Read.Output.empty(), !IsOutput) << Name;
    ++Checked;
  }
  EXPECT_GT(Checked, 1000u);
}

TEST(Arguments, FindsInputsAndLanguages) {
  CommandLine Line = parse({"a.cu", "-x", "cuda", "b.cpp", "-x", "none",
                            "c.cpp", "d.o", "-", "-xc", "e.cu"});
  ASSERT_EQ(Line.Inputs.size(), 6u);
  std::vector<bool> Cuda, Linker;
  for (const Input &I : Line.Inputs) {
    Cuda.push_back(I.isCuda());
    Linker.push_back(I.isForLinker());
  }
  EXPECT_EQ(Cuda, (std::vector<bool>{true, true, false, false, false, false}));
  EXPECT_EQ(Linker,
            (std::vector<bool>{false, false, false, true, false, false}));
}

TEST(Arguments, KnowsHowFarTheCommandGoes) {
  EXPECT_EQ(parse({"a.cpp"}).Goal, Action::Link);
  EXPECT_EQ(parse({"-c", "a.cpp"}).Goal, Action::Compile);
  EXPECT_EQ(parse({"-S", "a.cpp"}).Goal, Action::Compile);
  EXPECT_EQ(parse({"-E", "-c", "a.cpp"}).Goal, Action::Preprocess);
  EXPECT_EQ(parse({"-c", "-M", "a.cpp"}).Goal, Action::Dependencies);
  EXPECT_EQ(parse({"-fsyntax-only", "a.cpp"}).Goal, Action::SyntaxOnly);
  EXPECT_TRUE(parse({"-cc1", "a.cpp"}).IsFrontend);
  EXPECT_TRUE(parse({"--driver-mode=cl", "a.cpp"}).IsFrontend);
  EXPECT_FALSE(parse({"--driver-mode=g++", "a.cpp"}).IsFrontend);
}

TEST(Arguments, NamesDependencyFiles) {
  auto files = [](const Words &Line) { return parse(Line).DependencyFiles; };
  EXPECT_EQ(files({"-c", "a.cpp"}), Words{});
  EXPECT_EQ(files({"-MD", "-c", "s/a.cpp"}), Words{"a.d"});
  EXPECT_EQ(files({"-MMD", "-c", "a.cpp", "-o", "o/x.o"}), Words{"o/x.d"});
  EXPECT_EQ(files({"-MD", "-MF", "y.d", "-c", "a.cpp"}), Words{"y.d"});
  EXPECT_EQ(files({"-MMD", "-MFy.d", "-c", "a.cpp"}), Words{"y.d"});
  EXPECT_EQ(files({"-MM", "a.cpp"}), Words{"-"});
  EXPECT_EQ(files({"-M", "a.cpp", "-o", "z.d"}), Words{"z.d"});
  EXPECT_EQ(files({"-Wp,-MD,w.d", "-c", "a.cpp"}), Words{"w.d"});
  EXPECT_EQ(files({"-MD", "-c", "a.cpp", "b.cu"}), (Words{"a.d", "b.d"}));
}

TEST(Arguments, ReadsResponseFiles) {
  EXPECT_EQ(splitResponseFile("a 'b c' \"d\\\"e\" f\\ g\n\th''"),
            (Words{"a", "b c", "d\"e", "f g", "h"}));
  EXPECT_EQ(splitResponseFile("''"), Words{""});
  std::map<std::string, std::string> Files = {
      {"r", "-c @s -o x.o"}, {"s", "a.cu"}, {"loop", "@loop"},
      {"own", "--r3-strict -c b.cu"}, {"end", "-- c.cu"}};
  CommandLine Line = parse({"@r"}, Files);
  EXPECT_EQ(paths(Line), Words{"a.cu"});
  EXPECT_EQ(Line.Output, "x.o");
  EXPECT_EQ(Line.Given, Words{"@r"});
  EXPECT_EQ(paths(parse({"@none"}, Files)), Words{"@none"});
  EXPECT_EQ(paths(parse({"@loop"}, Files)), Words{"@loop"});
  CommandLine Own = parse({"@own"}, Files);
  EXPECT_TRUE(Own.Strict);
  EXPECT_EQ(Own.Given, (Words{"-c", "b.cu"}));
  EXPECT_FALSE(parse({"@end"}, Files).MayAddAtEnd);
}

TEST(Arguments, StopsAtTwoDashes) {
  CommandLine Line = parse({"-c", "--", "-o", "--r3-strict"});
  EXPECT_EQ(paths(Line), (Words{"-o", "--r3-strict"}));
  EXPECT_EQ(Line.AddAt, 1u);
  EXPECT_FALSE(Line.Strict);
}

TEST(Arguments, TakesItsOwnFlagsOut) {
  CommandLine Line = parse({"--r3-mode=use", "-c", "--r3-use=p", "a.cu",
                            "-Wno-r3-x", "-Wno-r3", "-Wr3"});
  EXPECT_EQ(Line.How, Mode::Use);
  EXPECT_EQ(Line.Profile, "p");
  EXPECT_EQ(Line.Given, (Words{"-c", "a.cu"}));
  EXPECT_TRUE(Line.Silenced.contains("x"));
  EXPECT_FALSE(Line.SilenceAll);
  EXPECT_EQ(messageOf({"--r3-mode=x"}),
            "--r3-mode: 'x' is none of record, use, off");
  EXPECT_EQ(messageOf({"--r3-stric"}),
            "unknown flag --r3-stric; did you mean --r3-strict?");
  EXPECT_EQ(messageOf({"--r3-help=1"}), "--r3-help takes no value");
  EXPECT_EQ(messageOf({"--r3-use="}), "--r3-use=DIR needs a folder");
}

TEST(Arguments, LeavesMissingValuesToClang) {
  EXPECT_EQ(paths(parse({"a.cu", "-o"})), Words{"a.cu"});
  EXPECT_EQ(paths(parse({"a.cu", "-sectcreate", "x"})), Words{"a.cu"});
  EXPECT_TRUE(parse({}).Inputs.empty());
}

} // namespace
