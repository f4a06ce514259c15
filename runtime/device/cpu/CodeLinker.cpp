// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One ORC session a process; each object gets a library (JITDylib) of its own,
// so that equal names in two kernels never meet.
#include "runtime/device/cpu/CodeLinker.h"

#include "runtime/device/cpu/RuntimeCalls.h"

#include "llvm/ExecutionEngine/JITLink/JITLink.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/Object/ObjectFile.h"

#include <mutex>

using namespace llvm;
using namespace llvm::orc;

namespace r3::cpu {

namespace {

r3::Error convert(llvm::Error Problem, const std::string &Where) {
  return fail(ErrorCode::Failed, "%s: %s", Where.c_str(),
              toString(std::move(Problem)).c_str());
}

/// Notes where the data of each object went.
class DataPlugin : public ObjectLinkingLayer::Plugin {
public:
  std::vector<AddressRange> *Target = nullptr; // of the link that is under way

  void modifyPassConfig(MaterializationResponsibility &, jitlink::LinkGraph &,
                        jitlink::PassConfiguration &Config) override {
    Config.PostAllocationPasses.push_back([this](jitlink::LinkGraph &G) {
      for (jitlink::Section &S : G.sections())
        if ((S.getMemProt() & MemProt::Exec) == MemProt::None)
          for (jitlink::Block *B : S.blocks())
            if (Target && B->getSize())
              Target->push_back({B->getAddress().getValue(), B->getSize()});
      return llvm::Error::success();
    });
  }
  llvm::Error notifyFailed(MaterializationResponsibility &) override {
    return llvm::Error::success();
  }
  llvm::Error notifyRemovingResources(JITDylib &, ResourceKey) override {
    return llvm::Error::success();
  }
  void notifyTransferringResources(JITDylib &, ResourceKey,
                                   ResourceKey) override {}
};

class Session {
public:
  static r3::Expected<Session *> get() {
    static Session *Instance = nullptr;
    static r3::Error Failure;
    static std::once_flag Once;
    std::call_once(Once, [] {
      auto Control = SelfExecutorProcessControl::Create();
      if (!Control) {
        Failure = convert(Control.takeError(), "CPU device");
        return;
      }
      auto *New = new Session(std::move(*Control));
      Failure = New->addSymbols();
      Instance = New; // lives as long as the process
    });
    if (Failure)
      return Failure;
    return Instance;
  }

  std::mutex Mutex; // one link at a time
  ExecutionSession Orc;
  ObjectLinkingLayer Layer;
  JITDylib &Runtime;
  std::shared_ptr<DataPlugin> Data = std::make_shared<DataPlugin>();
  uint64_t Count = 0;

private:
  explicit Session(std::unique_ptr<ExecutorProcessControl> Control)
      : Orc(std::move(Control)),
        Layer(Orc, Orc.getExecutorProcessControl().getMemMgr()),
        Runtime(Orc.createBareJITDylib("runtime")) {
    Layer.addPlugin(Data);
    Orc.setErrorReporter([](llvm::Error Problem) {
      // Each failure is also the result of the lookup that met it.
      consumeError(std::move(Problem));
    });
  }

  r3::Error addSymbols() {
    SymbolMap Symbols;
    for (const RuntimeCall &Call : runtimeCalls())
      Symbols[Orc.intern(Call.Name)] = {ExecutorAddr::fromPtr(Call.Function),
                                        JITSymbolFlags::Exported |
                                            JITSymbolFlags::Callable};
    if (auto Problem = Runtime.define(absoluteSymbols(std::move(Symbols))))
      return convert(std::move(Problem), "CPU device");
    for (const char *Library : {"libm.so.6", "libc.so.6", "libgcc_s.so.1"}) {
      auto Generator = DynamicLibrarySearchGenerator::Load(Library, '\0');
      if (!Generator)
        return convert(Generator.takeError(), Library);
      Runtime.addGenerator(std::move(*Generator));
    }
    return r3::Error::success();
  }
};

class OrcCode : public LinkedCode {
public:
  OrcCode(Session &S, JITDylib &Library) : S(S), Library(Library) {}
  ~OrcCode() override {
    std::lock_guard Lock(S.Mutex);
    if (auto Problem = S.Orc.removeJITDylib(Library))
      consumeError(std::move(Problem));
  }

private:
  Session &S;
  JITDylib &Library;
};

MemoryBufferRef bufferOf(std::span<const uint8_t> Object) {
  return MemoryBufferRef(
      StringRef(reinterpret_cast<const char *>(Object.data()), Object.size()),
      "kernel");
}

r3::Expected<void *> address(Session &S, JITDylib &Library,
                             const std::string &Name) {
  auto Found = S.Orc.lookup({&Library}, S.Orc.intern(Name));
  if (!Found)
    return convert(Found.takeError(), "linking " + Name);
  return Found->getAddress().toPtr<void *>();
}

r3::Error defineGlobals(Session &S, JITDylib &Library, const KernelImage &Image,
                        const StorageOf &Storage) {
  SymbolMap Symbols;
  for (const ImageGlobal &G : Image.Globals) {
    r3::Expected<Address> Where = Storage(G);
    if (!Where)
      return Where.error();
    Symbols[S.Orc.intern(G.Name)] = {ExecutorAddr(*Where),
                                     JITSymbolFlags::Exported};
  }
  if (Symbols.empty())
    return r3::Error::success();
  if (auto Problem = Library.define(absoluteSymbols(std::move(Symbols))))
    return convert(std::move(Problem), "globals");
  return r3::Error::success();
}

r3::Error lookUp(Session &S, JITDylib &Library, LinkedCode &Code) {
  if (!Code.Image.Kernel.empty()) {
    r3::Expected<void *> Entry = address(S, Library, Code.Image.Kernel);
    if (!Entry)
      return Entry.error();
    Code.Entry = reinterpret_cast<KernelEntry>(*Entry);
  }
  for (const ImageGlobal &G : Code.Image.Globals) {
    r3::Expected<void *> Init = address(S, Library, InitPrefix + G.Name);
    if (!Init)
      return Init.error();
    Code.FirstValues.push_back(*Init);
  }
  return r3::Error::success();
}

} // namespace

r3::Expected<KernelImage> readImage(std::span<const uint8_t> Object) {
  auto File = object::ObjectFile::createObjectFile(bufferOf(Object));
  if (!File)
    return convert(File.takeError(), "object for the CPU device");
  for (const object::SectionRef &Section : (*File)->sections()) {
    auto Name = Section.getName();
    if (!Name) {
      consumeError(Name.takeError());
      continue;
    }
    if (*Name != ImageSection)
      continue;
    auto Content = Section.getContents();
    if (!Content)
      return convert(Content.takeError(), "object for the CPU device");
    return KernelImage::parse(
        {reinterpret_cast<const uint8_t *>(Content->data()), Content->size()});
  }
  return fail(ErrorCode::Damaged, "object for the CPU device: no section %s",
              ImageSection);
}

r3::Expected<std::unique_ptr<LinkedCode>>
linkCode(std::span<const uint8_t> Object, const StorageOf &Storage) {
  r3::Expected<KernelImage> Image = readImage(Object);
  if (!Image)
    return Image.error();
  r3::Expected<Session *> S = Session::get();
  if (!S)
    return S.error();
  std::unique_lock Lock((*S)->Mutex);
  JITDylib &Library = (*S)->Orc.createBareJITDylib(
      format("kernel%llu", static_cast<unsigned long long>(++(*S)->Count)));
  Library.addToLinkOrder((*S)->Runtime);
  auto Code = std::make_unique<OrcCode>(**S, Library);
  Code->Image = std::move(*Image);
  r3::Error Failure = defineGlobals(**S, Library, Code->Image, Storage);
  if (!Failure)
    if (auto Problem = (*S)->Layer.add(
            Library, MemoryBuffer::getMemBufferCopy(
                         bufferOf(Object).getBuffer(), "kernel")))
      Failure = convert(std::move(Problem), "linking");
  (*S)->Data->Target = &Code->Data;
  if (!Failure)
    Failure = lookUp(**S, Library, *Code);
  (*S)->Data->Target = nullptr;
  Lock.unlock(); // the destructor of a failed one takes it
  if (Failure)
    return Failure;
  return std::unique_ptr<LinkedCode>(std::move(Code));
}

} // namespace r3::cpu
