// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two halves, since clang calls a plugin at fixed points of its pipeline. The
// code that is described at the end is the optimised one: there parameters are
// in registers and calls through known pointers are direct.
#include "plugin/device/DevicePass.h"

#include "plugin/device/Names.h"
#include "plugin/device/Parameters.h"
#include "plugin/device/Reasons.h"
#include "plugin/device/Snapshot.h"
#include "plugin/device/Writes.h"
#include "plugin/ir/Closure.h"
#include "plugin/ir/Fingerprint.h"
#include "plugin/ir/Pipeline.h"
#include "runtime/support/Files.h"
#include "runtime/support/Protocol.h"
#include "runtime/support/Reason.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <set>

using namespace llvm;

namespace r3::plugin {

static constexpr const char *Mark = "r3.device";

static std::string levelName(OptimizationLevel Level) {
  if (Level.getSizeLevel())
    return Level.getSizeLevel() == 1 ? "Os" : "Oz";
  return "O" + std::to_string(Level.getSpeedupLevel());
}

static std::string architecture(const Module &M) {
  for (const Function &F : M)
    if (F.hasFnAttribute("target-cpu"))
      return F.getFnAttribute("target-cpu").getValueAsString().str();
  return {};
}

static UnitKernel describeKernel(const Function &F, const std::string &Source,
                                 const std::string &Arch) {
  UnitKernel Kernel;
  Kernel.Name = F.getName().str();
  Kernel.Display = displayName(F.getName());
  Kernel.Home = Source + ":" + enclosingFunction(F.getName());
  if (const DISubprogram *Program = F.getSubprogram())
    Kernel.Line = Program->getLine();
  describeParameters(F, Kernel);
  KernelCode &Code = Kernel.Code[Arch];
  Code.Fingerprint = ir::fingerprint(*F.getParent(), F);
  Code.Key = ir::kernelKey(Code.Fingerprint, Kernel.Home);
  for (const GlobalValue *G : ir::reachableFrom(F))
    if (const auto *Variable = dyn_cast<GlobalVariable>(G);
        Variable && Variable->hasInitializer() && ir::isMutable(*Variable))
      Code.Globals.push_back(G->getName().str());
  return Kernel;
}

/// Scalar that an array, or a struct with one kind of member, is made of.
static ValueType elementType(Type *T) {
  while (true) {
    if (auto *Array = dyn_cast<ArrayType>(T))
      T = Array->getElementType();
    else if (auto *Struct = dyn_cast<StructType>(T);
             Struct && Struct->getNumElements() == 1)
      T = Struct->getElementType(0);
    else
      return valueType(*T);
  }
}

static UnitGlobal describeGlobal(const GlobalVariable &G) {
  UnitGlobal Global;
  Global.Name = G.getName().str();
  Global.Display = variableName(G.getName());
  Global.Size =
      G.getParent()->getDataLayout().getTypeAllocSize(G.getValueType());
  Global.Constant = G.getAddressSpace() == 4;
  Global.Element = elementType(G.getValueType());
  return Global;
}

void DeviceCompile::describe(const Module &M) {
  U.Source = C.Source;
  U.Compiler = "clang " LLVM_VERSION_STRING;
  U.Plugin = buildId();
  U.Commands[Arch] = C.Command;
  SmallString<256> Header(C.Header);
  if (!Header.empty())
    sys::fs::make_absolute(Header);
  StringRef FromRoot = Header;
  FromRoot.consume_front(C.Root + "/");
  U.ProfileHeader = FromRoot.str();
  for (const Function &F : M)
    if (ir::isKernel(F))
      U.Kernels.push_back(describeKernel(F, C.Source, Arch));
  std::set<std::string> Used;
  for (const UnitKernel &Kernel : U.Kernels)
    Used.insert(Kernel.Code.at(Arch).Globals.begin(),
                Kernel.Code.at(Arch).Globals.end());
  for (const GlobalVariable &G : M.globals())
    if (Used.count(G.getName().str()))
      U.Globals.push_back(describeGlobal(G));
}

bool DeviceCompile::begin(Module &M, OptimizationLevel Level) {
  if (M.getNamedMetadata(Mark))
    return false;
  C = Compilation::read(M);
  if (!C.IsCuda)
    return false;
  M.getOrInsertNamedMetadata(Mark);
  C.status(M, "entered");
  if (!C.EnvironmentProblem.empty())
    C.note(M, "environment", C.EnvironmentProblem);
  Arch = architecture(M);
  if (Arch.empty() || ir::kernelNames(M).empty()) {
    C.status(M, "left");
    return true;
  }
  Active = true;
  U = Unit();
  U.Level = levelName(Level);
  ir::exposeGlobals(M, contentDigest(C.Source).hex().substr(0, 8));
  describe(M);
  Profile = readProfile(C, U, Arch, M);
  std::unique_ptr<Module> Snapshot = makeSnapshot(M, C.Source);
  annotate(*Snapshot, Profile);
  Bitcode = writeBitcode(*Snapshot);
  if (C.IsLto)
    handOver(M); // clang may leave out the passes at the end
  return true;
}

void DeviceCompile::describeOptimised(const Module &M) {
  for (UnitKernel &Kernel : U.Kernels) {
    const Function *F = M.getFunction(Kernel.Name);
    if (!F || F->isDeclaration())
      continue;
    describeWrites(*F, Kernel);
    findReason(*F, Kernel.Code[Arch]);
  }
}

void DeviceCompile::sayReasons(Module &M) const {
  for (const UnitKernel &Kernel : U.Kernels) {
    const KernelCode &Code = Kernel.Code.at(Arch);
    if (Code.Reason.empty())
      continue;
    Expected<Reason> Why = parseReason(Code.Reason);
    C.note(M, Code.Reason.c_str(),
           Kernel.Display + " cannot be replayed: " +
               std::string(Why ? reasonDescription(*Why) : "") + ": " +
               Code.Detail);
  }
}

void DeviceCompile::handOver(Module &M) {
  if (!C.Embeds)
    return;
  if (C.DeviceOnly)
    return C.note(M, "device-only",
                  "--cuda-device-only: there is no host code that could carry "
                  "the device code for R3");
  Expected<std::string> Folder = handoverFolder(C, /*Create=*/true);
  if (!Folder)
    return C.warn(M, "handover", Folder.error().message());
  U.Modules = {{Arch, contentDigest(Bitcode), Bitcode}};
  std::string Id;
  if (Error Problem =
          writeFileAtomically(handoverPath(C, *Folder, Arch), U.serialize(Id)))
    C.warn(M, "handover", Problem.message());
}

/// At -O0 nothing was optimised: look at a copy that is.
static std::unique_ptr<Module> lightlyOptimised(const Module &M) {
  std::unique_ptr<Module> Copy = CloneModule(M);
  auto Machine = ir::createTargetMachine(*Copy, "O1");
  if (!Machine || ir::runPipeline(*Copy, **Machine, "default<O1>", "O1"))
    return nullptr;
  return Copy;
}

bool DeviceCompile::end(Module &M) {
  if (!Active)
    return false;
  Active = false;
  std::unique_ptr<Module> Copy =
      U.Level == "O0" ? lightlyOptimised(M) : nullptr;
  describeOptimised(Copy ? *Copy : M);
  sayReasons(M);
  handOver(M);
  applyProfile(C, Profile, Bitcode, U.Level, M);
  C.status(M, "left");
  return true;
}

} // namespace r3::plugin
