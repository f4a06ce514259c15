// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables: what is served is what the page says, and errors have the names
// that the installed toolkit gives them.
#include "unittests/cudart/Served.h"
#include "runtime/support/Files.h"

#include <dlfcn.h>
#include <set>
#include <vector>

using namespace r3;

namespace {
struct Row {
  std::string Name;
  bool Own; // the per-thread form of a function
};
} // namespace

static const Row ServedRows[] = {
#define R3_SERVED(Name) {"cuda" #Name, false},
#define R3_SERVED_OWN(Name, Suffix) {"cuda" #Name "_" #Suffix, true},
#include "runtime/device/cpu/cudart/Served.def"
};

/// All that programs call through R3.
static const std::string Interposed[] = {
#define R3_CUDA_API(Name, Suffix) #Name,
#if CUDART_VERSION >= 13000
#define R3_CUDA_API_12(Name, Suffix)
#endif
#include "runtime/support/CudaApi.def"
};

TEST(Served, EveryRowHasAFunction) {
  std::set<std::string> Known(std::begin(Interposed), std::end(Interposed));
  for (const Row &R : ServedRows) {
    EXPECT_TRUE(__r3_cpu_function(R.Name.c_str())) << R.Name;
    if (!R.Own) {
      EXPECT_TRUE(Known.count(R.Name)) << R.Name << " is not in CudaApi.def";
    }
  }
  EXPECT_FALSE(__r3_cpu_function("cudaGraphLaunch"));
  EXPECT_FALSE(__r3_cpu_function(""));
}

static std::string expectedPage() {
  std::string Out =
      "# CUDA runtime calls on the CPU device\n\n"
      "With `R3_DEVICE=cpu` these calls of a program are served by the CPU "
      "device. Made\nfrom `runtime/device/cpu/cudart/Served.def`; a test "
      "compares them.\n\n";
  std::set<std::string> Names;
  for (const Row &R : ServedRows)
    if (!R.Own) {
      Out += "- `" + R.Name + "`\n";
      Names.insert(R.Name);
    }
  Out += "\n## Not served\n\nThese return `cudaErrorNotSupported`, and their "
         "name is said once on stderr.\n\n";
  for (const std::string &Name : Interposed)
    if (!Names.count(Name))
      Out += "- `" + Name + "`\n";
  return Out;
}

TEST(Served, PageAgreesWithTable) {
  if (CUDART_VERSION < 13000)
    GTEST_SKIP() << "the page lists the names of CUDA 13";
  Expected<std::string> Page =
      readTextFile(R3_SOURCE_DIR "/docs/CUDA-RUNTIME.md");
  std::string Wanted = expectedPage();
  EXPECT_TRUE(Page && *Page == Wanted) << "docs/CUDA-RUNTIME.md should be:\n"
                                       << Wanted;
}

TEST(Served, ErrorNames) {
  EXPECT_STREQ(R3_CALL(cudaGetErrorName)(cudaErrorMemoryAllocation),
               "cudaErrorMemoryAllocation");
  EXPECT_STREQ(R3_CALL(cudaGetErrorString)(cudaErrorMemoryAllocation),
               "out of memory");
  EXPECT_STREQ(R3_CALL(cudaGetErrorName)(cudaError_t(12345)),
               "unrecognized error code");
  void *Library = dlopen(R3_CUDART, RTLD_NOW | RTLD_LOCAL);
  if (!Library)
    GTEST_SKIP() << dlerror();
  auto *Real = reinterpret_cast<decltype(&::cudaGetErrorName)>(
      dlsym(Library, "cudaGetErrorName"));
  ASSERT_TRUE(Real);
  for (int Code = 0; Code != 1000; ++Code) {
    std::string Theirs = Real(cudaError_t(Code));
    // An older toolkit knows fewer.
    if (Theirs != "unrecognized error code") {
      EXPECT_EQ(R3_CALL(cudaGetErrorName)(cudaError_t(Code)), Theirs) << Code;
    }
  }
}
