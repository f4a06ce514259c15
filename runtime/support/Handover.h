// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The private folder ($R3_HANDOVER) in which clang-r3 and the plugin, inside
// the clang that it started, leave word for each other. clang-r3 makes it
// (mode 0700) and removes it when the command has ended. Device modules that
// travel from the device compile to the host compile lie there too, under
// names of the plugin's own. The two files that both know:
//   status    one line an event, appended by the plugin with one write:
//             "entered TRIPLE"  a pipeline has begun: the front end found no
//                               error in this compile
//             "left TRIPLE"     the plugin's last pass has ended
//   messages  one line a message: KIND REASON TEXT, where KIND is "warning" or
//             "note", REASON one word ("needs-device-link"), and TEXT for
//             people, without line breaks
// A failed compile that has "entered" is worth a second try without the
// plugin; "entered" without "left" says that the plugin itself died.
#pragma once

#include "runtime/support/Error.h"

#include <string>
#include <string_view>
#include <vector>

namespace r3 {

struct HandoverMessage {
  std::string Kind;   // "warning" or "note"
  std::string Reason; // one word
  std::string Text;
};

/// Appends "entered TRIPLE" or "left TRIPLE". Safe from several processes.
Error writeHandoverStatus(const std::string &Folder, std::string_view Event,
                          std::string_view Triple);
/// Line breaks in the text become spaces.
Error writeHandoverMessage(const std::string &Folder,
                           const HandoverMessage &Message);

/// Whether the plugin began a pipeline, and whether it ended all it began.
struct HandoverStatus {
  unsigned Entered = 0;
  unsigned Left = 0;
};
/// What the plugin left; a missing file is "nothing", damaged lines are
/// skipped.
HandoverStatus readHandoverStatus(const std::string &Folder);
std::vector<HandoverMessage> readHandoverMessages(const std::string &Folder);

} // namespace r3
