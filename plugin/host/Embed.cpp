// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stub comes as bitcode that was compiled when R3 was built. A section
// that is not loaded cannot be had from a global variable (those are loaded,
// and collected where nobody refers to them), so it is written as assembly.
#include "plugin/host/Embed.h"

#include "plugin/host/Shims.h"
#include "plugin/ir/Diagnostics.h"
#include "runtime/record/ImageAbi.h"
#include "runtime/support/Process.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace r3::plugin {

static constexpr unsigned char StubBitcode[] = {
#include "StubBitcode.inc"
};

/// Before the program's own constructors, as early as a user may ask for.
static constexpr int Priority = 101;

static Expected<std::unique_ptr<Module>> readStub(Module &M) {
  StringRef Bytes(reinterpret_cast<const char *>(StubBitcode),
                  sizeof(StubBitcode));
  auto Stub = parseBitcodeFile(MemoryBufferRef(Bytes, "stub"), M.getContext());
  if (!Stub)
    return fail(ErrorCode::Failed, "stub: %s",
                toString(Stub.takeError()).c_str());
  if ((*Stub)->getTargetTriple().getArch() != M.getTargetTriple().getArch())
    return fail(ErrorCode::CannotRunHere, "no stub for %s",
                M.getTargetTriple().str().c_str());
  for (const char *Name :
       {"llvm.module.flags", "llvm.ident", "llvm.errno.tbaa"})
    if (NamedMDNode *Node = (*Stub)->getNamedMetadata(Name))
      (*Stub)->eraseNamedMetadata(Node);
  (*Stub)->setTargetTriple(M.getTargetTriple());
  (*Stub)->setDataLayout(M.getDataLayout());
  (*Stub)->setModuleInlineAsm("");
  return std::move(*Stub);
}

static void defineConstant(Module &Stub, const char *Name, Constant *Value) {
  GlobalVariable *Old = Stub.getNamedGlobal(Name);
  auto *New = new GlobalVariable(Stub, Value->getType(), /*isConstant=*/true,
                                 GlobalValue::ExternalLinkage, Value);
  if (Old) {
    Old->replaceAllUsesWith(New);
    Old->eraseFromParent();
  }
  New->setName(Name);
}

static void fillIn(Module &Stub) {
  LLVMContext &Context = Stub.getContext();
  defineConstant(Stub, "__r3_runtime_path",
                 ConstantDataArray::getString(
                     Context, installationPath("lib/libr3-runtime.so")));
  defineConstant(Stub, "__r3_entry_count",
                 ConstantInt::get(Type::getInt32Ty(Context), entryCount()));
}

GlobalVariable &declareImage(Module &M) {
  auto *Image = new GlobalVariable(
      M,
      ArrayType::get(Type::getInt64Ty(M.getContext()),
                     sizeof(R3ImageTable) / sizeof(uint64_t)),
      /*isConstant=*/false, GlobalValue::ExternalLinkage, nullptr,
      "__r3_image");
  Image->setVisibility(GlobalValue::HiddenVisibility);
  Image->setDSOLocal(true);
  return *Image;
}

static Error linkIn(Module &M) {
  Expected<std::unique_ptr<Module>> Stub = readStub(M);
  if (!Stub)
    return Stub.error();
  fillIn(**Stub);
  std::vector<std::string> Defined;
  for (GlobalObject &Object : (*Stub)->global_objects())
    if (!Object.isDeclaration() && !Object.hasLocalLinkage())
      Defined.push_back(Object.getName().str());
  std::string Reported;
  ir::ScopedHandler Handler(M.getContext(), Reported);
  if (Linker::linkModules(M, std::move(*Stub)))
    return fail(ErrorCode::Failed, "linking the stub: %s", Reported.c_str());
  // Only now: the linker leaves out what may be dropped.
  for (const std::string &Name : Defined)
    makeImageLocal(*cast<GlobalObject>(M.getNamedValue(Name)));
  Function *Register = M.getFunction("__r3_register_image");
  appendToGlobalCtors(M, Register, Priority, Register);
  return Error::success();
}

Error linkStub(Module &M) {
  Error Problem = linkIn(M);
  if (!Problem)
    return Problem;
  GlobalVariable *Image = M.getNamedGlobal("__r3_image");
  if (Image->isDeclaration())
    Image->setInitializer(Constant::getNullValue(Image->getValueType()));
  makeImageLocal(*Image);
  return Problem;
}

namespace {

/// Builds the constants that ImageAbi.h describes.
class TableBuilder {
public:
  explicit TableBuilder(Module &M) : M(M), Context(M.getContext()) {}

  Constant *pointer(Constant *To) {
    return To ? To : ConstantPointerNull::get(PointerType::get(Context, 0));
  }
  Constant *word(uint32_t Value) {
    return ConstantInt::get(Type::getInt32Ty(Context), Value);
  }
  Constant *text(StringRef Text) {
    return global(ConstantDataArray::getString(Context, Text), "__r3_text");
  }
  GlobalVariable *global(Constant *Value, const Twine &Name,
                         bool IsConstant = true) {
    return new GlobalVariable(M, Value->getType(), IsConstant,
                              GlobalValue::PrivateLinkage, Value, Name);
  }
  Constant *row(const Registration &R, bool WithSize) {
    SmallVector<Constant *, 3> Fields = {R.Host, text(R.Name)};
    if (WithSize)
      Fields.push_back(ConstantInt::get(Type::getInt64Ty(Context), R.Size));
    return ConstantStruct::getAnon(Fields);
  }
  /// An array of rows, or null where there are none.
  Constant *rows(const std::vector<Registration> &All, bool WithSize,
                 const Twine &Name) {
    SmallVector<Constant *, 16> Rows;
    for (const Registration &R : All)
      Rows.push_back(row(R, WithSize));
    if (Rows.empty())
      return pointer(nullptr);
    return global(ConstantArray::get(
                      ArrayType::get(Rows[0]->getType(), Rows.size()), Rows),
                  Name);
  }

private:
  Module &M;
  LLVMContext &Context;
};

} // namespace

static Function *callWithTable(Module &M, StringRef Name, StringRef Callee,
                               Constant *Table) {
  auto *F = Function::Create(
      FunctionType::get(Type::getVoidTy(M.getContext()), false),
      GlobalValue::InternalLinkage, Name, M);
  F->setUWTableKind(M.getUwtable());
  IRBuilder<> Builder(BasicBlock::Create(M.getContext(), "entry", F));
  Builder.CreateCall(M.getFunction(Callee), {Table});
  Builder.CreateRetVoid();
  return F;
}

void emitUnitTable(Module &M, const Registrations &Found,
                   const std::string &UnitId) {
  TableBuilder B(M);
  Constant *Fields[] = {
      B.word(R3_IMAGE_VERSION),
      B.word(Found.Kernels.size()),
      B.word(Found.Variables.size()),
      B.word(0),
      B.text(UnitId),
      B.rows(Found.Kernels, /*WithSize=*/false, "__r3_kernels"),
      B.rows(Found.Variables, /*WithSize=*/true, "__r3_globals"),
      B.pointer(Found.Fatbin),
      B.pointer(nullptr),
      B.pointer(nullptr)};
  GlobalVariable *Table = B.global(ConstantStruct::getAnon(Fields), "__r3_unit",
                                   /*IsConstant=*/false);
  appendToGlobalCtors(
      M, callWithTable(M, "__r3_unit_init", "__r3_register_unit", Table),
      Priority);
  appendToGlobalDtors(
      M, callWithTable(M, "__r3_unit_exit", "__r3_unregister_unit", Table),
      Priority);
}

void emitSection(Module &M, const std::string &UnitId,
                 std::span<const uint8_t> Bytes) {
  std::string Text;
  raw_string_ostream Out(Text);
  Out << ".pushsection .r3.unit." << StringRef(UnitId).take_front(16)
      << ",\"\",@progbits\n";
  size_t Words = Bytes.size() / 8;
  for (size_t I = 0; I < Words; ++I)
    Out << (I % 8 ? "," : "\n.quad ")
        << format_hex(support::endian::read64le(&Bytes[I * 8]), 1);
  for (size_t I = Words * 8; I < Bytes.size(); ++I)
    Out << "\n.byte " << unsigned(Bytes[I]);
  Out << "\n.popsection\n";
  M.appendModuleInlineAsm(Text);
}

} // namespace r3::plugin
