// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3 bisect: which run of which pass makes a variant wrong. The work is in
// wrapper/remix.
#include "wrapper/remix/Bisect.h"

#include "wrapper/r3/Catalogue.h"
#include "wrapper/r3/Command.h"
#include "wrapper/r3/Confirm.h"
#include "wrapper/r3/Interrupt.h"
#include "wrapper/r3/Text.h"
#include "wrapper/r3/Winner.h"

#include "runtime/support/Json.h"

namespace r3 {

namespace {

class Bisect : public Command {
public:
  void declare(Flags &Options) override {
    Options.text("KERNEL", Pattern, "",
                 "the kernel, by name, part of it or key");
    Options.text("--variant", VariantId, "ID",
                 "the beginning of the id of a variant that is not right");
    Options.text("--passes", Change.Pipeline, "PIPELINE",
                 "a pass pipeline of yours, as for opt -passes");
    Options.texts("--unordered", Unordered, "BUFFER=BYTES",
                  "the records of so many bytes of a buffer may come in any "
                  "order");
    Options.flag("--json", Json, "print JSON");
    Options.text("--launcher", Launcher, "COMMAND",
                 "start workers through COMMAND");
  }

  Expected<int> run(Context &Given) override {
    if (Pattern.empty())
      return fail(ErrorCode::Usage,
                  "which kernel? r3 bisect KERNEL; `r3 list` has them");
    if (VariantId.empty() == Change.Pipeline.empty())
      return fail(ErrorCode::Usage,
                  "what is wrong? --variant ID or --passes PIPELINE");
    auto From = Given.openStore();
    if (!From)
      return From.error();
    const Catalogue Recorded = Given.readCatalogue(*From);
    auto Kernel = Recorded.selectOne(Given.Backend, Pattern);
    if (!Kernel)
      return Kernel.error();
    if (!VariantId.empty())
      if (Error E = readVariant(Given, *From, **Kernel))
        return E.in((*Kernel)->Display);
    auto Options = Given.workerOptions(Launcher, Unordered);
    if (!Options)
      return Options.error();
    Given.trace({"worker", Options->Backend, Options->StorePath});
    StopOnSignal Signals;
    Progress Line(Given.Err, /*Quiet=*/false);
    const SearchKernel K = searchKernel(**Kernel);
    auto Found = bisect(
        workerSource(*Options), Signals.flag(), K, Change, [&](uint64_t Left) {
          Line.update((*Kernel)->Display + ": " +
                          (Left ? plural(Left, "run") + " of passes left"
                                : "all passes, and none"),
                      -1);
        });
    if (!Found)
      return Found.error().in((*Kernel)->Display);
    Line.clear();
    if (Json)
      printJson(Given, **Kernel, *Found);
    else
      print(Given, **Kernel, *Found);
    if (!Found->Run)
      return fail(ErrorCode::Failed,
                  "no pass is at fault that could be left out");
    return 0;
  }

private:
  Error readVariant(const Context &Given, const Store &From,
                    const CatalogueKernel &K) {
    auto Log = Journal::openForReading(From.journalPath());
    if (!Log && Log.error().code() == ErrorCode::NotFound)
      return fail(ErrorCode::NotFound, "no search was made; `r3 remix` does");
    if (!Log)
      return Log.error();
    auto Made = (*Log)->evaluations({K.Key, Given.Backend, "", 0});
    if (!Made)
      return Made.error();
    auto One = matchVariant(*Made, VariantId);
    if (!One)
      return One.error();
    Change = One->Change;
    Note = One->Note;
    return Error::success();
  }

  /// "wrong: arg1[0]: expected 1 got 2".
  static std::string ending(Outcome Result, const std::string &Message) {
    return std::string(outcomeName(Result)) +
           (Message.empty() ? "" : ": " + printable(Message));
  }

  void print(Context &Given, const CatalogueKernel &K,
             const BisectReport &R) const {
    auto line = [&](const char *Name, const std::string &Text) {
      Given.Out.print(format("  %-8s ", Name) + Text + "\n");
    };
    Given.Out.print(printable(K.Display) + "\n");
    line("variant", Change.id().hex().substr(0, 12) +
                        (Note.empty() ? "" : " (" + printable(Note) + ")"));
    line("is", ending(R.Result, R.Message));
    if (R.Run) {
      line("by", printable(R.Pass) + " on " + printable(R.Place) + ", run " +
                     countText(R.Run) +
                     (R.Runs ? " of " + countText(R.Runs) : "") + " of passes");
      line("without", "ok, with " + plural(R.Run - 1, "run") + " of passes");
      line("with", ending(R.With, R.WithMessage));
    } else {
      line("without",
           "any pass that could be left out: " + ending(R.With, R.WithMessage));
    }
    line("found", "in " + plural(R.Evaluations, "evaluation"));
  }

  void printJson(Context &Given, const CatalogueKernel &K,
                 const BisectReport &R) const {
    rapidjson::StringBuffer Buffer;
    json::PrettyWriter W(Buffer);
    W.StartObject();
    const std::pair<const char *, std::string> Texts[] = {
        {"key", K.Key},
        {"name", K.Display},
        {"variant", Change.id().hex()},
        {"outcome", std::string(outcomeName(R.Result))},
        {"message", R.Message},
        {"pass", R.Pass},
        {"place", R.Place},
        {"with", std::string(outcomeName(R.With))},
        {"withMessage", R.WithMessage}};
    for (const auto &[Name, Text] : Texts) {
      W.Key(Name);
      W.String(Text);
    }
    W.Key("run"); // 0: none
    W.Uint64(R.Run);
    W.Key("runs"); // 0: not known
    W.Uint64(R.Runs);
    W.Key("evaluations");
    W.Uint64(R.Evaluations);
    W.EndObject();
    Given.Out.print(std::string(Buffer.GetString()) + "\n");
  }

  std::string Pattern, VariantId, Launcher, Note;
  std::vector<std::string> Unordered;
  Variant Change;
  bool Json = false;
};

} // namespace

std::unique_ptr<Command> makeBisect() { return std::make_unique<Bisect>(); }

} // namespace r3
