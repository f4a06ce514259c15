// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What nvcc makes of units that clang-r3 compiled: each kernel's PTX is
// assembled in the recorded kernel's place.
#include "wrapper/replay/Nvcc.h"
#include "wrapper/replay/CompileLink.h"
#include "wrapper/replay/PtxParts.h"

#include "runtime/support/Files.h"
#include "runtime/support/Process.h"
#include "runtime/support/Toolkit.h"
#include "runtime/support/Unit.h"
#include "runtime/support/Variant.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

using namespace r3;
using namespace r3::replay;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

namespace {

class NvccTest : public ::testing::Test {
protected:
  void SetUp() override {
    if (toolkitPrograms("nvcc").empty())
      GTEST_SKIP() << "no nvcc";
    if (!std::filesystem::exists(installationPath("lib/libR3.so")))
      GTEST_SKIP() << "no plugin in this build";
    auto Made = PrivateFolder::make("r3-nvcc-test-");
    ASSERT_TRUE(Made) << Made.error().message();
    Folder = std::make_unique<PrivateFolder>(std::move(*Made));
    auto Text = readTextFile(R3_TEST_NVCC);
    ASSERT_TRUE(Text);
    write("unit.cu", *Text);
    write("headers/factor.h", "#define FACTOR TIMES\n");
  }
  void write(const std::string &Name, const std::string &Text) {
    const auto Path = std::filesystem::path(Folder->path()) / Name;
    std::filesystem::create_directories(Path.parent_path());
    ASSERT_FALSE(writeFileAtomically(Path.string(), Text));
  }
  void compile(const std::vector<std::string> &More = {}) {
    SpawnOptions O;
    O.Arguments = {installationPath("bin/clang-r3"),
                   "--cuda-path=" R3_TEST_CUDA,
                   "--cuda-gpu-arch=sm_90",
                   "-O2",
                   "-std=c++17",
                   "-Iheaders",
                   "-DTIMES=3",
                   "-c",
                   "unit.cu",
                   "-o",
                   "unit.o"};
    O.Arguments.insert(O.Arguments.end(), More.begin(), More.end());
    O.Directory = Folder->path();
    auto Run = runProcess(O);
    ASSERT_TRUE(Run && Run->Status.ok()) << (Run ? Run->Err : "");
    auto Units = readUnits(Folder->path() + "/unit.o");
    ASSERT_TRUE(Units && Units->size() == 1);
    U = std::move(Units->front());
  }
  /// The kernel that is displayed so.
  Build nvcc(const std::string &Display) {
    for (const UnitKernel &K : U.Kernels)
      if (K.Display.find(Display) != std::string::npos)
        return nvcc(K);
    ADD_FAILURE() << Display;
    return {};
  }
  Build nvcc(const UnitKernel &K) {
    CompileJob Job{"cuda", K.Name, "sm_90", U.Level, U.Modules[0].Bitcode};
    Job.Command = U.Commands["sm_90"];
    Job.Root = Folder->path();
    Job.Source = U.Source;
    Link.setJob(std::move(Job));
    return Link.nvcc(120000);
  }
  Build assemble(const Build &Made) {
    Variant V;
    V.Ptx = text(Made);
    V.PtxasLevel = "O3";
    return Link.build(V.canonicalJson(), 60000);
  }
  static std::string text(const Build &B) {
    return {B.Binary.begin(), B.Binary.end()};
  }

  std::unique_ptr<PrivateFolder> Folder;
  Unit U;
  Children All;
  CompileLink Link{installationPath("libexec/r3/r3-compile"),
                   /*GraceMs=*/10000, All};
};

TEST_F(NvccTest, EachKernelStandsInItsPlace) {
  compile();
  ASSERT_EQ(U.Kernels.size(), 6u);
  ASSERT_EQ(U.Globals.size(), 3u);
  size_t Variables = 0;
  for (const UnitKernel &K : U.Kernels) {
    Build Made = nvcc(K);
    ASSERT_EQ(Made.Ending, Outcome::Ok) << K.Display << ": " << Made.Message;
    EXPECT_THAT(text(Made), HasSubstr(".entry " + K.Name + "("));
    EXPECT_THAT(text(Made), HasSubstr("NVIDIA NVVM Compiler"));
    for (const UnitGlobal &G : U.Globals)
      Variables += text(Made).find(" " + G.Name) != std::string::npos;
    Build Cubin = assemble(Made);
    EXPECT_EQ(Cubin.Ending, Outcome::Ok) << K.Display << ": " << Cubin.Message;
    EXPECT_GT(Cubin.Registers, 0u) << K.Display;
  }
  EXPECT_EQ(Variables, 3u); // each in one kernel, under its recorded name
}

TEST_F(NvccTest, OptionsReachNvcc) {
  compile();
  EXPECT_THAT(text(nvcc("plain")), HasSubstr("0f40400000")); // 3
  compile({"-UTIMES", "-DTIMES=5", "-ffast-math"});
  EXPECT_THAT(text(nvcc("plain")), HasSubstr("0f40A00000"));
  EXPECT_THAT(text(nvcc("calling")), HasSubstr("sin.approx.ftz.f32"));
}

TEST_F(NvccTest, SaysWhatItCannotCompile) {
  compile({"-DNOT_FOR_NVCC"});
  Build Made = nvcc("plain");
  EXPECT_EQ(Made.Ending, Outcome::BuildFailed);
  EXPECT_THAT(Made.Message, HasSubstr("nvcc: unit.cu"));
  EXPECT_THAT(Made.Message, HasSubstr("made for clang"));
  compile({"-fno-signed-char"});
  Made = nvcc("plain");
  EXPECT_EQ(Made.Ending, Outcome::Refused);
  EXPECT_THAT(Made.Message, HasSubstr("-fno-signed-char"));
}

TEST_F(NvccTest, TheSourceIsTheRecordedOne) {
  compile();
  write("headers/factor.h", "#define FACTOR 7\n");
  Build Made = nvcc("plain");
  EXPECT_EQ(Made.Ending, Outcome::Refused) << Made.Message;
  EXPECT_THAT(Made.Message,
              HasSubstr("the source on disk is not the recorded one"));
}

TEST(Nvcc, OptionsOfClangAreTranslated) {
  const std::vector<std::string> Command = {
      "clang",
      "-cc1",
      "-O2",
      "-include",
      "__clang_cuda_runtime_wrapper.h",
      "-D__CUDA_ARCH_LIST__=900",
      "-D",
      "A=1",
      "-UB",
      "-I",
      "x",
      "-Iy",
      "-isystem",
      "s",
      "-iquote",
      "q",
      "-internal-isystem",
      "/usr/include",
      "-include",
      "/p/r3.profile/units/a.cu.h",
      "-include",
      "own.h",
      "-std=c++20",
      "-mllvm",
      "-Dinner",
      "-ffp-contract=off",
      "-fdenormal-fp-math-f32=preserve-sign,preserve-sign",
      "-x",
      "cuda",
      "a.cu"};
  auto Options = nvccOptions(Command);
  ASSERT_TRUE(Options) << Options.error().message();
  EXPECT_THAT(*Options,
              ElementsAre("-D", "A=1", "-U", "B", "-I", "x", "-I", "y",
                          "-isystem", "s", "-Xcompiler", "-iquote",
                          "-Xcompiler", "q", "-include", "own.h", "-std=c++20",
                          "-fmad=false", "-ftz=true"));
  EXPECT_THAT(nvccOptions({"-fgpu-rdc"}).error().message(),
              HasSubstr("-fgpu-rdc"));
}

TEST(Nvcc, TheKernelThatReadsTheSameIsMeant) {
  const std::string Clang = ".visible .global .u32 _ZL4kept__r3_0123abcd;\n"
                            ".visible .entry _ZL1kPf__intern__89ab() {}\n",
                    One = ".entry _Z1kPf() { ld.global [kept]; }\n",
                    Two = ".entry _ZN13_INTERNAL_0a_1kEPf() {}\n",
                    Kernel = "_ZL1kPf__intern__89ab";
  auto Found = kernelOfNvcc(
      ".global .u32 kept;\n" + One + ".entry _Z1lv() {}\n", Clang, Kernel);
  ASSERT_TRUE(Found) << Found.error().message();
  EXPECT_EQ(*Found, ".global .u32 _ZL4kept__r3_0123abcd;\n.entry " + Kernel +
                        "() { ld.global [_ZL4kept__r3_0123abcd]; }\n");
  EXPECT_TRUE(kernelOfNvcc(One + Two, Clang, "_Z1kPf")); // by its very name
  EXPECT_THAT(kernelOfNvcc(One + Two, Clang, Kernel).error().message(),
              HasSubstr("nvcc's PTX has several kernels k(float*)"));
  EXPECT_THAT(kernelOfNvcc(One, Clang, "_Z1kPd").error().message(),
              HasSubstr("nvcc's PTX has no kernel k(double*)"));
}

TEST(PtxParts, AreTheTextAgain) {
  const std::string Text =
      "// made; by {hand\n.version 8.8\n.target sm_90 // t\n"
      ".address_size 64\n"
      ".extern .func (.param .b8 r[8]) far\n(\n.param .b64 a\n)\n;\n"
      ".global .align 4 .b8 used[8] = {1, 2};\n.global .u32 unused;\n"
      ".shared .align 4 .b8 tile[64];\n"
      ".func near() { call.uni far, (used); { ret; } }\n"
      ".visible .entry one(.param .u64 a)\n.maxntid 1\n"
      "{ call.uni near, (); st.shared [tile], 1; }\n"
      ".entry two() { ld.global [unused]; }\n/* end */";
  const auto Parts = ptxParts(Text);
  std::string All, Names;
  for (const PtxPart &P : Parts) {
    All += P.Text;
    Names += P.Name + (P.Name.empty() ? "" : " ");
  }
  EXPECT_EQ(All, Text);
  EXPECT_EQ(Names, "far used unused tile near one two ");
  const std::string One =
      kernelAlone(Parts, "one", {{"one", "_Z3onePf"}, {"used", "own"}});
  for (const char *There : {".address_size 64", ".entry _Z3onePf(", " far\n",
                            "near", "tile", "b8 own[8]", "(own)"})
    EXPECT_THAT(One, HasSubstr(There));
  for (const char *Gone : {"two", "unused", "used"})
    EXPECT_THAT(One, Not(HasSubstr(Gone)));
}

} // namespace
