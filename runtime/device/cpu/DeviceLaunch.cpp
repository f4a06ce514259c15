// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loading and launching. A launch is checked as CUDA checks it before anything
// runs; then its blocks are shared out among the processor threads.
#include "runtime/device/cpu/CpuDevice.h"

#include "runtime/device/cpu/RuntimeCalls.h"

#include <algorithm>
#include <cstdio>

namespace r3::cpu {

void CpuDevice::noteData(const LinkedCode &Code, bool Added) {
  std::lock_guard Lock(Mutex);
  for (const AddressRange &R : Code.Data)
    if (Added)
      CodeData.insert({R.Begin, R.Size});
    else if (auto It = CodeData.find({R.Begin, R.Size}); It != CodeData.end())
      CodeData.erase(It);
}

Expected<std::unique_ptr<DeviceModule>>
CpuDevice::load(std::span<const uint8_t> Image) {
  return loadObject(Image, Store, [this](const LinkedCode &Code, bool Added) {
    noteData(Code, Added);
  });
}

static CompiledKernel &kernelOfHandle(KernelHandle Handle) {
  return *static_cast<CompiledKernel *>(static_cast<Kernel *>(Handle));
}

Expected<KernelInfo> CpuDevice::info(KernelHandle Handle) {
  auto Code = kernelOfHandle(Handle).code();
  if (!Code)
    return Code.error();
  const KernelImage &Image = (*Code)->Image;
  KernelInfo Info;
  Info.Registers = 32; // of no meaning here; 0 would confuse occupancy code
  Info.StaticShared = Image.StaticShared;
  Info.LocalBytes = Image.LocalBytes;
  Info.MaxThreads = Image.MaxThreads;
  Info.MaxDynamicShared = MaxSharedBytes - Image.StaticShared;
  return Info;
}

Error CpuDevice::prepare(Kernel &K) {
  auto Code = static_cast<CompiledKernel &>(K).code();
  return Code ? Error::success() : Code.error();
}

uint32_t CpuDevice::maxCooperativeBlocks(uint32_t ThreadsPerBlock) const {
  uint32_t Warps = (ThreadsPerBlock + WarpSize - 1) / WarpSize;
  uint32_t EachHolds = std::min(
      MaxThreadsPerMultiprocessor / (std::max(Warps, 1u) * WarpSize), 32u);
  return EachHolds * Identity.Multiprocessors;
}

static Error configurationError(const char *What, const Dim3 &Value) {
  return fail(ErrorCode::Usage, "%s (%u,%u,%u) is not possible", What, Value[0],
              Value[1], Value[2]);
}

static bool fits(const Dim3 &Value, const Dim3 &Limit) {
  for (int I = 0; I < 3; ++I)
    if (!Value[I] || Value[I] > Limit[I])
      return false;
  return true;
}

Error CpuDevice::checkLaunch(const KernelImage &Image,
                             const LaunchConfig &Config, size_t ArgumentBytes,
                             LaunchProblem &Problem) const {
  Problem = LaunchProblem::Configuration;
  if (!fits(Config.Grid, MaxGrid))
    return configurationError("a grid of", Config.Grid);
  uint64_t Threads =
      uint64_t(Config.Block[0]) * Config.Block[1] * Config.Block[2];
  if (!fits(Config.Block, MaxBlock) || Threads > MaxThreadsPerBlock)
    return configurationError("a block of", Config.Block);
  if (Config.Cluster[0] * Config.Cluster[1] * Config.Cluster[2] > 1)
    return configurationError("a cluster of", Config.Cluster);
  uint64_t Blocks = uint64_t(Config.Grid[0]) * Config.Grid[1] * Config.Grid[2];
  if (Config.Cooperative &&
      Blocks > maxCooperativeBlocks(static_cast<uint32_t>(Threads)))
    return fail(ErrorCode::Usage,
                "a cooperative launch of %llu blocks: %u fit at once",
                static_cast<unsigned long long>(Blocks),
                maxCooperativeBlocks(static_cast<uint32_t>(Threads)));
  if (ArgumentBytes < Image.ArgumentBytes)
    return fail(ErrorCode::Usage, "%zu bytes of arguments, %u needed",
                ArgumentBytes, Image.ArgumentBytes);
  Problem = LaunchProblem::Resources;
  if (Threads > Image.MaxThreads)
    return fail(ErrorCode::Usage, "%llu threads: the kernel is bound to %u",
                static_cast<unsigned long long>(Threads), Image.MaxThreads);
  Problem = LaunchProblem::Shared;
  uint64_t Allowed = std::max(DefaultSharedBytes,
                              Image.StaticShared + Config.MaxDynamicShared);
  uint64_t Shared = uint64_t(Image.StaticShared) + Config.DynamicShared;
  if (Shared > std::min<uint64_t>(Allowed, MaxSharedBytes))
    return fail(ErrorCode::Usage,
                "%llu bytes of shared memory: %llu are allowed",
                static_cast<unsigned long long>(Shared),
                static_cast<unsigned long long>(Allowed));
  Problem = LaunchProblem::None;
  return Error::success();
}

/// All that a kernel with bounds checks may touch, joined where it touches.
std::shared_ptr<AccessTable>
CpuDevice::accessTable(const LinkedCode &Code) const {
  if (!(Code.Image.Flags & KernelImage::ChecksBounds))
    return nullptr;
  auto Table = std::make_shared<AccessTable>();
  std::vector<AddressRange> All = Store.accessible();
  {
    std::lock_guard Lock(Mutex);
    for (auto [Begin, Size] : CodeData)
      All.push_back({Begin, Size});
  }
  std::sort(All.begin(), All.end(),
            [](const AddressRange &A, const AddressRange &B) {
              return A.Begin < B.Begin;
            });
  for (const AddressRange &R : All) {
    AddressRange *Last =
        Table->Ranges.empty() ? nullptr : &Table->Ranges.back();
    if (Last && R.Begin < Last->Begin + Last->Size)
      Last->Size = std::max(Last->Size, R.Begin + R.Size - Last->Begin);
    else
      Table->Ranges.push_back(R);
  }
  return Table;
}

Error CpuDevice::launchKernel(Kernel &K, const LaunchConfig &Config,
                              std::span<const uint8_t> Arguments,
                              StreamHandle Handle, LaunchProblem &Problem) {
  std::shared_ptr<Stream> Target = Streams.find(Handle);
  Problem = LaunchProblem::Configuration;
  if (!Target)
    return noStream();
  Problem = LaunchProblem::Fault;
  if (DeviceFault Old = peekFault(); Old.Kind != Outcome::Ok && Old.Sticky)
    return Error(ErrorCode::Failed, Old.Message);
  Problem = LaunchProblem::Unsupported;
  auto Code = static_cast<CompiledKernel &>(K).code();
  if (!Code)
    return Code.error();
  const KernelImage &Image = (*Code)->Image;
  if (Error Failure = checkLaunch(Image, Config, Arguments.size(), Problem))
    return Failure.in(K.name());

  auto L = std::make_shared<Launch>();
  L->Entry = (*Code)->Entry;
  L->Kernel = K.name();
  L->Arguments.assign(Arguments.begin(), Arguments.end());
  L->Config = Config;
  L->SharedBytes = Image.StaticShared + Config.DynamicShared;
  L->StackBytes = Image.StackBytes;
  L->NeedsFibers = Image.Flags & KernelImage::NeedsFibers;
  L->ProcessorCount = Identity.Multiprocessors;
  {
    std::lock_guard Lock(Mutex);
    L->GridId = NextGrid++;
    if (auto Found = Scratches.find(Handle); Found != Scratches.end()) {
      L->Fill = Found->second;
      Scratches.erase(Found);
    }
  }
  std::shared_ptr<AccessTable> Table = accessTable(**Code);
  L->Bounds = Table.get();
  // From here on the launch only waits for its turn.
  Streams.submit(
      *Target,
      [this, L, Table] {
        Processors.run(L->blocks(),
                       [&](unsigned Number) { runBlocks(*L, Number); });
        noteFault(L->takeFault());
      },
      /*Inline=*/false);
  return Error::success();
}

namespace {

/// One function for all threads of any launch.
class EmptyKernel final : public CompiledKernel {
public:
  EmptyKernel() {
    Name = "empty";
    Code.Entry = [](ThreadContext *, const uint8_t *) {};
  }
  Expected<const LinkedCode *> code() override { return &Code; }

private:
  LinkedCode Code;
};

} // namespace

Expected<KernelHandle> CpuDevice::emptyKernel() {
  static EmptyKernel Empty;
  return static_cast<KernelHandle>(static_cast<Kernel *>(&Empty));
}

Error CpuDevice::launch(KernelHandle Handle, const LaunchConfig &Config,
                        std::span<const uint8_t> Arguments,
                        StreamHandle Stream) {
  LaunchProblem Problem;
  return launchKernel(*static_cast<Kernel *>(Handle), Config, Arguments, Stream,
                      Problem);
}

/// Blocks and threads get theirs when they begin.
Error CpuDevice::fillScratch(uint8_t Byte, uint32_t LocalBytes,
                             StreamHandle Stream) {
  if (!Streams.find(Stream))
    return noStream();
  std::lock_guard Lock(Mutex);
  Scratches[Stream] = {Byte, LocalBytes};
  return {};
}

} // namespace r3::cpu
