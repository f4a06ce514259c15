// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line, through CLI11. What follows "--" is cut off before, since
// it belongs to the program. A `complete` subcommand that help does not show
// answers the shells' completion scripts.
#include "wrapper/r3/CommandLine.h"

#include "wrapper/r3/Command.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>

namespace r3 {

namespace {

/// A parser of ours as CLI11 wants one: it throws what becomes exit status 2.
template <typename Parse>
std::function<void(const std::string &)> parsed(uint64_t &Value, Parse How) {
  return [&Value, How](const std::string &Text) {
    auto Number = How(Text);
    if (!Number)
      throw CLI::ValidationError(Number.error().message());
    Value = *Number;
  };
}

Expected<uint64_t> parseNatural(const std::string &Text) {
  uint64_t Value = 0;
  auto [End, Code] =
      std::from_chars(Text.data(), Text.data() + Text.size(), Value);
  if (Code != std::errc() || End != Text.data() + Text.size())
    return fail(ErrorCode::Usage, "'%s' is not a natural number", Text.c_str());
  return Value;
}

class CliFlags : public Flags {
public:
  explicit CliFlags(CLI::App &App) : App(App) {}

  void flag(const char *Names, bool &Value, const char *Help) override {
    App.add_flag(Names, Value, Help);
  }
  void text(const char *Names, std::string &Value, const char *Kind,
            const char *Help) override {
    App.add_option(Names, Value, Help)->type_name(Kind);
  }
  void texts(const char *Names, std::vector<std::string> &Values,
             const char *Kind, const char *Help) override {
    auto *Option = App.add_option(Names, Values, Help)->type_name(Kind);
    // An option takes one value each time; only positionals take the rest.
    if (*Names == '-')
      Option->expected(1)
          ->allow_extra_args(false)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
  void choice(const char *Names, std::string &Value,
              std::vector<std::string> Allowed, const char *Help) override {
    std::string Kind;
    for (const std::string &One : Allowed)
      Kind += (Kind.empty() ? "" : "|") + One;
    App.add_option(Names, Value, Help)
        ->check(CLI::IsMember(std::move(Allowed)).description(""))
        ->type_name(Kind);
  }
  void count(const char *Names, uint64_t &Value, const char *Help) override {
    App.add_option_function<std::string>(Names, parsed(Value, parseNatural),
                                         Help)
        ->type_name("N");
  }
  void size(const char *Names, uint64_t &Value, const char *Help) override {
    App.add_option_function<std::string>(Names, parsed(Value, parseSize), Help)
        ->type_name("SIZE");
  }
  void duration(const char *Names, uint64_t &Value, const char *Help) override {
    App.add_option_function<std::string>(Names, parsed(Value, parseDuration),
                                         Help)
        ->type_name("TIME");
  }
  void number(const char *Names, double &Value, double Low, double High,
              const char *Help) override {
    App.add_option(Names, Value, Help)
        ->check(CLI::Range(Low, High).description(""))
        ->type_name("X");
  }

private:
  CLI::App &App;
};

const char *const Footer =
    "A first session:\n"
    "  r3 init                      r3.toml and an empty r3.profile\n"
    "  make CXX=clang-r3            an ordinary build\n"
    "  r3 record -- ./app in.dat    one run\n"
    "  r3 list                      what was recorded\n"
    "  r3 replay                    do the originals reproduce?\n"
    "  r3 remix --budget 20m        search\n"
    "  r3 apply --accept weak       write the winners into r3.profile\n"
    "  make CXX=clang-r3            exactly the units with winners are "
    "rebuilt\n"
    "\n"
    "Exit status: 0 what was asked for holds, 1 failed, 2 usage, 3 stale, 4 "
    "wrong,\n5 slower, 6 cannot run here.\n";

void addGlobals(CLI::App &App, ParsedLine &Line, bool UsesDevice) {
  CliFlags Options(App);
  if (UsesDevice)
    Options.choice("--device", Line.Device, {"cuda", "cpu"},
                   "device that kernels run on (default: R3_DEVICE, else "
                   "cuda)");
  Options.flag("--verbose", Line.Verbose, "print the commands that are run");
}

} // namespace

struct Parser::State {
  CLI::App App{"R3 records the kernels of a GPU program, searches for faster "
               "variants of them,\nand builds the winners in.",
               "r3"};
  ParsedLine Line;
  std::vector<std::unique_ptr<Command>> Commands;
  std::vector<CLI::App *> Apps;
};

Parser::Parser() : S(std::make_unique<State>()) {
  S->App.footer(Footer);
  S->App.require_subcommand(1);
  addGlobals(S->App, S->Line, /*UsesDevice=*/true);
  for (const CommandRow &Row : commandTable()) {
    CLI::App *Sub = S->App.add_subcommand(Row.Name, Row.Summary);
    Sub->footer(std::string("Examples:\n") + Row.Examples);
    // --device and --verbose may stand on either side of the subcommand.
    addGlobals(*Sub, S->Line, Row.UsesDevice);
    CliFlags Options(*Sub);
    S->Commands.push_back(Row.Make());
    S->Commands.back()->declare(Options);
    S->Apps.push_back(Sub);
  }
}

Parser::~Parser() = default;

Expected<ParsedLine> Parser::parse(std::vector<std::string> Arguments) {
  auto Dashes = std::find(Arguments.begin(), Arguments.end(), "--");
  if (Dashes != Arguments.end())
    S->Line.Program.assign(Dashes + 1, Arguments.end());
  bool HasDashes = Dashes != Arguments.end();
  Arguments.erase(Dashes, Arguments.end());
  if (!Arguments.empty() && Arguments[0] == "help") {
    Arguments.erase(Arguments.begin());
    Arguments.push_back("--help");
  }
  if (Arguments.empty())
    Arguments.push_back("--help");
  if (Error E = checkCommand(Arguments))
    return E;
  try {
    std::reverse(Arguments.begin(), Arguments.end());
    S->App.parse(Arguments);
  } catch (const CLI::CallForHelp &) {
    S->Line.Help = helpText();
    return S->Line;
  } catch (const CLI::ParseError &E) {
    return usageError(E.what());
  }
  for (size_t I = 0; I < S->Apps.size(); ++I)
    if (S->Apps[I]->parsed()) {
      S->Line.Row = &commandTable()[I];
      S->Line.Asked = S->Commands[I].get();
    }
  if (HasDashes && !S->Line.Row->TakesProgram)
    return usageError("nothing may follow --");
  if (!S->Line.Device.empty() && !S->Line.Row->UsesDevice)
    return usageError("--device means nothing here");
  return S->Line;
}

std::string Parser::helpText() const {
  for (size_t I = 0; I < S->Apps.size(); ++I) {
    if (!S->Apps[I]->parsed())
      continue;
    std::string Text = S->Apps[I]->help("r3");
    const std::string Plain = "[OPTIONS]";
    size_t Place = Text.find(Plain);
    if (commandTable()[I].TakesProgram && Place != std::string::npos)
      Text.insert(Place + Plain.size(), " -- PROGRAM [ARGUMENTS]");
    return Text;
  }
  return S->App.help();
}

Error Parser::checkCommand(const std::vector<std::string> &Arguments) const {
  std::vector<std::string_view> Names;
  for (const CommandRow &Row : commandTable())
    Names.push_back(Row.Name);
  for (size_t I = 0; I < Arguments.size(); ++I) {
    const std::string &Word = Arguments[I];
    if (Word.starts_with("-")) {
      I += Word == "--device";
      continue;
    }
    if (std::find(Names.begin(), Names.end(), Word) != Names.end())
      break;
    std::string Near = nearestName(Word, Names);
    return fail(ErrorCode::Usage, "no command '%s'%s (see r3 --help)",
                Word.c_str(),
                Near.empty() ? "" : ("; did you mean '" + Near + "'?").c_str());
  }
  return Error::success();
}

Error Parser::usageError(std::string Why) const {
  std::string Name = "r3";
  for (const CLI::App *Sub : S->Apps)
    if (Sub->parsed())
      Name += " " + Sub->get_name();
  if (!Why.empty() && Why.back() == '.')
    Why.pop_back();
  if (!Why.empty() && std::isupper(static_cast<unsigned char>(Why[0])) &&
      Why.size() > 1 && std::islower(static_cast<unsigned char>(Why[1])))
    Why[0] = char(std::tolower(static_cast<unsigned char>(Why[0])));
  return fail(ErrorCode::Usage, "%s (see %s --help)", Why.c_str(),
              Name.c_str());
}

std::vector<std::string> Parser::optionNames(const std::string &Command) const {
  std::vector<std::string> Names;
  for (const CLI::App *Sub : S->Apps) {
    if (Sub->get_name() != Command)
      continue;
    for (const CLI::Option *Option : Sub->get_options())
      for (const std::string &Long : Option->get_lnames())
        Names.push_back("--" + Long);
  }
  return Names;
}

} // namespace r3
