// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Module passes around the functions that the compile worker calls, so that
// opt derives the same code.
#include "plugin/OptPasses.h"

#include "plugin/instrument/Builds.h"
#include "plugin/ir/Closure.h"
#include "plugin/ir/Pipeline.h"
#include "plugin/ir/RemapBlocks.h"

#include "runtime/support/Files.h"

#include "llvm/IR/DebugInfo.h"

#include <functional>

using namespace llvm;

namespace r3::plugin {

namespace {

using Work = std::function<Error(Module &)>;

struct OptPass : PassInfoMixin<OptPass> {
  Work Does;

  explicit OptPass(Work Does) : Does(std::move(Does)) {}
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    if (Error E = Does(M))
      M.getContext().emitError(E.message());
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};

Error leaveClosure(Module &M, const std::string &Kernel) {
  if (Error E = ir::reduceToClosure(M, Kernel))
    return E;
  StripDebugInfo(M);
  return Error::success();
}

Error runDefault(Module &M, const std::string &Level) {
  auto Machine = ir::createTargetMachine(M, Level);
  if (!Machine)
    return Machine.error();
  return ir::runPipeline(M, **Machine, "default<" + Level + ">", Level);
}

Error instrument(Module &M, const instrument::BuildKind &Kind,
                 const std::string &Libdevice) {
  std::vector<uint8_t> Library;
  if (!Libdevice.empty()) {
    auto Bytes = readFile(Libdevice);
    if (!Bytes)
      return Bytes.error();
    Library = std::move(*Bytes);
  }
  auto Info = Kind.Add(M, Library);
  return Info ? Error::success() : Info.error();
}

/// The pass of a name without "r3-"; null: there is none.
Work passOf(StringRef Name) {
  auto [Base, Rest] = Name.split('<');
  std::string Parameter;
  if (Base.size() != Name.size()) {
    if (!Rest.consume_back(">") || Rest.empty())
      return nullptr;
    Parameter = Rest.str();
  }
  if (Base == "closure" && !Parameter.empty())
    return [Parameter](Module &M) { return leaveClosure(M, Parameter); };
  if (Base == "default" && !Parameter.empty())
    return [Parameter](Module &M) { return runDefault(M, Parameter); };
  if (Base == "optimisable" && Parameter.empty())
    return [](Module &M) {
      ir::allowOptimisation(M);
      return Error::success();
    };
  if (Base == "remap") {
    auto Shape = BlockShape::parse(Parameter);
    if (!Shape)
      return nullptr;
    return [Shape = *Shape](Module &M) { return ir::remapBlocks(M, Shape); };
  }
  auto Kind = instrument::findBuildKind(Base);
  if (!Kind || (!Parameter.empty() && Base != "double"))
    return nullptr;
  return [Kind = *Kind, Parameter](Module &M) {
    return instrument(M, *Kind, Parameter);
  };
}

} // namespace

void registerOptPasses(PassBuilder &Builder) {
  Builder.registerPipelineParsingCallback(
      [](StringRef Name, ModulePassManager &Manager,
         ArrayRef<PassBuilder::PipelineElement>) {
        Work Does = Name.consume_front("r3-") ? passOf(Name) : nullptr;
        if (!Does)
          return false;
        Manager.addPass(OptPass(std::move(Does)));
        return true;
      });
}

} // namespace r3::plugin
