// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RapidJSON, behind one header: the includes, strict parsing into a document,
// checked access to members, and writing.
#pragma once

#include "runtime/support/Error.h"

#define RAPIDJSON_HAS_STDSTRING 1
#include <rapidjson/document.h>
#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace r3::json {

using Document = rapidjson::Document;
using Value = rapidjson::Value;
using Writer = rapidjson::Writer<rapidjson::StringBuffer>;
using PrettyWriter = rapidjson::PrettyWriter<rapidjson::StringBuffer>;

/// Parses a whole text (UTF-8 validated, depth-limited, iterative). The
/// message names the offset.
Expected<Document> parse(std::string_view Text, const std::string &Name);

/// As text without spaces.
std::string print(const Value &Any);

/// A member of an object: NotFound where it is missing, Damaged where it has
/// another type. The default forms return Default where it is missing.
Expected<std::string> text(const Value &Object, const char *Member);
std::string text(const Value &Object, const char *Member,
                 const std::string &Default);
Expected<uint64_t> number(const Value &Object, const char *Member);
uint64_t number(const Value &Object, const char *Member, uint64_t Default);
double real(const Value &Object, const char *Member, double Default);
bool boolean(const Value &Object, const char *Member, bool Default);
/// The member where it is an array or object; null where it is not.
const Value *array(const Value &Object, const char *Member);
const Value *object(const Value &Object, const char *Member);

} // namespace r3::json
