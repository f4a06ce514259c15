// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A shim has the signature of its function:
//   Entries = image.Entries;
//   if (!Entries || !Entries[i]) return cudaX(args);
//   return Entries[i](args, cudaX);
// The first test is all that a program which is not recorded pays.
#include "plugin/host/Shims.h"

#include "runtime/record/ImageAbi.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/MDBuilder.h"

#include <cstddef>

using namespace llvm;

namespace r3::plugin {

namespace {

struct ApiRow {
  const char *Name;
  const char *Suffix; // of the per-thread form; empty where it has none
};

constexpr const char *suffix_none = "";
constexpr const char *suffix_ptsz = "_ptsz";
constexpr const char *suffix_ptds = "_ptds";

constexpr ApiRow Rows[] = {
#define R3_CUDA_API(Name, Suffix) {#Name, suffix_##Suffix},
#include "runtime/support/CudaApi.def"
};

} // namespace

unsigned entryCount() { return 2 * std::size(Rows); }

static void addUse(Module &M, const Twine &Name, unsigned Entry,
                   std::vector<ApiUse> &Uses) {
  SmallString<64> Text;
  Function *F = M.getFunction(Name.toStringRef(Text));
  // A weak function may be missing: the program asks for its address first.
  if (F && F->isDeclaration() && !F->isVarArg() && !F->use_empty() &&
      !F->hasExternalWeakLinkage())
    Uses.push_back({F, Entry});
}

std::vector<ApiUse> findApiUses(Module &M) {
  std::vector<ApiUse> Uses;
  for (unsigned I = 0; I < std::size(Rows); ++I) {
    addUse(M, Rows[I].Name, 2 * I, Uses);
    if (*Rows[I].Suffix)
      addUse(M, Twine(Rows[I].Name) + Rows[I].Suffix, 2 * I + 1, Uses);
  }
  return Uses;
}

void makeImageLocal(GlobalObject &Object) {
  Object.setLinkage(GlobalValue::LinkOnceODRLinkage);
  Object.setVisibility(GlobalValue::HiddenVisibility);
  Object.setDSOLocal(true);
  Object.setComdat(Object.getParent()->getOrInsertComdat(Object.getName()));
  if (auto *Variable = dyn_cast<GlobalVariable>(&Object)) {
    GlobalValue::SanitizerMetadata Exempt;
    Exempt.NoAddress = Exempt.NoHWAddress = true;
    Variable->setSanitizerMetadata(Exempt);
  }
}

/// Whether the shim may be in a backtrace. Else both of its calls are jumps:
/// optimised, and with one argument more still all in registers.
static bool hasFrame(const Function &Shim) {
  constexpr size_t InRegisters = 6;
  return Shim.arg_size() >= InRegisters ||
         any_of(Shim.args(),
                [](const Argument &A) { return A.hasByValAttr(); }) ||
         any_of(*Shim.getParent(),
                [](const Function &F) { return F.hasOptNone(); });
}

/// Whether all that is done with F is to call it.
static bool isOnlyCalled(const Function &F) {
  return all_of(F.uses(), [](const Use &U) {
    auto *Call = dyn_cast<CallBase>(U.getUser());
    return Call && Call->isCallee(&U);
  });
}

/// Where a program looks at the address it has to be one in the image, as the
/// function's own is; a copy of the unit's own takes half the bytes in an
/// object.
static Function *declareShim(Module &M, const Function &Api) {
  Function *Shim =
      Function::Create(Api.getFunctionType(), GlobalValue::InternalLinkage,
                       "__r3_shim_" + Api.getName(), M);
  if (!isOnlyCalled(Api))
    makeImageLocal(*Shim);
  Shim->setCallingConv(Api.getCallingConv());
  AttributeList Attributes = Api.getAttributes();
  Shim->setAttributes(Attributes.removeFnAttributes(M.getContext()));
  if (hasFrame(*Shim))
    Shim->setUWTableKind(M.getUwtable());
  else
    Shim->setDoesNotThrow();
  if (Shim->hasInternalLinkage() && !hasFrame(*Shim))
    Shim->setLinkage(GlobalValue::PrivateLinkage); // nobody sees its name
  // A copy at each call would outweigh the rest of what R3 adds to an object.
  Shim->addFnAttr(Attribute::NoInline);
  for (const char *Kept :
       {"target-cpu", "target-features", "tune-cpu", "frame-pointer"})
    if (Api.hasFnAttribute(Kept))
      Shim->addFnAttr(Api.getFnAttribute(Kept));
  return Shim;
}

static void callAndReturn(IRBuilder<> &Builder, Function &Shim, Function &Api,
                          FunctionType *Type, Value *Callee, bool WithApi) {
  SmallVector<Value *, 12> Arguments;
  for (Argument &A : Shim.args())
    Arguments.push_back(&A);
  if (WithApi)
    Arguments.push_back(&Api);
  CallInst *Call = Builder.CreateCall(Type, Callee, Arguments);
  Call->setAttributes(
      Api.getAttributes().removeFnAttributes(Shim.getContext()));
  Call->setCallingConv(Api.getCallingConv());
  if (Type->getReturnType()->isVoidTy())
    Builder.CreateRetVoid();
  else
    Builder.CreateRet(Call);
}

static void fillShim(Function &Shim, Function &Api, unsigned Entry,
                     GlobalVariable &Image) {
  LLVMContext &Context = Shim.getContext();
  BasicBlock *Ask = BasicBlock::Create(Context, "ask", &Shim);
  BasicBlock *Attached = BasicBlock::Create(Context, "attached", &Shim);
  BasicBlock *Ours = BasicBlock::Create(Context, "ours", &Shim);
  BasicBlock *Plain = BasicBlock::Create(Context, "plain", &Shim);
  IRBuilder<> Builder(Ask);
  Type *Pointer = Builder.getPtrTy();
  MDNode *Rarely = MDBuilder(Context).createUnlikelyBranchWeights();

  Value *Field = Builder.CreateConstInBoundsGEP1_64(
      Builder.getInt8Ty(), &Image, offsetof(R3ImageTable, Entries));
  Value *Entries = Builder.CreateLoad(Pointer, Field);
  Builder.CreateCondBr(Builder.CreateIsNotNull(Entries), Attached, Plain,
                       Rarely);

  Builder.SetInsertPoint(Attached);
  Value *Slot = Builder.CreateConstInBoundsGEP1_64(Pointer, Entries, Entry);
  Value *Callee = Builder.CreateLoad(Pointer, Slot);
  Builder.CreateCondBr(Builder.CreateIsNotNull(Callee), Ours, Plain);

  Builder.SetInsertPoint(Ours);
  FunctionType *Type = Api.getFunctionType();
  SmallVector<llvm::Type *, 12> Parameters(Type->params());
  Parameters.push_back(Pointer);
  callAndReturn(Builder, Shim, Api,
                FunctionType::get(Type->getReturnType(), Parameters, false),
                Callee, /*WithApi=*/true);

  Builder.SetInsertPoint(Plain);
  callAndReturn(Builder, Shim, Api, Type, &Api, /*WithApi=*/false);
}

void redirect(Module &M, const std::vector<ApiUse> &Uses,
              GlobalVariable &Image) {
  for (const ApiUse &Use : Uses) {
    Function *Shim = declareShim(M, *Use.Function);
    Use.Function->replaceAllUsesWith(Shim);
    fillShim(*Shim, *Use.Function, Use.Entry, Image);
  }
}

} // namespace r3::plugin
