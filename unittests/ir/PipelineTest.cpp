// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares with clang itself: the same source compiled by it to PTX, and to
// unoptimised bitcode from which the same PTX has to come out here.
#include "plugin/ir/Pipeline.h"

#include "plugin/ir/Closure.h"
#include "runtime/support/Files.h"
#include "runtime/support/Process.h"

#include "Parse.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <filesystem>
#include <fstream>
#include <set>

using namespace llvm;
using namespace r3;

static const char *const Source = R"(
static __device__ float weight(float x) { return expf(x) * 0.5f + x * x; }
extern "C" __global__ void __launch_bounds__(256)
k(int n, const float *__restrict__ in, float *__restrict__ out, float s) {
  __shared__ float tile[256];
  extern __shared__ float rest[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? in[i] : 0.0f;
  rest[threadIdx.x] = tile[threadIdx.x] * s;
  __syncthreads();
  float sum = 0;
  for (int j = 0; j < 64; ++j)
    sum += weight(tile[(threadIdx.x + j) & 255]) * s + rest[j];
  struct { float a[4]; } copy = {};
  for (int j = 0; j < 4; ++j)
    copy.a[j] = sum * j;
  if (i < n)
    out[i] = copy.a[n & 3] + sqrtf(sum);
}
)";

namespace {

class Pipeline : public testing::Test {
protected:
  void SetUp() override {
    auto Made = createPrivateFolder(testing::TempDir() + "r3-pipeline-");
    ASSERT_TRUE(Made) << Made.error().message();
    Folder = *Made;
    std::ofstream(Folder + "/k.cu") << Source;
  }
  void TearDown() override { std::filesystem::remove_all(Folder); }

  std::string clang(const std::string &Level,
                    const std::vector<std::string> &More) {
    SpawnOptions Options;
    Options.Arguments = {R3_CLANG,
                         "--cuda-path=" R3_CUDA,
                         "--cuda-gpu-arch=sm_90",
                         "-Wno-unknown-cuda-version",
                         "--cuda-device-only",
                         "-S",
                         "-" + Level,
                         Folder + "/k.cu",
                         "-o",
                         "-"};
    Options.Arguments.insert(Options.Arguments.end(), More.begin(), More.end());
    auto Result = runProcess(Options);
    EXPECT_TRUE(Result && Result->Status.ok())
        << (Result ? Result->Err : Result.error().message());
    return Result ? Result->Out : "";
  }

  std::unique_ptr<Module> unoptimised(const std::string &Level) {
    return parseDevice(Context, clang(Level, {"-emit-llvm", "-Xclang",
                                              "-disable-llvm-passes"}));
  }

  LLVMContext Context;
  std::string Folder;
};

} // namespace

static std::string generate(Module &M, TargetMachine &Machine) {
  SmallString<0> Text;
  raw_svector_ostream Out(Text);
  legacy::PassManager Passes;
  EXPECT_FALSE(Machine.addPassesToEmitFile(Passes, Out, nullptr,
                                           CodeGenFileType::AssemblyFile));
  Passes.run(M);
  return Text.str().str();
}

/// Without the comment at the top, which names the generator.
static std::string body(const std::string &Ptx) {
  size_t At = Ptx.find(".version");
  return At == std::string::npos ? "" : Ptx.substr(At);
}

TEST_F(Pipeline, defaultLevelsGiveClangsPtx) {
  for (const char *Level : {"O1", "O2", "O3"}) {
    auto M = unoptimised(Level); // loops are not to be unrolled at O1
    ASSERT_TRUE(M);
    auto Closure = ir::extractClosure(*M, "k");
    ASSERT_TRUE(Closure) << Closure.error().message();
    auto Machine = ir::createTargetMachine(**Closure, Level);
    ASSERT_TRUE(Machine) << Machine.error().message();
    (*Machine)->Options.MCOptions.AsmVerbose = true; // as clang
    r3::Error Problem = ir::runPipeline(
        **Closure, **Machine, std::string("default<") + Level + ">", Level);
    ASSERT_FALSE(Problem) << Problem.message();
    std::string Ours = body(generate(**Closure, **Machine));
    EXPECT_NE(Ours.find(".entry k("), std::string::npos);
    EXPECT_EQ(body(clang(Level, {})), Ours) << Level;
  }
}

TEST_F(Pipeline, printedPipelinesParse) {
  auto M = unoptimised("O2");
  ASSERT_TRUE(M);
  for (const char *Level : {"O1", "O2", "O3", "Os"}) {
    auto Closure = ir::extractClosure(*M, "k");
    auto Machine = ir::createTargetMachine(**Closure, Level);
    ASSERT_TRUE(Machine);
    auto Text = ir::printDefaultPipeline(**Closure, **Machine, Level);
    ASSERT_TRUE(Text) << Text.error().message();
    EXPECT_NE(Text->find("instcombine"), std::string::npos);
    EXPECT_EQ(Text->find(";verify-fixpoint"), std::string::npos);
    r3::Error Problem = ir::runPipeline(**Closure, **Machine, *Text, Level);
    EXPECT_FALSE(Problem) << Problem.message();
  }
}

namespace {
struct MarkPass : PassInfoMixin<MarkPass> {
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    M.getOrInsertNamedMetadata("mark");
    return PreservedAnalyses::all();
  }
};
} // namespace

TEST_F(Pipeline, knowsPassesThatWereAdded) {
  auto M = unoptimised("O2");
  ASSERT_TRUE(M);
  auto Machine = ir::createTargetMachine(*M, "O2");
  ASSERT_TRUE(Machine);
  const char *Text = "mark<2>,function(sroa)";
  EXPECT_TRUE(ir::runPipeline(*M, **Machine, Text, "O2"));
  ir::addPassParser([](StringRef Name, ModulePassManager &Manager) {
    if (Name != "mark<2>")
      return false;
    Manager.addPass(MarkPass());
    return true;
  });
  EXPECT_FALSE(ir::runPipeline(*M, **Machine, Text, "O2"));
  EXPECT_TRUE(M->getNamedMetadata("mark"));
  EXPECT_TRUE(ir::runPipeline(*M, **Machine, "mark<3>", "O2"));
}

TEST_F(Pipeline, makesSoManyRunsOfPassesAndNamesTheNext) {
  auto Whole = unoptimised("O2");
  ASSERT_TRUE(Whole);
  const auto run = [&](uint64_t Limit, const char *Text) {
    auto M = CloneModule(*Whole);
    auto Machine = ir::createTargetMachine(*M, "O2");
    ir::PassCounter Counter;
    Counter.Limit = Limit;
    EXPECT_FALSE(ir::runPipeline(*M, **Machine, Text, "O2", {}, &Counter));
    return Counter;
  };
  const char *Text = "function(sroa,loop(indvars)),globaldce";
  const ir::PassCounter All = run(UINT64_MAX, Text);
  EXPECT_GT(All.Runs, 2u);
  EXPECT_TRUE(All.NextPass.empty());
  const ir::PassCounter None = run(0, Text);
  // The prefix of device code counts, too.
  EXPECT_EQ(None.NextPass, "nvvm-reflect");
  EXPECT_EQ(None.NextPlace, "the module");
  const ir::PassCounter Last = run(All.Runs - 1, Text);
  EXPECT_EQ(Last.NextPass, "globaldce");
  std::set<std::string> Places;
  for (uint64_t Limit = 0; Limit < All.Runs; ++Limit)
    Places.insert(run(Limit, Text).NextPlace.substr(0, 9));
  EXPECT_TRUE(Places.count("function "));
  EXPECT_GT(run(UINT64_MAX, "default<O2>").Runs, 50u);
}

TEST_F(Pipeline, optimisesWhatWasCompiledAtO0) {
  auto M = unoptimised("O0");
  ASSERT_TRUE(M);
  auto Machine = ir::createTargetMachine(*M, "O2");
  ASSERT_TRUE(Machine);
  ASSERT_FALSE(ir::runPipeline(*M, **Machine, "function(sroa)", "O2"));
  const Function *F = M->getFunction("k");
  for (const BasicBlock &Block : *F)
    for (const Instruction &I : Block) {
      const auto *Slot = dyn_cast<AllocaInst>(&I);
      EXPECT_FALSE(Slot && Slot->getAllocatedType()->isPointerTy());
    }
}

TEST(PipelineText, isRefusedWithLlvmsReason) {
  LLVMContext Context;
  auto M =
      parseDevice(Context, "define ptx_kernel void @k() #0 { ret void }\n"
                           "attributes #0 = { \"target-cpu\"=\"sm_90\" }\n");
  auto Machine = ir::createTargetMachine(*M, "O2");
  ASSERT_TRUE(Machine);
  r3::Error Problem = ir::runPipeline(*M, **Machine, "no-such-pass", "O2");
  ASSERT_TRUE(Problem);
  EXPECT_EQ(Problem.code(), ErrorCode::Usage);
  EXPECT_NE(Problem.message().find("no-such-pass"), std::string::npos);
  EXPECT_TRUE(ir::runPipeline(*M, **Machine, "", "O7"));
}
