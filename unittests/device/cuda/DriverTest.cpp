// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of driver functions against the toolkit's stub library, which has
// the names of the real one; what faults mean; images that are cut.
#include "runtime/device/cuda/Driver.h"
#include "runtime/device/Device.h"
#include "runtime/device/cuda/Image.h"
#include "runtime/support/Files.h"

#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace r3;
using testing::HasSubstr;

namespace {

TEST(Driver, StubLibraryHasEveryName) {
  void *Stub = dlopen(R3_CUDA_STUB, RTLD_NOW | RTLD_LOCAL);
  ASSERT_TRUE(Stub) << dlerror();
#define R3_DRIVER(Name, Symbol) EXPECT_TRUE(dlsym(Stub, #Symbol)) << #Symbol;
#include "runtime/device/cuda/Driver.def"
}

/// Where cuda.h maps a name to a version, that is the version in the table;
/// cuEventElapsedTime is the exception that Driver.def explains.
#define R3_TEXT(Name) R3_TEXT2(Name)
#define R3_TEXT2(Name) #Name
TEST(Driver, VersionsAreThoseOfTheHeader) {
#define R3_DRIVER(Name, Symbol)                                                \
  if (std::strcmp(#Symbol, "cuEventElapsedTime") != 0) {                       \
    EXPECT_STREQ(R3_TEXT(cu##Name), #Symbol);                                  \
  }
#include "runtime/device/cuda/Driver.def"
}

TEST(Driver, MissingLibraryIsNamed) {
  Expected<Driver> Api = openDriver("libr3-no-such-driver.so.1");
  ASSERT_FALSE(Api);
  EXPECT_EQ(Api.error().code(), ErrorCode::CannotRunHere);
  EXPECT_THAT(Api.error().message(), HasSubstr("libr3-no-such-driver.so.1"));
}

TEST(Driver, LibraryWithoutAFunctionIsRefused) {
  Expected<Driver> Api = openDriver("libc.so.6");
  ASSERT_FALSE(Api);
  EXPECT_THAT(Api.error().message(), HasSubstr("libc.so.6 has no cuInit"));
}

TEST(Driver, StubIsNoDriver) {
  Expected<Driver> Api = openDriver(R3_CUDA_STUB);
  ASSERT_TRUE(Api) << Api.error().message();
  CUresult Result = Api->Init(0);
  EXPECT_EQ(classify(Result).Code, ErrorCode::CannotRunHere);
  EXPECT_THAT(Api->describe(Result), HasSubstr("stub"));
}

TEST(Driver, FaultsAreOutcomes) {
  EXPECT_EQ(classify(CUDA_ERROR_ILLEGAL_ADDRESS).Kind, Outcome::IllegalAccess);
  EXPECT_TRUE(classify(CUDA_ERROR_MISALIGNED_ADDRESS).Sticky);
  EXPECT_TRUE(classify(CUDA_ERROR_LAUNCH_FAILED).Sticky);
  EXPECT_EQ(classify(CUDA_ERROR_OUT_OF_MEMORY).Code, ErrorCode::NoSpace);
  EXPECT_FALSE(classify(CUDA_ERROR_OUT_OF_MEMORY).Sticky);
  EXPECT_EQ(classify(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES).Kind,
            Outcome::LaunchFailed);
  EXPECT_FALSE(classify(CUDA_ERROR_INVALID_VALUE).Sticky);
  EXPECT_EQ(classify(CUDA_ERROR_LAUNCH_TIMEOUT).Kind, Outcome::Timeout);
  EXPECT_EQ(classify(CUDA_ERROR_ECC_UNCORRECTABLE).Kind, Outcome::Crashed);
  EXPECT_EQ(classify(CUDA_SUCCESS).Kind, Outcome::Ok);
}

TEST(Image, EveryCutOfACubinIsRefused) {
  Expected<std::vector<uint8_t>> Cubin = readFile(R3_TEST_CUBIN);
  ASSERT_TRUE(Cubin) << Cubin.error().message();
  ASSERT_TRUE(prepareImage(*Cubin));
  for (size_t Size = 0; Size < Cubin->size(); ++Size) {
    Expected<std::vector<uint8_t>> Cut =
        prepareImage(std::span(*Cubin).first(Size));
    ASSERT_FALSE(Cut) << Size << " of " << Cubin->size();
    EXPECT_EQ(Cut.error().code(), ErrorCode::Damaged);
  }
}

TEST(Image, SectionBehindTheEndIsRefused) {
  Expected<std::vector<uint8_t>> Cubin = readFile(R3_TEST_CUBIN);
  ASSERT_TRUE(Cubin) << Cubin.error().message();
  Elf64_Ehdr Header;
  std::memcpy(&Header, Cubin->data(), sizeof(Header));
  // The last section's size, one too many.
  size_t At = Header.e_shoff + (Header.e_shnum - 1) * Header.e_shentsize;
  Elf64_Shdr Section;
  std::memcpy(&Section, &(*Cubin)[At], sizeof(Section));
  Section.sh_size = Cubin->size() - Section.sh_offset + 1;
  std::memcpy(&(*Cubin)[At], &Section, sizeof(Section));
  EXPECT_FALSE(prepareImage(*Cubin));
}

TEST(Image, HostElfIsRefused) {
  Expected<std::vector<uint8_t>> Self = readFile("/proc/self/exe");
  ASSERT_TRUE(Self);
  Expected<std::vector<uint8_t>> Image = prepareImage(*Self);
  ASSERT_FALSE(Image);
  EXPECT_THAT(Image.error().message(), HasSubstr("not for CUDA"));
}

std::vector<uint8_t> fatBinary(uint64_t Content, size_t Size) {
  std::vector<uint8_t> Bytes(Size);
  uint32_t Magic = 0xba55ed50;
  uint16_t Version = 1, Header = 16;
  std::memcpy(&Bytes[0], &Magic, 4);
  std::memcpy(&Bytes[4], &Version, 2);
  std::memcpy(&Bytes[6], &Header, 2);
  std::memcpy(&Bytes[8], &Content, 8);
  return Bytes;
}

TEST(Image, FatBinary) {
  EXPECT_TRUE(prepareImage(fatBinary(48, 64)));
  EXPECT_TRUE(prepareImage(fatBinary(40, 64))); // padding behind
  EXPECT_FALSE(prepareImage(fatBinary(49, 64)));
  EXPECT_FALSE(prepareImage(fatBinary(~0ull - 8, 64)));
}

TEST(Image, WrapperIsNamed) {
  std::vector<uint8_t> Wrapper(24);
  uint32_t Magic = 0x466243b1;
  std::memcpy(Wrapper.data(), &Magic, 4);
  Expected<std::vector<uint8_t>> Image = prepareImage(Wrapper);
  ASSERT_FALSE(Image);
  EXPECT_THAT(Image.error().message(), HasSubstr("__cuda_fatbin_wrapper"));
}

TEST(Image, PtxGetsItsZero) {
  std::string Text = ".version 7.0\n.target sm_75\n";
  std::span<const uint8_t> Bytes(reinterpret_cast<const uint8_t *>(Text.data()),
                                 Text.size());
  Expected<std::vector<uint8_t>> Image = prepareImage(Bytes);
  ASSERT_TRUE(Image);
  EXPECT_EQ(Image->back(), 0);
  EXPECT_FALSE(prepareImage(Bytes.first(5)));
}

TEST(CudaDevice, WithoutADriverItSaysSo) {
  Expected<std::unique_ptr<Device>> Opened = openCudaDevice(0);
  if (Opened)
    GTEST_SKIP() << "there is a device";
  EXPECT_EQ(Opened.error().code(), ErrorCode::CannotRunHere);
  Expected<std::unique_ptr<Device>> Attached = attachCudaDevice();
  ASSERT_FALSE(Attached);
}

} // namespace
