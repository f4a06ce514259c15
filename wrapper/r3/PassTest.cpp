// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/r3/PassTest.h"

#include <algorithm>
#include <regex>

namespace r3 {

namespace {

constexpr size_t LineWidth = 78;

/// A RUN line, broken between words: lit puts a blank there.
std::string runLine(const std::vector<std::string> &Words) {
  std::string Text, Line;
  for (const std::string &Word : Words) {
    if (!Line.empty() && Line.size() + Word.size() > LineWidth) {
      Text += "; RUN: " + Line + "\\\n";
      Line = "  ";
    }
    Line += Word + " ";
  }
  Line.pop_back();
  return Text + "; RUN: " + Line + "\n";
}

std::string attribute(const std::string &Code, const char *Name) {
  const std::string Key = "\"" + std::string(Name) + "\"=\"";
  const size_t At = Code.find(Key);
  if (At == std::string::npos)
    return {};
  const size_t Start = At + Key.size();
  return Code.substr(Start, Code.find('"', Start) - Start);
}

std::string quoted(const std::string &Text) { return "'" + Text + "'"; }

} // namespace

std::string passesForOpt(const std::string &Pipeline,
                         const std::string &Level) {
  // r3-default runs on code of -O0 as it is; what is asked for by name wants
  // to optimise it.
  const std::string Begin = Level == "O0" ? "r3-optimisable," : "";
  if (Pipeline.empty())
    return "r3-default<" + Level + ">";
  static const std::regex Default("(^|[,(])default<(O[0-3sz])>");
  const std::string Text =
      std::regex_replace(Pipeline, Default, "$1r3-default<$2>");
  static const std::regex Whole("r3-default<O[0-3sz]>");
  if (std::regex_match(Text, Whole))
    return Begin + Text;
  return Begin + "nvvm-reflect,function(nvvm-intr-range),always-inline," + Text;
}

std::vector<std::string> optOptions(const std::string &Code) {
  std::vector<std::string> Options;
  if (const std::string Cpu = attribute(Code, "target-cpu"); !Cpu.empty())
    Options.push_back("-mcpu=" + Cpu);
  if (const std::string All = attribute(Code, "target-features"); !All.empty())
    Options.push_back("-mattr=" + All);
  Options.push_back("-enable-memcpyopt-without-libcalls");
  return Options;
}

std::string withoutPlace(const std::string &Code) {
  std::string Text;
  for (size_t At = 0; At < Code.size();) {
    const size_t End = std::min(Code.find('\n', At), Code.size() - 1) + 1;
    const std::string_view Line(Code.data() + At, End - At);
    if (!Line.starts_with("; ModuleID =") &&
        !Line.starts_with("source_filename ="))
      Text += Line;
    At = End;
  }
  return Text;
}

std::vector<std::string> checkOptions(const IrProperty &P) {
  std::vector<std::string> Options;
  for (const std::string &Pattern : P.Exclusive)
    Options.push_back("--implicit-check-not=" + Pattern);
  return Options;
}

std::string PassTest::text() const {
  std::string Text;
  for (const std::string &Line : Head)
    Text += "; " + Line + "\n";
  Text += ";\n";
  std::vector<std::string> Opt = {"opt", "-load-pass-plugin=%r3plugin"};
  Opt.insert(Opt.end(), Options.begin(), Options.end());
  Opt.insert(Opt.end(),
             {"-passes=" + quoted(Passes), "%s", "-S", "-o", "%t.ll"});
  Text += runLine(Opt);
  for (const IrProperty &P : Properties) {
    std::vector<std::string> Check = {"FileCheck", "%s",
                                      "--check-prefix=" + P.Prefix};
    for (const std::string &Option : checkOptions(P))
      Check.push_back(quoted(Option));
    Check.insert(Check.end(), {"<", "%t.ll"});
    Text += runLine(Check);
  }
  for (const IrProperty &P : Properties) {
    Text += ";\n; " + P.Meaning + "\n";
    for (const std::string &Directive : P.Directives)
      Text += "; " + P.Prefix + Directive + "\n";
  }
  return Text + "\n" + Code;
}

std::string litConfig(const std::string &ToolFolder,
                      const std::string &Plugin) {
  return R"(# How lit runs the tests that `r3 export-test` writes: lit-22 -v FOLDER
#
# %r3plugin in a test is R3's plugin: lit-22 --param r3plugin=PATH names it,
# else it is the one that belongs to the r3 in PATH, else the one that the tests
# were written with. A suite with a configuration of its own says the same with
#   config.substitutions.append(("%r3plugin", "PATH/lib/libR3.so"))
import os
import shutil

import lit.formats

written_with = ")" +
         Plugin + R"("
llvm_tools = ")" +
         ToolFolder + R"("

config.name = "R3 pass sequences"
config.test_format = lit.formats.ShTest()
config.suffixes = [".ll"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))

plugin = lit_config.params.get("r3plugin")
command = shutil.which("r3")
if not plugin and command:
    prefix = os.path.dirname(os.path.dirname(os.path.realpath(command)))
    plugin = os.path.join(prefix, "lib", "libR3.so")
if not plugin or not os.path.exists(plugin):
    plugin = plugin if "r3plugin" in lit_config.params else written_with
if not os.path.exists(plugin):
    lit_config.fatal("%s is missing: name libR3.so with --param r3plugin=PATH"
                     % plugin)
config.substitutions.append(("%r3plugin", plugin))
if os.path.isdir(llvm_tools):
    config.environment["PATH"] = os.pathsep.join(
        [llvm_tools, config.environment.get("PATH", "")])
)";
}

} // namespace r3
