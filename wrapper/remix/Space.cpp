// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Draws the thin space.
#include "wrapper/remix/Space.h"

#include "runtime/support/LaunchMap.h"
#include "wrapper/remix/PipelineText.h"
#include "wrapper/remix/optimizer/Random.h"

#include <algorithm>
#include <map>
#include <set>

namespace r3 {

namespace {

/// Passes that may be tried where the default pipeline has none of them,
/// beside those that it has in lists of the same kind.
const std::pair<const char *, const char *> ExtraPasses[] = {
    {"function", "gvn-hoist"},   {"function", "gvn-sink"},
    {"function", "newgvn"},      {"function", "separate-const-offset-from-gep"},
    {"function", "slsr"},        {"function", "nary-reassociate"},
    {"function", "sink"},        {"function", "dce"},
    {"function", "early-cse"},   {"function", "loop-data-prefetch"},
    {"function", "loop-fusion"}, {"function", "consthoist"},
    {"loop", "loop-reduce"},     {"loop", "loop-interchange"},
    {"loop", "loop-flatten"},    {"loop-mssa", "lnicm"},
    {"function", "flatten-cfg"}, {"function", "mergeicmps"},
};

std::string defaultPipeline(const std::string &Level) {
  return "default<" + Level + ">";
}

/// Code generation has no size levels.
std::string codegenLevel(const std::string &Level) {
  return Level == "Os" || Level == "Oz" ? "O2" : Level;
}

class Drawer {
public:
  explicit Drawer(const SpaceInput &Input) : Input(Input), Dice(Input.Seed) {}

  Expected<std::vector<Candidate>> draw() {
    addDefaults();
    addCodegen();
    if (Error E = addEdits())
      return E;
    Dice.shuffle(Found);
    return std::move(Found);
  }

private:
  void add(Variant Change, std::string Note) {
    if (!Change.isOriginal() && Seen.insert(Change.id()).second)
      Found.push_back({std::move(Change), std::move(Note)});
  }

  void addDefaults() {
    for (const char *Level : {"O1", "O2", "O3", "Os"}) {
      Variant V;
      V.Pipeline = defaultPipeline(Level);
      V.Level = codegenLevel(Level);
      add(V, "default " + std::string(Level));
    }
  }

  /// The unit's own pipeline with something else behind it.
  Variant ownPipeline() const {
    Variant V;
    V.Pipeline = defaultPipeline(Input.Level);
    V.Level = codegenLevel(Input.Level);
    return V;
  }

  void addCodegen() {
    for (const char *Level : {"O1", "O2", "O3"}) {
      Variant V = ownPipeline();
      V.Level = Level;
      add(V, "code generation " + std::string(Level));
    }
    if (Input.Backend != "cuda")
      return;
    for (uint32_t Limit : {32, 40, 48, 64, 80, 96, 128, 168, 255}) {
      Variant V = ownPipeline();
      V.MaxRegisters = Limit;
      add(V, format("maxnreg %u", Limit));
    }
    for (const char *Level : {"O1", "O2"}) {
      Variant V = ownPipeline();
      V.PtxasLevel = Level;
      add(V, "ptxas " + std::string(Level));
    }
  }

  Error addEdits() {
    auto Printed = Input.Pipelines.find("O3");
    if (Printed == Input.Pipelines.end() || Printed->second.empty())
      return fail(ErrorCode::Failed,
                  "the worker printed no default pipeline of level O3");
    auto Base = parsePipeline(Printed->second);
    if (!Base)
      return Base.error().in("the printed pipeline of level O3");
    addEdited(*Base, "printed O3");
    std::vector<PassPlace> Places = editablePasses(*Base);
    if (Places.empty())
      return fail(ErrorCode::Failed,
                  "the printed pipeline of level O3 has no pass to edit");
    collectPool(*Base, Places);
    size_t Wanted = Found.size() + EditCount;
    // Draws that give a variant for a second time are drawn again, a bounded
    // number of times: a short pipeline has few edits.
    for (size_t Try = 0; Try < 20 * EditCount && Found.size() < Wanted; ++Try)
      addEdit(*Base, Places[Dice.below(Places.size())], Try % 3);
    return Error::success();
  }

  void collectPool(const Pipeline &Base, const std::vector<PassPlace> &Places) {
    std::map<std::string, std::set<std::string>> Sets;
    for (const PassPlace &Place : Places)
      Sets[Place.Kind].insert(passAt(Base, Place).Name);
    for (const auto &[Kind, Name] : ExtraPasses)
      Sets[Kind].insert(Name);
    for (const auto &[Kind, Names] : Sets)
      Pool[Kind].assign(Names.begin(), Names.end());
  }

  void addEdited(const Pipeline &P, std::string Note) {
    Variant V;
    V.Pipeline = pipelineText(P);
    V.Level = "O3";
    add(V, std::move(Note));
  }

  void addEdit(const Pipeline &Base, const PassPlace &Place, size_t What) {
    const PassNode &Pass = passAt(Base, Place);
    // Notes are for people: parameters stay in the pipeline's text.
    const std::string Name(Pass.base()), Where = " in " + Place.Kind;
    if (What == 0)
      return addEdited(withoutPass(Base, Place), "delete " + Name + Where);
    if (What == 1)
      return addEdited(withPassBefore(Base, Place, Pass.Name),
                       "repeat " + Name + Where);
    const auto &Names = Pool[Place.Kind];
    const std::string &New = Names[Dice.below(Names.size())];
    addEdited(withPassBefore(Base, Place, New), "insert " +
                                                    std::string(passBase(New)) +
                                                    " before " + Name + Where);
  }

  const SpaceInput &Input;
  Random Dice;
  std::vector<Candidate> Found;
  std::set<Digest> Seen;
  std::map<std::string, std::vector<std::string>> Pool;
};

uint64_t alignmentOf(uint64_t Address) {
  uint64_t Power = 1;
  while (Power < 256 && Address % (2 * Power) == 0)
    Power *= 2;
  return Power;
}

} // namespace

SpaceLaunch spaceLaunch(const Recording &R) {
  SpaceLaunch Result;
  Result.Launch = R.Launch;
  const LaunchView View(R);
  for (const ArgumentField &Field : R.Fields) {
    if (Field.Name.find('.') != std::string::npos)
      continue;
    if (Field.Type == ValueType::Pointer) {
      if (auto Bits = View.bitsOf(Field.Name))
        Result.Pointers[Field.Name] = alignmentOf(*Bits);
    } else if (auto Value = View.numberOf(Field.Name)) {
      Result.Scalars[Field.Name] = *Value;
    }
  }
  return Result;
}

Expected<std::vector<Candidate>> thinSpace(const SpaceInput &Input) {
  return Drawer(Input).draw();
}

} // namespace r3
