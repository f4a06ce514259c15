// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The library is found by name: intrinsic llvm.nvvm.a.b becomes a call of
// __r3_nvvm_a_b where the library defines that, and so on (code/Library.h), so
// that the table of what the CPU device can do is the library itself.
#include "runtime/device/cpu/Substitute.h"

#include "runtime/device/cpu/ActiveMasks.h"
#include "runtime/device/cpu/AssemblyCode.h"
#include "runtime/device/cpu/LibraryBitcode.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Linker/Linker.h"

using namespace llvm;

namespace r3::cpu {

std::string sourceOf(const Instruction &I) {
  const DILocation *Where = I.getDebugLoc();
  // The place in the program's source, not in the header it was inlined from.
  if (Where)
    return format("%s:%u", Where->getFilename().str().c_str(),
                  Where->getLine());
  return "function " + demangle(I.getFunction()->getName());
}

namespace {

class Substitution {
public:
  Substitution(Module &M, Module &Library) : M(M), Library(Library) {}

  Error run() {
    takeOverFunctions();
    defineBuiltins();
    separateActiveMasks(M);
    // From here on each question for the active lanes is one place.
    for (Function *F : reachable())
      if (Error Failure = visit(*F))
        return Failure;
    eraseDead();
    return checkUndefined();
  }

private:
  Module &M;
  Module &Library;
  unsigned Sites = 0;

  Function *inLibrary(StringRef Name) const {
    Function *F = Library.getFunction(Name);
    return F && !F->isDeclaration() ? F : nullptr;
  }

  /// Bodies of libdevice go where the library has the function.
  void takeOverFunctions() {
    for (Function &F : M) {
      if (F.isIntrinsic() || !inLibrary(F.getName()))
        continue;
      if (!F.isDeclaration() && !F.getName().starts_with("__nv_"))
        continue;
      F.deleteBody();
      F.setAttributes(AttributeList());
    }
  }

  /// threadIdx and the like are objects whose address may be taken, though
  /// nothing is ever read through it.
  void defineBuiltins() {
    for (const char *Name : {"threadIdx", "blockIdx", "blockDim", "gridDim"})
      if (GlobalVariable *G = M.getNamedGlobal(Name); G && G->isDeclaration()) {
        G->setInitializer(Constant::getNullValue(G->getValueType()));
        G->setLinkage(GlobalValue::InternalLinkage);
        G->setConstant(true);
      }
  }

  SmallVector<Function *, 0> reachable() {
    SetVector<Function *> Found;
    for (Function &F : M)
      if (!F.isDeclaration() && !F.hasLocalLinkage())
        Found.insert(&F);
    for (GlobalVariable &G : M.globals())
      if (G.hasInitializer())
        addFunctions(*G.getInitializer(), Found);
    for (size_t I = 0; I < Found.size(); ++I)
      for (BasicBlock &Block : *Found[I])
        for (Instruction &Inst : Block)
          for (Use &Operand : Inst.operands())
            if (auto *C = dyn_cast<Constant>(Operand))
              addFunctions(*C, Found);
    return Found.takeVector();
  }

  static void addFunctions(Constant &C, SetVector<Function *> &Found) {
    if (auto *F = dyn_cast<Function>(&C)) {
      if (!F->isDeclaration())
        Found.insert(F);
      return;
    }
    if (isa<GlobalValue>(C))
      return;
    for (Use &Operand : C.operands())
      if (auto *Inner = dyn_cast<Constant>(Operand))
        addFunctions(*Inner, Found);
  }

  Error visit(Function &F) {
    SmallVector<CallBase *, 32> Calls;
    for (BasicBlock &Block : F)
      for (Instruction &I : Block)
        if (auto *Call = dyn_cast<CallBase>(&I))
          Calls.push_back(Call);
    for (CallBase *Call : Calls)
      if (Error Failure = visitCall(*Call))
        return Failure;
    return Error::success();
  }

  Error visitCall(CallBase &Call) {
    if (Call.isInlineAsm())
      return visitAssembly(Call);
    Function *Callee = Call.getCalledFunction();
    if (!Callee)
      return Error::success();
    StringRef Name = Callee->getName();
    if (Name == "__nvvm_reflect" || Name == "llvm.nvvm.reflect")
      return visitReflect(Call);
    if (Name == "llvm.trap" || Name == "llvm.ubsantrap")
      return replace(Call, "__r3_trap", {});
    if (Name == "llvm.debugtrap") {
      Call.eraseFromParent();
      return Error::success();
    }
    if (!Name.starts_with("llvm.nvvm."))
      return Error::success();
    if (Name == "llvm.nvvm.activemask") {
      Value *Site = ConstantInt::get(Type::getInt32Ty(M.getContext()), ++Sites);
      return replace(Call, "__r3_activemask", {Site});
    }
    SmallVector<Value *, 6> Arguments(Call.args());
    return replace(Call, libraryName(Name), Arguments);
  }

  /// llvm.nvvm.add.rz.ftz.f -> __r3_nvvm_add_rz_f, ...p1 -> ...p0.
  static std::string libraryName(StringRef Intrinsic) {
    SmallVector<StringRef, 8> Parts;
    Intrinsic.drop_front(strlen("llvm.nvvm.")).split(Parts, '.');
    std::string Name = "__r3_nvvm";
    for (StringRef Part : Parts) {
      if (Part == "ftz")
        continue;
      bool IsPointer = Part.size() >= 2 && Part[0] == 'p' &&
                       all_of(Part.drop_front(), isDigit);
      Name += "_" + (IsPointer ? std::string("p0") : Part.str());
    }
    return Name;
  }

  Error refuse(CallBase &Call, const std::string &What) {
    return refuse(What, sourceOf(Call));
  }
  Error refuse(const std::string &What, const std::string &Source) {
    return fail(ErrorCode::CannotRunHere, "the CPU device cannot run %s (%s)",
                What.c_str(), Source.c_str());
  }

  /// Calls the library's function instead; a pair {T, i1} comes as T with the
  /// second part through a pointer.
  Error replace(CallBase &Call, const std::string &Name,
                ArrayRef<Value *> Arguments) {
    Function *Definition = inLibrary(Name);
    if (!Definition)
      return refuse(Call, Call.getCalledFunction()->getName().str());
    IRBuilder<> Builder(&Call);
    SmallVector<Value *, 6> Flat;
    for (Value *Argument : Arguments)
      Flat.push_back(flatten(Builder, Argument));
    auto *Pair = dyn_cast<StructType>(Call.getType());
    Value *Second = nullptr;
    if (Pair && Pair->getNumElements() == 2) {
      Second = entryAlloca(*Call.getFunction());
      Flat.push_back(Second);
    }
    if (!accepts(*Definition, Flat))
      return refuse(Call, Call.getCalledFunction()->getName().str());
    FunctionCallee Callee =
        M.getOrInsertFunction(Name, Definition->getFunctionType());
    Value *Result = Builder.CreateCall(Callee, Flat);
    if (Second) {
      Value *Flag = Builder.CreateTrunc(
          Builder.CreateLoad(Builder.getInt8Ty(), Second), Builder.getInt1Ty());
      Value *First = Result;
      Result = Builder.CreateInsertValue(PoisonValue::get(Pair), First, 0);
      Result = Builder.CreateInsertValue(Result, Flag, 1);
    }
    if (!Call.getType()->isVoidTy()) {
      if (Result->getType() != Call.getType())
        return refuse(Call, Call.getCalledFunction()->getName().str());
      Call.replaceAllUsesWith(Result);
    }
    Call.eraseFromParent();
    return Error::success();
  }

  static bool accepts(Function &Definition, ArrayRef<Value *> Arguments) {
    FunctionType *Type = Definition.getFunctionType();
    if (Type->getNumParams() != Arguments.size())
      return false;
    for (auto [Parameter, Argument] : zip(Type->params(), Arguments))
      if (Parameter != Argument->getType())
        return false;
    return true;
  }

  static Value *flatten(IRBuilder<> &Builder, Value *Argument) {
    auto *Pointer = dyn_cast<PointerType>(Argument->getType());
    if (!Pointer || !Pointer->getAddressSpace())
      return Argument;
    return Builder.CreateAddrSpaceCast(Argument, Builder.getPtrTy());
  }

  static Value *entryAlloca(Function &F) {
    IRBuilder<> Builder(&F.getEntryBlock(), F.getEntryBlock().begin());
    return Builder.CreateAlloca(Builder.getInt8Ty());
  }

  /// The answers for exact arithmetic on the architecture of the module.
  Error visitReflect(CallBase &Call) {
    std::string Question;
    if (auto *G = dyn_cast<GlobalVariable>(
            Call.getArgOperand(0)->stripPointerCasts()))
      if (auto *Text = G->hasInitializer() ? dyn_cast<ConstantDataSequential>(
                                                 G->getInitializer())
                                           : nullptr;
          Text && Text->isString())
        Question = Text->getAsString().rtrim('\0').str();
    unsigned Answer = 0;
    if (Question == "__CUDA_ARCH")
      Answer = architecture(*Call.getFunction()) * 10;
    else if (Question == "__CUDA_PREC_SQRT" || Question == "__CUDA_PREC_DIV")
      Answer = 1;
    else if (Question != "__CUDA_FTZ")
      return refuse(Call, "__nvvm_reflect(\"" + Question + "\")");
    Call.replaceAllUsesWith(ConstantInt::get(Call.getType(), Answer));
    Call.eraseFromParent();
    return Error::success();
  }

  unsigned architecture(const Function &Caller) const {
    unsigned Number = 90;
    StringRef Cpu = Caller.getFnAttribute("target-cpu").getValueAsString();
    for (const Function &F : M)
      if (Cpu.empty())
        Cpu = F.getFnAttribute("target-cpu").getValueAsString();
    if (Cpu.consume_front("sm_"))
      Cpu.consumeInteger(10, Number);
    return Number;
  }

  Error visitAssembly(CallBase &Call) {
    std::string Text =
        cast<InlineAsm>(Call.getCalledOperand())->getAsmString().str();
    std::string Source = sourceOf(Call);
    if (writeAssembly(
            Call, [&](StringRef Name) { return inLibrary(Name); }, Sites))
      return Error::success();
    return refuse("inline assembly \"" + Text + "\"", Source);
  }

  void eraseDead() {
    SmallPtrSet<Function *, 32> Live;
    for (Function *F : reachable())
      Live.insert(F);
    SmallVector<Function *, 32> Dead;
    for (Function &F : M)
      if (!F.isDeclaration() && !Live.contains(&F))
        Dead.push_back(&F);
    for (Function *F : Dead)
      F->deleteBody();
    for (Function &F : make_early_inc_range(M))
      if (F.isDeclaration() && F.use_empty())
        F.eraseFromParent();
  }

  Error checkUndefined() {
    for (Function &F : M) {
      if (!F.isDeclaration() || F.isIntrinsic() || inLibrary(F.getName()))
        continue;
      return fail(ErrorCode::CannotRunHere,
                  "the CPU device cannot run device function %s: it is not "
                  "defined in this unit",
                  demangle(F.getName()).c_str());
    }
    for (GlobalVariable &G : M.globals())
      if (G.isDeclaration() && G.getAddressSpace() != 3 && !G.use_empty())
        return fail(ErrorCode::CannotRunHere,
                    "the CPU device cannot run code that uses variable %s: it "
                    "is not defined in this unit",
                    demangle(G.getName()).c_str());
    return Error::success();
  }
};

} // namespace

static Expected<std::unique_ptr<Module>> openLibrary(LLVMContext &Context) {
  std::span<const uint8_t> Bytes = libraryBitcode();
  MemoryBufferRef Buffer(
      StringRef(reinterpret_cast<const char *>(Bytes.data()), Bytes.size()),
      "device code library");
  auto Loaded = getLazyBitcodeModule(Buffer, Context);
  if (!Loaded)
    return fail(ErrorCode::Failed, "device code library: %s",
                llvm::toString(Loaded.takeError()).c_str());
  return std::move(*Loaded);
}

Error substitute(Module &M) {
  Expected<std::unique_ptr<Module>> Library = openLibrary(M.getContext());
  if (!Library)
    return Library.error();
  SmallPtrSet<Function *, 8> Exported;
  for (Function &F : M)
    if (!F.isDeclaration() && !F.hasLocalLinkage())
      Exported.insert(&F);
  if (Error Failure = Substitution(M, **Library).run())
    return Failure;
  if (NamedMDNode *Flags = M.getModuleFlagsMetadata())
    Flags->eraseFromParent();
  (*Library)->setTargetTriple(M.getTargetTriple());
  (*Library)->setDataLayout(M.getDataLayout());
  if (Linker::linkModules(M, std::move(*Library), Linker::LinkOnlyNeeded))
    return fail(ErrorCode::Failed, "device code library: does not link");
  for (Function &F : M)
    if (!F.isDeclaration() && !Exported.contains(&F))
      F.setLinkage(GlobalValue::InternalLinkage);
  return Error::success();
}

} // namespace r3::cpu
