// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The catalogue of passes, pipelines as edits, and the space of a kernel.
#include "wrapper/remix/space/KernelSpace.h"
#include "runtime/support/Applicable.h"
#include "unittests/support/TestFolder.h"

#include <algorithm>
#include <set>

using namespace r3;

namespace {

const char *const Catalogue = R"(
llvm = "22.1"
[[pass]]
name = "adce"
kind = "function"
lists = ["function"]
[[pass]]
name = "gvn"
kind = "function"
parameters = ["no-pre", "pre", "no-memdep", "memdep"]
lists = ["function"]
[[pass]]
name = "sroa"
kind = "function"
parameters = ["preserve-cfg", "modify-cfg"]
lists = ["function"]
[[pass]]
name = "instcombine"
kind = "function"
parameters = ["no-verify-fixpoint", "verify-fixpoint", "max-iterations=N"]
needed = "no-verify-fixpoint"
lists = ["function"]
[[pass]]
name = "aa-eval"
kind = "function"
unusable = "writes something else than code"
[[pass]]
name = "licm"
kind = "loop"
parameters = ["allowspeculation", "no-allowspeculation"]
lists = ["loop-mssa"]
[[pass]]
name = "indvars"
kind = "loop"
lists = ["loop", "loop-mssa"]
[[pass]]
name = "bounds-checking"
kind = "function"
parameters = ["guard=N", "other=N"]
largest = ["guard=2", "other=0"]
lists = ["function"]
[[pass]]
name = "globaldce"
kind = "module"
lists = ["module"]
[[pass]]
name = "inline"
kind = "cgscc"
lists = ["cgscc"]
[[pass]]
name = "strange"
kind = "function"
lists = ["function"]
idle = true
)";

const char *const O2 =
    "forceattrs,function<eager-inv>(sroa<modify-cfg>,adce),globaldce,"
    "cgscc(devirt<4>(inline,function(loop-mssa(licm<allowspeculation>,indvars),"
    "gvn<>))),globaldce,verify";
const char *const O3 =
    "forceattrs,function<eager-inv>(sroa<modify-cfg>,adce,gvn<>),globaldce,"
    "cgscc(devirt<4>(inline,function(loop-mssa(licm<allowspeculation>,indvars),"
    "gvn<no-pre>))),globaldce,verify";

PassCatalogue catalogue() {
  auto Read = PassCatalogue::parse(Catalogue, "passes.toml");
  EXPECT_TRUE(Read) << Read.error().message();
  return *Read;
}

//===-- Catalogue ---------------------------------------------------------===//

TEST(PassCatalogueTest, ReadsWhatIsUsable) {
  PassCatalogue C = catalogue();
  EXPECT_EQ(C.Llvm, "22.1");
  EXPECT_EQ(C.Usable.size(), 10u);
  EXPECT_EQ(C.Unusable, 1u);
  EXPECT_FALSE(C.find("aa-eval"));
  ASSERT_TRUE(C.find("licm"));
  const CatalogPass &Licm = C.Usable[*C.find("licm")];
  EXPECT_TRUE(Licm.mayStandIn("loop-mssa"));
  EXPECT_FALSE(Licm.mayStandIn("loop"));
}

TEST(PassCatalogueTest, SaysWhatIsWrong) {
  auto Wrong = [](const std::string &Text, const char *Why) {
    return failsWith(PassCatalogue::parse(Text, "p.toml"), Why);
  };
  EXPECT_TRUE(Wrong("llvm = ", "p.toml: line 1"));
  EXPECT_TRUE(Wrong("llvm = '22'", "no pass"));
  const std::string Head = "llvm = '22'\n[[pass]]\nname = 'a'\n";
  EXPECT_TRUE(Wrong(Head, "p.toml: line 2: a pass has a name and either"));
  EXPECT_TRUE(Wrong(Head + "lists = ['function']\nunusable = 'x'", "either"));
  EXPECT_TRUE(Wrong(Head + "lists = ['graph']", "'graph' is no list"));
  EXPECT_TRUE(Wrong(Head + "lists = 'function'", "lists: a list expected"));
  EXPECT_TRUE(Wrong(Head + "list = ['function']", "list: unknown key"));
  for (const char *Text : {"", "n", "n=", "n=-1", "n=4x", "n=2048"})
    EXPECT_TRUE(Wrong(Head + "largest = ['" + Text + "']",
                      "is no NAME=NUMBER up to 1024"))
        << Text;
}

TEST(PassCatalogueTest, ASettingIsATextAndBack) {
  PassCatalogue C = catalogue();
  for (const CatalogPass &Pass : C.Usable) {
    std::set<std::string> Texts;
    for (int32_t S = 0; S < Pass.settingCount(); ++S) {
      const std::string Text = Pass.text(S);
      Texts.insert(Text);
      auto Back = Pass.settingOf(Text);
      ASSERT_TRUE(Back) << Text;
      EXPECT_EQ(Pass.text(*Back), Text);
    }
    EXPECT_TRUE(Texts.count(
        Pass.Needed.empty() ? Pass.Name : Pass.Name + "<" + Pass.Needed + ">"));
  }
  const CatalogPass &Gvn = C.Usable[*C.find("gvn")];
  EXPECT_EQ(Gvn.settingCount(), 9);
  EXPECT_EQ(Gvn.settingOf("gvn<memdep;no-pre;>"),
            Gvn.settingOf("gvn<no-pre;memdep>"));
  EXPECT_FALSE(Gvn.settingOf("gvn<other>"));
  // What excludes each other is given once.
  const CatalogPass &Sroa = C.Usable[*C.find("sroa")];
  EXPECT_EQ(Sroa.settingCount(), 3);
  // Numbers up to the largest; of what takes none there are none.
  const CatalogPass &Checks = C.Usable[*C.find("bounds-checking")];
  EXPECT_EQ(Checks.settingCount(), 3);
  EXPECT_EQ(Checks.text(1), "bounds-checking<guard=1>");
  EXPECT_EQ(Checks.text(2), "bounds-checking<guard=2>");
  // Needed, and not once more.
  const CatalogPass &Combine = C.Usable[*C.find("instcombine")];
  EXPECT_EQ(Combine.text(0), "instcombine<no-verify-fixpoint>");
  EXPECT_EQ(Combine.text(*Combine.settingOf("instcombine<max-iterations=4>")),
            "instcombine<no-verify-fixpoint;max-iterations=4>");
}

//===-- Edits -------------------------------------------------------------===//

TEST(BasePipelineTest, WrapsWhatItInserts) {
  PassCatalogue C = catalogue();
  auto Base = BasePipeline::parse(O2, C);
  ASSERT_TRUE(Base);
  std::string Plain = O2; // but for the brackets of nothing
  Plain.erase(Plain.find("<>"), 2);
  EXPECT_EQ(pipelineText(Base->edited({})), Plain);
  auto Inserted = [&](const char *Pass, const std::string &Before) {
    auto Site = Base->findSite("before " + Before);
    EXPECT_TRUE(Site) << Before;
    return pipelineText(
        Base->edited({{Site.value_or(0), int32_t(*C.find(Pass)), 0}}));
  };
  auto Has = [](const std::string &Text, const std::string &Part) {
    return Text.find(Part) != std::string::npos;
  };
  EXPECT_TRUE(Has(Inserted("licm", "module globaldce 0"),
                  ",function(loop-mssa(licm)),globaldce,cgscc"));
  EXPECT_TRUE(Has(Inserted("indvars", "function gvn 0"), ",loop(indvars),gvn"));
  EXPECT_TRUE(Has(Inserted("inline", "module globaldce 1"),
                  ",cgscc(inline),globaldce,verify"));
  EXPECT_TRUE(
      Has(Inserted("gvn", "cgscc inline 0"), "devirt<4>(function(gvn),inline"));
  EXPECT_TRUE(
      Has(Inserted("indvars", "loop-mssa licm 0"), "loop-mssa(indvars,licm"));
  const CatalogPass &Globaldce = C.Usable[*C.find("globaldce")];
  EXPECT_FALSE(BasePipeline::canInsert(Globaldce, "function"));
  const CatalogPass &Licm = C.Usable[*C.find("licm")];
  EXPECT_FALSE(BasePipeline::canInsert(Licm, "loop"));
}

TEST(BasePipelineTest, FindsTheShortestEdits) {
  PassCatalogue C = catalogue();
  auto Base = BasePipeline::parse(O2, C);
  auto Other = BasePipeline::parse(O3, C);
  ASSERT_TRUE(Base && Other);
  auto Edits = Base->editsOf(Other->original(), 12);
  ASSERT_TRUE(Edits);
  ASSERT_EQ(Edits->size(), 2u); // gvn is inserted, and another one changed
  EXPECT_EQ(pipelineText(Base->edited(*Edits)),
            pipelineText(Other->original()));
  EXPECT_FALSE(Base->editsOf(Other->original(), 1));
  // What no edit can make.
  EXPECT_FALSE(Base->editsOf(*parsePipeline("globaldce"), 12));
  EXPECT_FALSE(Base->editsOf(*parsePipeline(std::string(O2) + ",unheard"), 12));
}

TEST(BasePipelineTest, PassesBoundTheEdits) {
  PassCatalogue C = catalogue();
  auto Base = BasePipeline::parse(O2, C);
  auto Other = BasePipeline::parse(O3, C);
  ASSERT_TRUE(Base && Other);
  // A gvn more; that it stands elsewhere is not seen.
  EXPECT_EQ(leastEdits(Base->usesWith({}), Other->usesWith({})), 1u);
  // Every single edit.
  PassEdits All;
  for (int32_t I = 0; I < int32_t(Base->sites().size()); ++I) {
    const PipelineSite &Site = Base->sites()[size_t(I)];
    if (!Site.IsGap)
      All.push_back({I, PassEdit::Delete, 0});
    for (int32_t Pass = 0; Pass < int32_t(C.Usable.size()); ++Pass)
      for (int32_t S = 0; S < C.Usable[size_t(Pass)].settingCount(); ++S)
        if (Site.IsGap
                ? BasePipeline::canInsert(C.Usable[size_t(Pass)], Site.Kind)
                : Site.CanSay && Site.Pass == Pass)
          All.push_back({I, Pass, S});
  }
  size_t Exact = 0;
  for (const PassEdit &Edit : All) {
    const Pipeline Made = Base->edited({Edit});
    const PassUses Uses = Base->usesWith({Edit});
    for (const BasePipeline *From : {&*Base, &*Other}) {
      auto Edits = From->editsOf(Made, 12);
      ASSERT_TRUE(Edits) << pipelineText(Made);
      const size_t Least = leastEdits(Uses, From->usesWith({}));
      EXPECT_LE(Least, Edits->size()) << pipelineText(Made);
      EXPECT_EQ(From->usesWith(*Edits), Uses) << pipelineText(Made);
      Exact += Least == Edits->size();
    }
  }
  EXPECT_GT(Exact, All.size());
}

TEST(BasePipelineTest, AManagerThatIsLeftEmptyGoes) {
  PassCatalogue C = catalogue();
  auto Base = BasePipeline::parse(O2, C);
  PassEdits Edits;
  for (const char *Pass : {"loop-mssa licm 0", "loop-mssa indvars 0"})
    Edits.push_back({*Base->findSite(Pass), PassEdit::Delete, 0});
  Pipeline Made = Base->edited(Edits);
  EXPECT_EQ(pipelineText(Made).find("loop-mssa"), std::string::npos);
  EXPECT_EQ(Base->editsOf(Made, 12), Edits);
}

//===-- Space -------------------------------------------------------------===//

SpaceInput input(const char *Backend) {
  SpaceInput Input;
  Input.Backend = Backend;
  Input.Arch = "sm_90";
  Input.Level = "O2";
  Input.Pipelines = {{"O2", O2}, {"O3", O3}};
  SpaceLaunch L;
  L.Launch.Grid = {64, 1, 1};
  L.Launch.Block = {256, 1, 1};
  L.Scalars = {{"n", 1000}};
  L.Pointers = {{"a", 256}, {"b", 4}};
  Input.Launches = {L};
  return Input;
}

std::unique_ptr<KernelSpace> space(const char *Backend,
                                   const SpaceLimits &Limits = {}) {
  auto Made = KernelSpace::make(input(Backend), catalogue(), Limits);
  EXPECT_TRUE(Made) << Made.error().message();
  return std::move(*Made);
}

/// Many points: drawn, changed and mixed.
std::vector<Point> somePoints(const KernelSpace &Space, uint64_t Seed,
                              size_t Count) {
  Random Dice(Seed);
  std::vector<Point> Points;
  while (Points.size() < Count) {
    std::optional<Point> P = Space.draw(Dice);
    if (Points.size() > 2 && Dice.chance(0.3))
      P = Space.step(Dice.pick(Points), Dice);
    else if (Points.size() > 2 && Dice.chance(0.3))
      P = Space.cross(Dice.pick(Points), Dice.pick(Points), Dice);
    if (P)
      Points.push_back(*P);
  }
  return Points;
}

TEST(KernelSpaceTest, TwoPointsAreTheSameExactlyWhenTheyMeanTheSame) {
  for (const char *Backend : {"cuda", "cpu"}) {
    auto Space = space(Backend);
    std::map<std::string, Point> ByMeaning;
    size_t Again = 0;
    for (const Point &P : somePoints(*Space, 1, 5000)) {
      Candidate C = Space->candidate(P);
      EXPECT_FALSE(C.Change.isOriginal());
      EXPECT_FALSE(C.Note.empty());
      auto [Known, IsNew] = ByMeaning.emplace(C.Change.canonicalJson(), P);
      Again += !IsNew;
      ASSERT_EQ(Known->second, P) << C.Change.canonicalJson();
    }
    std::set<Point> Distinct;
    for (const auto &[Meaning, P] : ByMeaning)
      Distinct.insert(P);
    EXPECT_EQ(Distinct.size(), ByMeaning.size());
    EXPECT_GT(Again, 200u);
    EXPECT_GT(Distinct.size(), 1000u);
  }
}

TEST(KernelSpaceTest, FollowsFromTheSeedAlone) {
  auto Space = space("cuda");
  EXPECT_EQ(somePoints(*Space, 7, 500), somePoints(*space("cuda"), 7, 500));
  EXPECT_NE(somePoints(*Space, 7, 500), somePoints(*Space, 8, 500));
}

TEST(KernelSpaceTest, GivesVariantsThatAreReadBack) {
  auto Space = space("cuda");
  size_t Most = 0, None = 0;
  for (const Point &P : somePoints(*Space, 2, 3000)) {
    const Candidate C = Space->candidate(P);
    auto Back = Variant::parse(C.Change.canonicalJson());
    ASSERT_TRUE(Back) << Back.error().message();
    EXPECT_EQ(Back->canonicalJson(), C.Change.canonicalJson());
    // A level of code generation without a pipeline would mean two things.
    EXPECT_TRUE(C.Change.Level.empty() || !C.Change.Pipeline.empty());
    EXPECT_TRUE(C.Change.Pipeline.empty() || parsePipeline(C.Change.Pipeline));
    Most = std::max(Most, P.size());
    None += C.Change.Pipeline.empty();
  }
  EXPECT_GT(None, 100u);
  EXPECT_GT(Most, 30u);
}

TEST(KernelSpaceTest, SaysWhatItDoes) {
  auto Space = space("cpu");
  std::set<std::string> Words;
  for (const Point &P : somePoints(*Space, 11, 3000)) {
    const std::string Note = Space->candidate(P).Note;
    Words.insert(Note.substr(0, Note.find(' ')));
    // Parameters stay in the pipeline's text, but for those that change.
    EXPECT_EQ(Note.find('<'), std::string::npos) << Note;
  }
  for (const char *Word : {"delete", "insert", "move", "change", "printed",
                           "default", "level", "scalar", "shape"})
    EXPECT_TRUE(Words.count(Word)) << Word;
}

TEST(KernelSpaceTest, FavoursFewEdits) {
  auto Space = space("cpu", {{}, 12});
  const size_t Head =
      space("cpu", {{}, 0})->draw(*std::make_unique<Random>(1))->size();
  Random Dice(3);
  size_t Counts[KernelSpace::MostEdits + 1] = {};
  for (int I = 0; I < 3000; ++I)
    ++Counts[(Space->draw(Dice)->size() - Head) / 3];
  EXPECT_GT(Counts[1], Counts[3]);
  EXPECT_GT(Counts[2], Counts[5]);
  EXPECT_GT(Counts[4], 0u);
}

TEST(KernelSpaceTest, AStepIsSmall) {
  auto Space = space("cpu");
  Random Dice(4);
  for (const Point &P : somePoints(*Space, 4, 300)) {
    auto Next = Space->step(P, Dice);
    ASSERT_TRUE(Next);
    EXPECT_NE(*Next, P);
    EXPECT_LE(Next->size(), P.size() + 6); // a pass that is moved is two edits
  }
}

TEST(KernelSpaceTest, HasNoGpuDimensionsOnACpu) {
  for (const Point &P : somePoints(*space("cpu"), 5, 2000)) {
    const Variant V = space("cpu")->candidate(P).Change;
    ASSERT_EQ(V.MaxRegisters, 0u);
    ASSERT_EQ(V.PtxasLevel, "");
    break;
  }
  auto Cpu = space("cpu"), Cuda = space("cuda");
  EXPECT_LT(Cpu->featureCount(), Cuda->featureCount());
  std::set<uint32_t> Limits;
  for (const Point &P : somePoints(*Cpu, 5, 2000))
    Limits.insert(Cpu->candidate(P).Change.MaxRegisters);
  EXPECT_EQ(Limits, std::set<uint32_t>{0});
  Limits.clear();
  for (const Point &P : somePoints(*Cuda, 5, 2000))
    Limits.insert(Cuda->candidate(P).Change.MaxRegisters);
  EXPECT_GT(Limits.size(), 5u);
}

TEST(KernelSpaceTest, FeaturesAreNumbersFromZeroToOne) {
  auto Space = space("cuda");
  std::set<std::vector<float>> Different;
  std::set<Point> Points;
  for (const Point &P : somePoints(*Space, 6, 2000)) {
    std::vector<float> Numbers(Space->featureCount() + 1, -7);
    Space->features(P, Numbers.data());
    EXPECT_EQ(Numbers.back(), -7); // not written
    Numbers.pop_back();
    for (float N : Numbers) {
      ASSERT_GE(N, 0);
      ASSERT_LE(N, 1);
    }
    Different.insert(Numbers);
    Points.insert(P);
  }
  // Only the exact places of edits are not told apart.
  EXPECT_GT(Different.size() * 10, Points.size() * 7);
}

TEST(KernelSpaceTest, CanBeRestricted) {
  SpaceLimits Limits;
  Limits.Edits = 0;
  for (const SpaceKey &Key : spaceKeys())
    if (Key.Name != "edits")
      Limits.Values[Key.Name] = {};
  Limits.Values["maxnreg"] = {"32", "64"};
  Limits.Values["base"] = {"O3"};
  auto All = space("cuda", Limits)->all(100);
  ASSERT_TRUE(All);
  std::set<std::string> Seen;
  for (const Point &P : *All)
    Seen.insert(space("cuda", Limits)->candidate(P).Note);
  EXPECT_EQ(Seen, (std::set<std::string>{"maxnreg 32", "maxnreg 64",
                                         "default O3", "default O3, maxnreg 32",
                                         "default O3, maxnreg 64", "printed O3",
                                         "printed O3, maxnreg 32",
                                         "printed O3, maxnreg 64"}));
  EXPECT_FALSE(space("cuda", Limits)->all(8));
  EXPECT_FALSE(space("cuda")->all(1000000));
  // A space of nothing but the original has no point.
  Limits.Values["maxnreg"] = Limits.Values["base"] = {};
  auto Empty = space("cuda", Limits);
  Random Dice(1);
  EXPECT_FALSE(Empty->draw(Dice));
  EXPECT_TRUE(Empty->all(10)->empty());
}

TEST(KernelSpaceTest, CanBeWhatABuildCanBringAbout) {
  SpaceLimits Limits;
  size_t Others = 0;
  for (bool Applicable : {false, true}) {
    Limits.Applicable = Applicable;
    auto Space = space("cuda", Limits);
    Random Dice(7);
    for (int I = 0; I < 500; ++I)
      if (auto P = Space->draw(Dice)) {
        const std::string Needs = notApplicable(Space->candidate(*P).Change);
        Others += !Applicable && !Needs.empty();
        EXPECT_TRUE(!Applicable || Needs.empty()) << Needs;
      }
  }
  EXPECT_GT(Others, 0u);
}

TEST(KernelSpaceTest, InsertsOnlyPassesThatItMay) {
  SpaceLimits Limits;
  Limits.Values["passes"] = {"adce"};
  auto Space = space("cpu", Limits);
  for (const Point &P : somePoints(*Space, 9, 1000))
    EXPECT_EQ(Space->candidate(P).Change.Pipeline.find("strange"),
              std::string::npos);
}

TEST(KernelSpaceTest, NamesWhatItDoesNotHave) {
  SpaceLimits Limits;
  Limits.Values["registers"] = {};
  EXPECT_TRUE(failsWith(KernelSpace::make(input("cpu"), catalogue(), Limits),
                        "no 'registers'; it has edits, base, passes, level"));
  Limits.Values = {{"maxnreg", {"33"}}};
  EXPECT_TRUE(failsWith(KernelSpace::make(input("cpu"), catalogue(), Limits),
                        "maxnreg: '33' is none of 32, 40"));
  SpaceInput Input = input("cpu");
  Input.Pipelines["O3"] = "function(";
  EXPECT_TRUE(failsWith(KernelSpace::make(Input, catalogue()),
                        "printed pipeline of level O3: pipeline: offset"));
}

TEST(KernelSpaceTest, KnowsLimitsBeforeABuild) {
  SpaceInput Input = input("cuda");
  Input.Launches[0].Launch.Block = {1024, 1, 1};
  Variant V;
  V.MaxRegisters = 64;
  EXPECT_EQ(knownLimit(V, Input), "");
  V.MaxRegisters = 80;
  EXPECT_NE(knownLimit(V, Input).find("a block of 1024 threads with 80"),
            std::string::npos);
  V = Variant();
  V.Launch = {{"block.x", "block.x*2"}};
  EXPECT_NE(knownLimit(V, Input), "");
  V.Launch = {{"block.x", "block.x/2"}, {"grid.x", "grid.x*2"}};
  EXPECT_EQ(knownLimit(V, Input), "");
  V = Variant();
  V.Specialise["n"] = 999;
  EXPECT_NE(knownLimit(V, Input), "");
}

TEST(KernelSpaceTest, SpecialisesWhatWasRecorded) {
  auto Space = space("cpu");
  std::set<std::string> Guards;
  std::set<std::pair<std::string, int64_t>> Constants;
  for (const Point &P : somePoints(*Space, 10, 8000)) {
    const Variant V = Space->candidate(P).Change;
    Guards.insert(V.Guards.begin(), V.Guards.end());
    Constants.insert(V.Specialise.begin(), V.Specialise.end());
  }
  // b is aligned to 4 only, 8 is the greatest that divides 1000, and no block
  // has 8 times 256 threads.
  EXPECT_EQ(Guards,
            (std::set<std::string>{"align(a,8)", "align(a,16)", "align(a,32)",
                                   "divides(2,n)", "divides(4,n)",
                                   "divides(8,n)", "divides(2,block.x)",
                                   "divides(4,block.x)", "divides(8,block.x)",
                                   "divides(2,grid.x)", "divides(4,grid.x)"}));
  EXPECT_TRUE(Constants.count({"n", 1000}));
  EXPECT_TRUE(Constants.count({"block.x", 256}));
  EXPECT_TRUE(Constants.count({"grid.x", 64}));
  EXPECT_EQ(Constants.size(), 7u);
}

} // namespace
