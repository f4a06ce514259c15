// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program's functions are inlined first, so that few values cross a call.
#include "plugin/instrument/Double.h"

#include "plugin/instrument/Code.h"
#include "plugin/instrument/MathNames.h"
#include "plugin/instrument/Promotion.h"
#include "plugin/instrument/Variables.h"
#include "plugin/ir/Closure.h"
#include "plugin/ir/Pipeline.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/Scalar/SROA.h"

using namespace llvm;

namespace r3::instrument {

namespace {

/// libdevice's functions, which inline always, stay whole: they are replaced
/// by name.
void inlineOwn(Module &M) {
  SmallVector<Function *, 32> Later;
  for (Function &F : M)
    if (F.hasFnAttribute(Attribute::AlwaysInline)) {
      F.removeFnAttr(Attribute::AlwaysInline);
      Later.push_back(&F);
    }
  for (Function *F : ownFunctions(M)) {
    erase(Later, F);
    F->removeFnAttr(Attribute::OptimizeNone);
    F->removeFnAttr(Attribute::NoInline);
    if (!ir::isKernel(*F))
      F->addFnAttr(Attribute::AlwaysInline);
  }
  ModulePassManager Passes;
  Passes.addPass(AlwaysInlinerPass(/*InsertLifetimeIntrinsics=*/false));
  Passes.addPass(
      createModuleToFunctionPassAdaptor(SROAPass(SROAOptions::PreserveCFG)));
  ir::runPasses(M, std::move(Passes));
  for (Function *F : Later)
    F->addFnAttr(Attribute::AlwaysInline);
}

/// Functions of double, of M or of libdevice.
class Twins {
public:
  explicit Twins(Module &M) : M(M) {}

  Error open(ArrayRef<uint8_t> Libdevice) {
    if (Libdevice.empty())
      return Error::success();
    MemoryBufferRef Buffer(
        StringRef(reinterpret_cast<const char *>(Libdevice.data()),
                  Libdevice.size()),
        "libdevice");
    auto Opened = getLazyBitcodeModule(Buffer, M.getContext());
    if (!Opened)
      return fail(ErrorCode::Damaged, "libdevice: %s",
                  toString(Opened.takeError()).c_str());
    Library = std::move(*Opened);
    return Error::success();
  }

  Function *of(const Function &F) {
    const std::string Name = nameInDouble(F.getName());
    if (Name.empty() || !F.getReturnType()->isFloatTy())
      return nullptr;
    FunctionType *Wanted = inDouble(*F.getFunctionType());
    Function *Known = M.getFunction(Name);
    if (!Known && Library)
      Known = Library->getFunction(Name);
    if (!Known || Known->getFunctionType() != Wanted)
      return nullptr;
    return cast<Function>(M.getOrInsertFunction(Name, Wanted).getCallee());
  }

private:
  Module &M;
  std::unique_ptr<Module> Library;

  static FunctionType *inDouble(const FunctionType &T) {
    Type *Double = Type::getDoubleTy(T.getContext());
    SmallVector<Type *, 4> Parameters(T.params());
    for (Type *&Parameter : Parameters)
      if (Parameter->isFloatTy())
        Parameter = Double;
    return FunctionType::get(Double, Parameters, /*isVarArg=*/false);
  }
};

} // namespace

Error evaluateInDouble(Module &M, ArrayRef<uint8_t> Libdevice) {
  inlineOwn(M);
  Twins Known(M);
  if (Error E = Known.open(Libdevice))
    return E;
  for (Function *F : ownFunctions(M)) {
    widenVariables(*F);
    promoteFloats(*F, [&](const Function &Old) { return Known.of(Old); });
  }
  if (Libdevice.empty())
    return Error::success();
  return linkCode(M, Libdevice, "evaluation in double", /*OnlyNeeded=*/true);
}

} // namespace r3::instrument
