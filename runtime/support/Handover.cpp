// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The hand-over folder: appending and reading lines (see Handover.h).
#include "runtime/support/Handover.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <unistd.h>

namespace r3 {

namespace {

// One write with O_APPEND: lines of several processes do not mix.
Error appendLine(const std::string &Path, const std::string &Line) {
  int Fd = open(Path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (Fd < 0)
    return fail(ErrorCode::Failed, "%s: %s", Path.c_str(), strerror(errno));
  ssize_t Written = write(Fd, Line.data(), Line.size());
  int Problem = errno;
  close(Fd);
  if (Written != static_cast<ssize_t>(Line.size()))
    return fail(ErrorCode::Failed, "%s: %s", Path.c_str(),
                Written < 0 ? strerror(Problem) : "short write");
  return Error::success();
}

std::string oneLine(std::string_view Text) {
  std::string Line(Text);
  for (char &C : Line)
    if (C == '\n' || C == '\r')
      C = ' ';
  return Line;
}

std::vector<std::string> readLines(const std::string &Path) {
  std::vector<std::string> Lines;
  std::ifstream In(Path);
  for (std::string Line; std::getline(In, Line);)
    Lines.push_back(Line);
  return Lines;
}

} // namespace

Error writeHandoverStatus(const std::string &Folder, std::string_view Event,
                          std::string_view Triple) {
  return appendLine(Folder + "/status",
                    std::string(Event) + " " + oneLine(Triple) + "\n");
}

Error writeHandoverMessage(const std::string &Folder,
                           const HandoverMessage &Message) {
  return appendLine(Folder + "/messages", Message.Kind + " " + Message.Reason +
                                              " " + oneLine(Message.Text) +
                                              "\n");
}

HandoverStatus readHandoverStatus(const std::string &Folder) {
  HandoverStatus Status;
  for (const std::string &Line : readLines(Folder + "/status")) {
    Status.Entered += Line.starts_with("entered ");
    Status.Left += Line.starts_with("left ");
  }
  return Status;
}

std::vector<HandoverMessage> readHandoverMessages(const std::string &Folder) {
  std::vector<HandoverMessage> Messages;
  for (const std::string &Line : readLines(Folder + "/messages")) {
    size_t First = Line.find(' ');
    size_t Second =
        First == std::string::npos ? First : Line.find(' ', First + 1);
    if (Second == std::string::npos)
      continue;
    HandoverMessage Message{Line.substr(0, First),
                            Line.substr(First + 1, Second - First - 1),
                            Line.substr(Second + 1)};
    if (Message.Kind == "warning" || Message.Kind == "note")
      Messages.push_back(std::move(Message));
  }
  return Messages;
}

} // namespace r3
