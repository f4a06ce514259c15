// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints profiles, unit headers and what the journal knows.
#include "runtime/support/Profile.h"
#include "wrapper/r3/InspectFormats.h"
#include "wrapper/r3/Text.h"
#include "wrapper/remix/Journal.h"

#include <map>

namespace r3 {

namespace {

std::string textOf(std::span<const uint8_t> Content) {
  return std::string(Content.begin(), Content.end());
}

std::string evaluationText(const Evaluation &E) {
  bool Timed = E.Gain.Median > 0;
  return format("%s  %s  %s%s%s\n  %s\n  %s%s\n", E.Change.id().hex().c_str(),
                printable(E.Name).c_str(),
                std::string(outcomeName(E.Result)).c_str(),
                E.Message.empty() ? "" : ": ", printable(E.Message).c_str(),
                E.Change.canonicalJson().c_str(),
                Timed ? (gainText(E.Gain.Median, E.Gain.Low, E.Gain.High) +
                         " unconfirmed" +
                         (E.Backend == "cpu" ? " (CPU time)" : "") + "  ")
                            .c_str()
                      : "",
                printable(E.Device).c_str());
}

} // namespace

Expected<std::string> headerText(std::span<const uint8_t> Content,
                                 const std::string &Path) {
  auto Folders = parseUnitHeader(textOf(Content), Path);
  if (!Folders)
    return Folders.error();
  std::string Text =
      "profile header, " +
      (Folders->size() == 1 ? std::string("1 entry")
                            : countText(Folders->size()) + " entries") +
      "\n";
  for (const std::string &Folder : *Folders)
    Text += "  " + printable(Folder) + "\n";
  return Text;
}

Expected<std::string> kernelProfileText(std::span<const uint8_t> Content,
                                        const std::string &Path) {
  auto K = KernelProfile::parse(textOf(Content), Path);
  if (!K)
    return K.error();
  std::string Text = "profile of " + printable(K->Name) + "\nkey " + K->Key +
                     "\nhome " + printable(K->Home) + "\n";
  for (const std::string &Source : K->Units)
    Text += "unit " + printable(Source) + "\n";
  for (const ProfileEntry &E : K->Entries)
    Text += "entry for " + printable(E.Device) + ", class " +
            printable(E.Class) + "\n  " + gainText(E.Gain, E.Low, E.High) +
            ", evidence " + printable(E.Evidence) + ", from " +
            printable(E.Origin) + "\n  " + E.Change.canonicalJson() + "\n";
  return Text;
}

Expected<std::string> journalText(std::span<const uint8_t> Content,
                                  const std::string &Path) {
  (void)Content;
  auto Log = Journal::openForReading(Path);
  if (!Log)
    return Log.error();
  auto All = (*Log)->evaluations({});
  if (!All)
    return All.error();
  std::map<std::string, std::map<Outcome, size_t>> Counts;
  for (const Evaluation &E : *All)
    ++Counts[E.Name + " on " + E.Device][E.Result];
  std::string Text = "journal, " + plural(All->size(), "evaluation") + "\n";
  for (const auto &[Where, Outcomes] : Counts) {
    Text += "  " + printable(Where) + ":";
    for (const auto &[Result, Count] : Outcomes)
      Text += "  " + countText(Count) + " " + std::string(outcomeName(Result));
    Text += "\n";
  }
  return Text;
}

Expected<std::string> variantTexts(const std::string &JournalPath,
                                   const std::string &Id) {
  auto Log = Journal::openForReading(JournalPath);
  if (!Log && Log.error().code() == ErrorCode::NotFound)
    return std::string();
  if (!Log)
    return Log.error();
  auto All = (*Log)->evaluations({});
  if (!All)
    return All.error();
  std::string Text;
  for (const Evaluation &E : *All)
    if (E.Change.id().hex().starts_with(Id))
      Text += evaluationText(E);
  return Text;
}

} // namespace r3
