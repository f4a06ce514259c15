// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phony rules for profile headers in dependency files.
#include "wrapper/clang-r3/Dependencies.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace r3::clangr3 {

namespace {

// As clang writes a name into a dependency file.
std::string quoteForMake(const std::string &Name) {
  std::string Quoted;
  for (char C : Name) {
    if (C == ' ' || C == '#')
      Quoted += '\\';
    if (C == '$')
      Quoted += '$';
    Quoted += C;
  }
  return Quoted;
}

} // namespace

std::string phonyRule(const std::string &Header) {
  return quoteForMake(Header) + ":\n";
}

Error addPhonyRules(const std::string &File,
                    std::span<const std::string> Headers) {
  std::ifstream In(File);
  if (!In)
    return Error::success();
  std::stringstream Text;
  Text << In.rdbuf();
  std::string Rules;
  for (const std::string &Header : Headers) {
    std::string Rule = phonyRule(Header);
    bool Named = Text.str().find(quoteForMake(Header)) != std::string::npos;
    bool HasRule = Text.str().find("\n" + Rule) != std::string::npos;
    if (Named && !HasRule)
      Rules += "\n" + Rule;
  }
  if (Rules.empty())
    return Error::success();
  std::ofstream Out(File, std::ios::app);
  Out << Rules;
  Out.close();
  return Out ? Error::success()
             : fail(ErrorCode::Failed, "%s: %s", File.c_str(), strerror(errno));
}

} // namespace r3::clangr3
