// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The header that makes a unit depend on the profile. It is read strictly: the
// plugin applies what it names.
#include "runtime/support/Digest.h"
#include "runtime/support/Profile.h"

#include <algorithm>
#include <string_view>

namespace r3 {

static constexpr std::string_view FirstLine =
    "// r3 profile header, format 1: written by r3 apply, do not edit\n";
static constexpr std::string_view FirstLineStart =
    "// r3 profile header, format ";
static constexpr std::string_view EntryStart = "// entry ";

std::string unitHeaderPath(const std::string &Source) {
  // Sources outside the root keep their distance, but stay inside the folder.
  std::string Path = "units";
  for (size_t At = 0; At <= Source.size();) {
    size_t Slash = std::min(Source.find('/', At), Source.size());
    std::string Part = Source.substr(At, Slash - At);
    if (!Part.empty() && Part != ".")
      Path.append("/").append(Part == ".." ? "__up" : Part);
    At = Slash + 1;
  }
  return Path + ".h";
}

static std::string declaration(std::string_view Entries) {
  return format("extern \"C\" char __r3_profile_%s;\n",
                contentDigest(Entries).hex().c_str());
}

std::string unitHeaderText(const std::map<std::string, std::string> &Kernels) {
  std::string Entries;
  for (const auto &[Folder, Toml] : Kernels)
    Entries += format("// entry %s %s\n", Folder.c_str(),
                      contentDigest(Toml).hex().c_str());
  std::string Text(FirstLine);
  if (!Entries.empty())
    Text += Entries + declaration(Entries);
  return Text;
}

/// The folder of an entry line; nothing where it is none.
static std::string folderOf(std::string_view Line) {
  if (!Line.starts_with(EntryStart))
    return {};
  Line.remove_prefix(EntryStart.size());
  size_t Blank = Line.find(' ');
  if (Blank == std::string_view::npos || !Digest::parse(Line.substr(Blank + 1)))
    return {};
  std::string_view Folder = Line.substr(0, Blank);
  // It becomes part of a path.
  bool Plain = std::all_of(Folder.begin(), Folder.end(), [](char C) {
    return (C >= 'a' && C <= 'z') || (C >= 'A' && C <= 'Z') ||
           (C >= '0' && C <= '9') || C == '_' || C == '-';
  });
  return Plain ? std::string(Folder) : std::string();
}

Expected<std::vector<std::string>> parseUnitHeader(const std::string &Text,
                                                   const std::string &Name) {
  std::string_view Rest = Text;
  if (!Rest.starts_with(FirstLineStart))
    return fail(ErrorCode::Damaged, "%s: not a profile header of r3",
                Name.c_str());
  if (!Rest.starts_with(FirstLine))
    return fail(ErrorCode::Damaged, "%s: a format that this r3 does not read",
                Name.c_str());
  Rest.remove_prefix(FirstLine.size());
  std::string_view Entries = Rest;
  std::vector<std::string> Folders;
  while (Rest.starts_with(EntryStart)) {
    size_t End = std::min(Rest.find('\n'), Rest.size() - 1);
    Folders.push_back(folderOf(Rest.substr(0, End)));
    if (Folders.back().empty())
      return fail(ErrorCode::Damaged, "%s: entry %zu is malformed",
                  Name.c_str(), Folders.size());
    Rest.remove_prefix(End + 1);
  }
  Entries = Entries.substr(0, Entries.size() - Rest.size());
  if (Rest != (Folders.empty() ? std::string() : declaration(Entries)))
    return fail(ErrorCode::Damaged,
                "%s: the declaration does not belong to the entries (changed "
                "by hand? r3 apply writes it)",
                Name.c_str());
  return Folders;
}

} // namespace r3
