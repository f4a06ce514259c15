// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A diagnostic handler that keeps the first error's text.
#include "plugin/ir/Diagnostics.h"

#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace r3::ir {

namespace {

class CollectErrors : public DiagnosticHandler {
public:
  explicit CollectErrors(std::string &First) : First(First) {}
  bool handleDiagnostics(const DiagnosticInfo &Info) override {
    if (Info.getSeverity() == DS_Error && First.empty()) {
      raw_string_ostream Text(First);
      DiagnosticPrinterRawOStream Printer(Text);
      Info.print(Printer);
    }
    return true;
  }

private:
  std::string &First;
};

} // namespace

ScopedHandler::ScopedHandler(LLVMContext &Context, std::string &First)
    : Context(Context), Old(Context.getDiagnosticHandler()) {
  Context.setDiagnosticHandler(std::make_unique<CollectErrors>(First));
}

ScopedHandler::~ScopedHandler() {
  Context.setDiagnosticHandler(std::move(Old));
}

} // namespace r3::ir
