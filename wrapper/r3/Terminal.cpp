// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Terminal output.
#include "wrapper/r3/Terminal.h"

#include "runtime/support/Options.h"
#include "wrapper/r3/Text.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace r3 {

using namespace std::chrono_literals;

Terminal::Terminal(std::FILE *Stream)
    : Stream(Stream), IsTerminal(isatty(fileno(Stream))) {
  auto Kind = systemVariable("TERM");
  auto NoColour = systemVariable("NO_COLOR");
  Colours =
      IsTerminal && Kind && *Kind != "dumb" && (!NoColour || NoColour->empty());
}

void Terminal::print(const std::string &Text) {
  std::fwrite(Text.data(), 1, Text.size(), Stream);
  std::fflush(Stream);
}

std::string Terminal::colour(const char *Code, const std::string &Text) const {
  return Colours ? "\x1b[" + std::string(Code) + "m" + Text + "\x1b[0m" : Text;
}

size_t Terminal::columns() const {
  winsize Size{};
  if (!IsTerminal || ioctl(fileno(Stream), TIOCGWINSZ, &Size) != 0 ||
      Size.ws_col < 20)
    return 80;
  return Size.ws_col;
}

Progress::Progress(Terminal &Where, bool Quiet)
    : Where(Where), Quiet(Quiet), Started(std::chrono::steady_clock::now()) {}

Progress::~Progress() { clear(); }

void Progress::update(const std::string &Text, double Done) {
  Time Now = std::chrono::steady_clock::now();
  auto Passed = Now - Started;
  bool First = LastShown == Time();
  auto Pause = Where.isTerminal() ? 100ms : 10s;
  if (Quiet || Passed < 2s || (!First && Now - LastShown < Pause))
    return;
  LastShown = Now;
  std::string Line = Text;
  if (Done > 0) {
    auto PassedMs =
        std::chrono::duration_cast<std::chrono::milliseconds>(Passed).count();
    double LeftMs = double(PassedMs) * (1 - Done) / Done;
    Line += "  " + clockText(LeftMs > 0 ? uint64_t(LeftMs) : 0) + " left";
  }
  if (!Where.isTerminal())
    return Where.print(Line + "\n");
  Where.print("\r\x1b[K" + shortened(Line, Where.columns() - 1));
  Shown = true;
}

void Progress::clear() {
  if (Shown)
    Where.print("\r\x1b[K");
  Shown = false;
}

} // namespace r3
