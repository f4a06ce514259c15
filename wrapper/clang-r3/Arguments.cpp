// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading a command line by the table Arguments.def: the longest spelling
// that fits an argument decides whether it takes the next one as its value and
// which role it plays. Arguments that are in no row are clang's alone.
#include "wrapper/clang-r3/Arguments.h"

#include "runtime/support/Options.h"

#include <algorithm>
#include <filesystem>

namespace r3::clangr3 {

namespace {

enum class Shape {
  Flag,
  Joined,
  Separate,
  JoinedOrSeparate,
  JoinedAndSeparate,
  Two,
  Three
};

enum class Role {
  None,
  Architecture,
  AssembleOnly,
  CompileOnly,
  CudaPath,
  DependenciesOnly,
  DependencyFile,
  DriverMode,
  Frontend,
  KeepTemporaries,
  Language,
  Library,
  LibraryFolder,
  NoCudaIncludes,
  OffloadLink,
  Output,
  Preprocess,
  ShowCommands,
  SyntaxOnly,
  ToPreprocessor,
  WriteDependencies
};

struct Row {
  std::string_view Spelling;
  Shape Form;
  Role Meaning;
};

constexpr Row Rows[] = {
#define R3_ARGUMENT(Spelling, Form, Meaning)                                   \
  {Spelling, Shape::Form, Role::Meaning},
#include "wrapper/clang-r3/Arguments.def"
};

// Whether the row describes the argument.
bool fits(const Row &R, std::string_view Argument) {
  switch (R.Form) {
  case Shape::Joined:
  case Shape::JoinedOrSeparate:
  case Shape::JoinedAndSeparate:
    return Argument.starts_with(R.Spelling);
  default:
    return Argument == R.Spelling;
  }
}

const Row *findRow(std::string_view Argument) {
  const Row *Best = nullptr;
  for (const Row &R : Rows)
    if (fits(R, Argument) &&
        (!Best || R.Spelling.size() > Best->Spelling.size()))
      Best = &R;
  return Best;
}

// How many of the following arguments are values of this one.
size_t valuesAfter(const Row &R, std::string_view Argument) {
  switch (R.Form) {
  case Shape::Flag:
  case Shape::Joined:
    return 0;
  case Shape::Separate:
  case Shape::JoinedAndSeparate:
    return 1;
  case Shape::JoinedOrSeparate:
    return Argument.size() == R.Spelling.size() ? 1 : 0;
  case Shape::Two:
    return 2;
  case Shape::Three:
    return 3;
  }
  return 0;
}

std::string extension(const std::string &Path) {
  std::string Text = std::filesystem::path(Path).extension().string();
  return Text.empty() ? Text : Text.substr(1);
}

// State that is needed while reading, and not afterwards.
struct Reader {
  CommandLine Result;
  std::string Language;
  bool WritesDependencies = false;
  bool OnlyInputs = false; // after "--"
  std::string DependencyFile;

  void apply(const Row &R, const std::string &Value);
  void toPreprocessor(const std::string &List);
  size_t take(std::span<const std::string> Arguments, size_t Index);
  void finish();
};

void Reader::toPreprocessor(const std::string &List) {
  // -Wp,-MD,FILE: the old way of naming a dependency file.
  for (std::string_view Kind : {"-MD,", "-MMD,"})
    if (List.starts_with(Kind)) {
      WritesDependencies = true;
      DependencyFile = List.substr(Kind.size());
    }
}

// Later stages win: -E and -M over -S over -c, as in clang's driver.
void Reader::apply(const Row &R, const std::string &Value) {
  CommandLine &C = Result;
  auto goal = [&](Action A) { C.Goal = std::max(C.Goal, A); };
  switch (R.Meaning) {
  case Role::None:
    break;
  case Role::Architecture:
    C.NamesArchitecture = true;
    break;
  case Role::AssembleOnly:
  case Role::CompileOnly:
    goal(Action::Compile);
    break;
  case Role::CudaPath:
    C.CudaPath = Value;
    break;
  case Role::DependenciesOnly:
    WritesDependencies = true;
    goal(Action::Dependencies);
    break;
  case Role::DependencyFile:
    DependencyFile = Value;
    break;
  case Role::DriverMode:
    C.IsFrontend |= Value != "g++" && Value != "gcc";
    break;
  case Role::Frontend:
    C.IsFrontend = true;
    break;
  case Role::KeepTemporaries:
    C.KeepsTemporaries = true;
    break;
  case Role::Language:
    Language = Value == "none" ? "" : Value;
    break;
  case Role::Library:
    C.Libraries.push_back(Value);
    break;
  case Role::LibraryFolder:
    C.LibraryFolders.push_back(Value);
    break;
  case Role::NoCudaIncludes:
    C.WantsCudaIncludes = false;
    break;
  case Role::OffloadLink:
    C.LinksOffload = true;
    break;
  case Role::Output:
    C.Output = Value;
    break;
  case Role::Preprocess:
    goal(Action::Preprocess);
    break;
  case Role::ShowCommands:
    C.ShowsCommands = true;
    break;
  case Role::SyntaxOnly:
    goal(Action::SyntaxOnly);
    break;
  case Role::ToPreprocessor:
    toPreprocessor(Value);
    break;
  case Role::WriteDependencies:
    WritesDependencies = true;
    break;
  }
}

// Reads the argument at Index; returns how many it used.
size_t Reader::take(std::span<const std::string> Arguments, size_t Index) {
  const std::string &Argument = Arguments[Index];
  if (OnlyInputs || Argument.size() < 2 || Argument[0] != '-') {
    if (!Argument.empty())
      Result.Inputs.push_back({Argument, Language});
    return 1;
  }
  if (Argument == "--") {
    OnlyInputs = true;
    return 1;
  }
  const Row *R = findRow(Argument);
  if (!R)
    return 1;
  size_t Values = valuesAfter(*R, Argument);
  if (Values >= Arguments.size() - Index)
    return Arguments.size() - Index; // clang will say that it is missing
  bool Separate = R->Form == Shape::Separate || Values > 0;
  apply(*R, Separate ? Arguments[Index + Values]
                     : Argument.substr(R->Spelling.size()));
  return 1 + Values;
}

// Names of dependency files, as clang's getDependencyFileName has them.
void Reader::finish() {
  CommandLine &C = Result;
  if (!WritesDependencies)
    return;
  if (!DependencyFile.empty())
    C.DependencyFiles.push_back(DependencyFile);
  else if (C.Goal == Action::Dependencies)
    C.DependencyFiles.push_back(C.Output.empty() ? "-" : C.Output);
  else if (!C.Output.empty())
    C.DependencyFiles.push_back(
        std::filesystem::path(C.Output).replace_extension("d").string());
  else
    for (const Input *I : C.sources())
      C.DependencyFiles.push_back(
          std::filesystem::path(I->Path).stem().string() + ".d");
}

bool isOwn(const std::string &Argument) {
  return Argument.starts_with("--r3-") || Argument == "-Wr3" ||
         Argument == "-Wno-r3" || Argument.starts_with("-Wr3-") ||
         Argument.starts_with("-Wno-r3-");
}

void takeWarning(const std::string &Argument, CommandLine &C) {
  if (Argument == "-Wno-r3" || Argument == "-Wr3")
    C.SilenceAll = Argument == "-Wno-r3";
  else if (Argument.starts_with("-Wno-r3-"))
    C.Silenced.insert(Argument.substr(8));
  else
    C.Silenced.erase(Argument.substr(5));
}

// --r3-NAME or --r3-NAME=VALUE, or -W[no-]r3[-REASON].
Error takeOwn(const std::string &Argument, CommandLine &C) {
  if (!Argument.starts_with("--r3-")) {
    takeWarning(Argument, C);
    return Error::success();
  }
  size_t Equals = Argument.find('=');
  std::string Name = Argument.substr(0, Equals);
  bool HasValue = Equals != std::string::npos;
  std::string Value = HasValue ? Argument.substr(Equals + 1) : "";
  auto withoutValue = [&](bool &Switch) {
    Switch = true;
    return HasValue ? fail(ErrorCode::Usage, "%s takes no value", Name.c_str())
                    : Error::success();
  };
  if (Name == "--r3-dry-run")
    return withoutValue(C.DryRun);
  if (Name == "--r3-strict")
    return withoutValue(C.Strict);
  if (Name == "--r3-help")
    return withoutValue(C.Help);
  if (Name == "--r3-use") {
    C.Profile = Value;
    return Value.empty() ? fail(ErrorCode::Usage, "--r3-use=DIR needs a folder")
                         : Error::success();
  }
  if (Name == "--r3-mode") {
    if (Value != "record" && Value != "use" && Value != "off")
      return fail(ErrorCode::Usage,
                  "--r3-mode: '%s' is none of record, use, off", Value.c_str());
    C.How = Value == "record" ? Mode::Record
            : Value == "use"  ? Mode::Use
                              : Mode::Off;
    return Error::success();
  }
  std::vector<std::string_view> Known;
  for (const OptionRow &R : flagTable())
    Known.push_back(R.Name);
  std::string Near = nearestName(Name, Known);
  return fail(ErrorCode::Usage, "unknown flag %s%s", Name.c_str(),
              Near.empty() ? "" : ("; did you mean " + Near + "?").c_str());
}

// Replaces @FILE by its words, nested ones too. A file that cannot be read
// stays as it is, and so does one that includes itself for ever.
void expand(const std::string &Argument, const FileReader &Read,
            unsigned Depth, std::vector<std::string> &Out) {
  if (Argument.size() > 1 && Argument[0] == '@' && Depth < 16)
    if (Expected<std::string> Text = Read(Argument.substr(1))) {
      for (const std::string &Word : splitResponseFile(*Text))
        expand(Word, Read, Depth + 1, Out);
      return;
    }
  Out.push_back(Argument);
}

} // namespace

bool Input::isCuda() const {
  if (!Language.empty())
    return Language == "cuda" || Language == "cuda-cpp-output";
  std::string Suffix = extension(Path);
  return Suffix == "cu" || Suffix == "cui";
}

bool Input::isForLinker() const {
  if (!Language.empty())
    return false;
  // The suffixes of sources in clang's Types.cpp; whatever else is given goes
  // to the linker.
  static const std::set<std::string> Sources = {
      "c",   "C",   "cc",  "CC",   "cp",   "cpp", "CPP", "cxx",  "CXX",  "c++",
      "C++", "cu",  "cui", "h",    "H",    "hh",  "hpp", "hxx",  "h++",  "hip",
      "i",   "ii",  "iim", "m",    "M",    "mi",  "mm",  "mii",  "s",    "S",
      "asm", "sx",  "cl",  "clcpp", "hlsl", "f",   "F",   "f90",  "cppm", "ccm",
      "cxxm", "c++m", "ixx", "pcm", "ast",  "bc",  "ll",  "cir",  "ifs"};
  return !Sources.contains(extension(Path)) && Path != "-";
}

std::vector<const Input *> CommandLine::sources() const {
  std::vector<const Input *> Found;
  for (const Input &I : Inputs)
    if (!I.isForLinker())
      Found.push_back(&I);
  return Found;
}

std::vector<const Input *> CommandLine::cudaSources() const {
  std::vector<const Input *> Found;
  for (const Input &I : Inputs)
    if (I.isCuda())
      Found.push_back(&I);
  return Found;
}

Expected<CommandLine> parseCommandLine(std::span<const std::string> Arguments,
                                       const FileReader &Read) {
  Reader State;
  CommandLine &C = State.Result;
  std::vector<std::string> Words;
  bool SawDashes = false;
  for (const std::string &Argument : Arguments) {
    std::vector<std::string> Expanded;
    expand(Argument, Read, 0, Expanded);
    // A response file stays one, unless it holds flags that clang does not
    // know.
    bool Spell = std::any_of(Expanded.begin(), Expanded.end(), isOwn);
    std::vector<std::string> Kept = Spell ? Expanded : std::vector{Argument};
    for (const std::string &Word : Kept) {
      if (!SawDashes && isOwn(Word)) {
        if (Error Problem = takeOwn(Word, C))
          return Problem;
        std::erase(Expanded, Word);
        continue;
      }
      if (Word == "--" && !SawDashes) {
        SawDashes = true;
        C.AddAt = C.Given.size();
      }
      C.Given.push_back(Word);
    }
    if (!SawDashes && std::count(Expanded.begin(), Expanded.end(), "--"))
      C.MayAddAtEnd = false;
    Words.insert(Words.end(), Expanded.begin(), Expanded.end());
  }
  if (!SawDashes)
    C.AddAt = C.Given.size();

  for (size_t Index = 0; Index < Words.size();)
    Index += State.take(Words, Index);
  State.finish();
  return std::move(State.Result);
}

std::vector<std::string> splitResponseFile(std::string_view Text) {
  std::vector<std::string> Words;
  std::string Word;
  bool InWord = false;
  char Quote = 0;
  for (size_t I = 0; I < Text.size(); ++I) {
    char C = Text[I];
    if (C == '\\' && Quote != '\'' && I + 1 < Text.size()) {
      Word += Text[++I];
      InWord = true;
    } else if (Quote) {
      if (C == Quote)
        Quote = 0;
      else
        Word += C;
    } else if (C == '"' || C == '\'') {
      Quote = C;
      InWord = true;
    } else if (isspace(static_cast<unsigned char>(C))) {
      if (InWord)
        Words.push_back(std::move(Word));
      Word.clear();
      InWord = false;
    } else {
      Word += C;
      InWord = true;
    }
  }
  if (InWord)
    Words.push_back(std::move(Word));
  return Words;
}

} // namespace r3::clangr3
