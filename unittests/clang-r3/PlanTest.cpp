// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is added to a command, and the small parts that decide it.
#include "wrapper/clang-r3/Plan.h"

#include "runtime/support/Files.h"
#include "runtime/support/Profile.h"
#include "wrapper/clang-r3/Dependencies.h"
#include "wrapper/clang-r3/OffloadScan.h"
#include "wrapper/clang-r3/Reporter.h"
#include "wrapper/clang-r3/Toolkit.h"

#include <algorithm>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>

using namespace r3;
using namespace r3::clangr3;
namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

class PlanTest : public testing::Test {
protected:
  PlanTest() {
    Folder = fs::canonical(
        *createPrivateFolder(testing::TempDir() + "/r3-plan-")).string();
    write("cuda/include/cuda.h", "#define CUDA_VERSION 13000\n");
    write("cuda/include/cccl/x", "");
    write("old/include/cuda.h", "#define CUDA_VERSION 12040\n");
  }
  ~PlanTest() override { fs::remove_all(Folder); }

  void write(const std::string &Name, const std::string &Text) {
    fs::create_directories(fs::path(path(Name)).parent_path());
    std::ofstream(path(Name)) << Text;
  }
  std::string path(const std::string &Name) { return Folder + "/" + Name; }
  std::string text(const std::string &Name) { return *readTextFile(path(Name)); }

  Plan plan(Words Line) {
    Expected<CommandLine> Read = parseCommandLine(
        Line, [](const std::string &Path) { return readTextFile(Path); });
    return makePlan(*Read, {"clang++", "libR3.so", "", ""});
  }
  static bool has(const Words &Command, const std::string &Word) {
    return std::count(Command.begin(), Command.end(), Word);
  }

  std::string Folder;
};

TEST_F(PlanTest, AddsNothingWhereNothingIsCompiled) {
  for (const Words &Line : {Words{}, {"--version"}, {"a.o", "-o", "app"},
                            {"-E", "a.cpp"}, {"-cc1", "a.cu"}}) {
    Plan Work = plan(Line);
    Words Same = {"clang++"};
    Same.insert(Same.end(), Line.begin(), Line.end());
    EXPECT_EQ(Work.Command, Same);
    EXPECT_FALSE(Work.UsesPlugin);
  }
}

TEST_F(PlanTest, RepairsWhatCuda13NeedsAndNothingElse) {
  std::string Cuda = "--cuda-path=" + path("cuda");
  Words Command = plan({Cuda, "-c", "a.cu"}).Command;
  EXPECT_TRUE(has(Command, "--cuda-gpu-arch=sm_75"));
  EXPECT_TRUE(has(Command, path("cuda/include/cccl")));
  EXPECT_TRUE(has(Command, "-fpass-plugin=libR3.so"));
  Command = plan({Cuda, "-c", "a.cu", "--offload-arch=sm_90"}).Command;
  EXPECT_FALSE(has(Command, "--cuda-gpu-arch=sm_75"));
  Command = plan({Cuda, "-nogpuinc", "-c", "a.cu"}).Command;
  EXPECT_FALSE(has(Command, "-idirafter"));
  Command = plan({"--cuda-path=" + path("old"), "-c", "a.cu"}).Command;
  EXPECT_FALSE(has(Command, "--cuda-gpu-arch=sm_75"));
  EXPECT_FALSE(has(Command, "-idirafter"));
  Command = plan({Cuda, "-c", "a.cpp"}).Command;
  EXPECT_FALSE(has(Command, "-Wno-unknown-cuda-version"));
  EXPECT_TRUE(has(Command, "-fpass-plugin=libR3.so"));
}

TEST_F(PlanTest, KeepsAPlainCommandForASecondTry) {
  Plan Work = plan({"--cuda-path=" + path("cuda"), "-c", "a.cu"});
  EXPECT_FALSE(has(Work.PlainCommand, "-fpass-plugin=libR3.so"));
  EXPECT_TRUE(has(Work.PlainCommand, "--cuda-gpu-arch=sm_75"));
}

TEST_F(PlanTest, IncludesTheUnitHeaderLast) {
  write("p/r3.toml", "");
  write("p/src/a.cu", "");
  Plan Work = plan({"-c", path("p/src/a.cu"), "-include", "x.h"});
  std::string Header = path("p/r3.profile/units/src/a.cu.h");
  ASSERT_EQ(Work.Headers, Words{Header});
  EXPECT_TRUE(fs::exists(Header));
  auto At = std::find(Work.Command.begin(), Work.Command.end(), Header);
  EXPECT_GT(At, std::find(Work.Command.begin(), Work.Command.end(), "x.h"));
  EXPECT_TRUE(has(Work.Command, "-r3-profile-header=" + Header));
  EXPECT_TRUE(has(Work.PlainCommand, Header));

  Work = plan({"--r3-mode=use", "-c", path("p/src/a.cu")});
  EXPECT_TRUE(has(Work.Command, "-r3-mode=use"));
  Work = plan({"--r3-mode=off", "-c", path("p/src/a.cu")});
  EXPECT_TRUE(Work.Headers.empty());
}

TEST_F(PlanTest, SaysWhereAProfileIsNotApplied) {
  write("p/r3.toml", "");
  write("p/a.cu", "");
  write("p/b.cu", "");
  std::string Header = "p/r3.profile/units/a.cu.h";
  Words Line = {"-c", path("p/a.cu"), path("p/b.cu")};
  EXPECT_TRUE(plan(Line).Remarks.empty());
  write(Header, unitHeaderText({{"k-00000000", "format = 1\n"}}));
  Plan Work = plan(Line);
  ASSERT_EQ(Work.Remarks.size(), 1u);
  EXPECT_EQ(Work.Remarks[0].Reason, "profile-not-applied");
  EXPECT_FALSE(has(Work.Command, "-mllvm"));
}

TEST_F(PlanTest, FindsTheToolkitAsClangDoes) {
  write("cuda/bin/ptxas", "");
  EXPECT_EQ(findToolkit("", "/none:" + path("cuda/bin")).Path,
            fs::canonical(path("cuda")).string());
  EXPECT_EQ(findToolkit(path("old"), path("cuda/bin")).Version, 12040u);
  EXPECT_EQ(findToolkit(path("none"), "").Version, 0u);
}

// A script in PATH that calls the toolkit's ptxas stands in no toolkit.
TEST_F(PlanTest, LooksForHeadersWhereAnAssemblerIs) {
  write("scripts/bin/ptxas", "");
  write("cuda/bin/ptxas", "");
  std::string Scripts = path("scripts/bin"), Root = path("root");
  EXPECT_EQ(findToolkit("", Scripts, Root).Path, "");
  // The one behind the script is not clang's choice: clang asks the first.
  Toolkit Behind = findToolkit("", Scripts + ":" + path("cuda/bin"), Root);
  EXPECT_EQ(Behind.Path, path("cuda"));
  EXPECT_FALSE(Behind.FoundByClang);
  write("root/usr/local/cuda-12.4/include/cuda.h",
        "#define CUDA_VERSION 12040\n");
  Toolkit Versioned = findToolkit("", Scripts, Root);
  EXPECT_EQ(Versioned.Path, path("root/usr/local/cuda-12.4"));
  EXPECT_FALSE(Versioned.FoundByClang);
  fs::create_directory_symlink("cuda-12.4", path("root/usr/local/cuda"));
  Toolkit Usual = findToolkit("", Scripts + ":" + path("cuda/bin"), Root);
  EXPECT_EQ(Usual.Path, path("root/usr/local/cuda"));
  EXPECT_TRUE(Usual.FoundByClang);
}

TEST_F(PlanTest, FindsOffloadCodeInCutObjectsWithoutHarm) {
  // An object with one section, ".llvm.offloading".
  std::string Names = std::string(1, '\0') + ".llvm.offloading" + '\0' +
                      ".shstrtab" + '\0';
  Elf64_Ehdr Header = {};
  memcpy(Header.e_ident, ELFMAG, SELFMAG);
  Header.e_ident[EI_CLASS] = ELFCLASS64;
  Header.e_shoff = sizeof(Header);
  Header.e_shnum = 3;
  Header.e_shstrndx = 2;
  Elf64_Shdr Sections[3] = {};
  Sections[1].sh_name = 1;
  Sections[2].sh_name = 18;
  Sections[2].sh_offset = sizeof(Header) + sizeof(Sections);
  Sections[2].sh_size = Names.size();
  std::string Object(reinterpret_cast<char *>(&Header), sizeof(Header));
  Object.append(reinterpret_cast<char *>(Sections), sizeof(Sections));
  Object += Names;
  write("whole.o", Object);
  EXPECT_TRUE(holdsOffloadCode(path("whole.o")));
  for (size_t Size = 0; Size < Object.size(); ++Size) {
    write("cut.o", Object.substr(0, Size));
    // The name is complete from here on; what follows it is not needed.
    bool Named = Size >= Object.size() - std::string(".shstrtab").size() - 1;
    EXPECT_EQ(holdsOffloadCode(path("cut.o")), Named) << Size;
  }
  EXPECT_FALSE(holdsOffloadCode(path("none.o")));
  EXPECT_FALSE(holdsOffloadCode(Folder));
  write("lib/libx.a", "");
  EXPECT_EQ(findArchive("x", {path("none"), path("lib")}), path("lib/libx.a"));
  EXPECT_EQ(findArchive(":libx.a", {path("lib")}), path("lib/libx.a"));
  write("lib/libx.so", "");
  EXPECT_EQ(findArchive("x", {path("lib")}), "");
}

TEST_F(PlanTest, AddsPhonyRulesOnce) {
  write("a.d", "a.o: a.cu p/a\\ b.h\n");
  Words Headers = {"p/a b.h", "p/other.h"};
  EXPECT_FALSE(addPhonyRules(path("a.d"), Headers));
  EXPECT_EQ(text("a.d"), "a.o: a.cu p/a\\ b.h\n\np/a\\ b.h:\n");
  EXPECT_FALSE(addPhonyRules(path("a.d"), Headers));
  EXPECT_EQ(text("a.d"), "a.o: a.cu p/a\\ b.h\n\np/a\\ b.h:\n");
  EXPECT_FALSE(addPhonyRules(path("none.d"), Headers));
  EXPECT_EQ(phonyRule("a#$b"), "a\\#$$b:\n");
}

TEST_F(PlanTest, SaysThingsOnceABuild) {
  EXPECT_TRUE(isFirst(path("said"), "x"));
  EXPECT_FALSE(isFirst(path("said"), "x"));
  EXPECT_TRUE(isFirst(path("said"), "y"));
  // A folder that others can write is not trusted.
  chmod(path("said").c_str(), 0777);
  EXPECT_TRUE(isFirst(path("said"), "x"));
  EXPECT_EQ(buildIdentity(), buildIdentity());
  EXPECT_NE(buildIdentity().find('@'), std::string::npos);
}

} // namespace
