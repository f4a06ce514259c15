// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of a lit test of a pass sequence: unoptimised IR of a kernel, a RUN
// line for opt with R3's plugin, and lines for FileCheck on what the sequence
// is for. In the test %r3plugin stands for the plugin; a lit.cfg.py that
// defines it, and is written where a folder has none, says from where.
#pragma once

#include "wrapper/r3/IrDifference.h"

#include <string>
#include <vector>

namespace r3 {

struct PassTest {
  std::vector<std::string> Head;    // comment lines
  std::string Passes;               // as for opt -passes
  std::vector<std::string> Options; // further options of opt
  std::vector<IrProperty> Properties;
  std::string Code; // printed IR

  std::string text() const;
};

/// A variant's pipeline (or the default one of Level, where it is empty) as
/// text for opt with the plugin: as the compile worker runs it on device code.
std::string passesForOpt(const std::string &Pipeline, const std::string &Level);

/// -mcpu and -mattr as the functions of printed IR say, and what clang's
/// driver passes for device code.
std::vector<std::string> optOptions(const std::string &Code);

/// Printed IR without lines that name the file it was printed from.
std::string withoutPlace(const std::string &Code);

/// Options of FileCheck that a property needs.
std::vector<std::string> checkOptions(const IrProperty &P);

/// The lit.cfg.py, for tools in ToolFolder and this plugin.
std::string litConfig(const std::string &ToolFolder, const std::string &Plugin);

} // namespace r3
