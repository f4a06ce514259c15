// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Strict JSON. RapidJSON's iterative parser needs no stack for nesting, but
// whoever walks the document does, so that nesting is bounded before.
#include "runtime/support/Json.h"

#include <rapidjson/error/en.h>

namespace r3::json {

static constexpr size_t DepthLimit = 64;

/// Offset of the bracket that opens level DepthLimit + 1, or npos.
static size_t findTooDeep(std::string_view Text) {
  size_t Depth = 0;
  bool InString = false;
  for (size_t I = 0; I < Text.size(); ++I) {
    char C = Text[I];
    if (InString) {
      if (C == '\\')
        ++I;
      else if (C == '"')
        InString = false;
    } else if (C == '"') {
      InString = true;
    } else if (C == '{' || C == '[') {
      if (++Depth > DepthLimit)
        return I;
    } else if ((C == '}' || C == ']') && Depth) {
      --Depth;
    }
  }
  return std::string_view::npos;
}

std::string print(const Value &Any) {
  rapidjson::StringBuffer Buffer;
  Writer W(Buffer);
  Any.Accept(W);
  return {Buffer.GetString(), Buffer.GetSize()};
}

Expected<Document> parse(std::string_view Text, const std::string &Name) {
  if (size_t At = findTooDeep(Text); At != std::string_view::npos)
    return fail(ErrorCode::Damaged, "%s: offset %zu: nested over %zu levels",
                Name.c_str(), At, DepthLimit);
  constexpr unsigned Flags = rapidjson::kParseValidateEncodingFlag |
                             rapidjson::kParseIterativeFlag |
                             rapidjson::kParseFullPrecisionFlag;
  Document Result;
  Result.Parse<Flags>(Text.data(), Text.size());
  if (!Result.HasParseError())
    return Result;
  std::string Why = rapidjson::GetParseError_En(Result.GetParseError());
  if (!Why.empty() && Why.back() == '.')
    Why.pop_back();
  if (!Why.empty() && Why[0] >= 'A' && Why[0] <= 'Z')
    Why[0] = char(Why[0] - 'A' + 'a');
  return fail(ErrorCode::Damaged, "%s: offset %zu: %s", Name.c_str(),
              Result.GetErrorOffset(), Why.c_str());
}

static const Value *member(const Value &Object, const char *Member) {
  if (!Object.IsObject())
    return nullptr;
  auto Found = Object.FindMember(Member);
  return Found == Object.MemberEnd() ? nullptr : &Found->value;
}

static Error missing(const char *Member) {
  return fail(ErrorCode::NotFound, "member '%s' is missing", Member);
}

Expected<std::string> text(const Value &Object, const char *Member) {
  const Value *Found = member(Object, Member);
  if (!Found)
    return missing(Member);
  if (!Found->IsString())
    return fail(ErrorCode::Damaged, "member '%s' is not a string", Member);
  return std::string(Found->GetString(), Found->GetStringLength());
}

std::string text(const Value &Object, const char *Member,
                 const std::string &Default) {
  const Value *Found = member(Object, Member);
  return Found && Found->IsString()
             ? std::string(Found->GetString(), Found->GetStringLength())
             : Default;
}

Expected<uint64_t> number(const Value &Object, const char *Member) {
  const Value *Found = member(Object, Member);
  if (!Found)
    return missing(Member);
  if (!Found->IsUint64())
    return fail(ErrorCode::Damaged, "member '%s' is not a natural number",
                Member);
  return Found->GetUint64();
}

uint64_t number(const Value &Object, const char *Member, uint64_t Default) {
  const Value *Found = member(Object, Member);
  return Found && Found->IsUint64() ? Found->GetUint64() : Default;
}

double real(const Value &Object, const char *Member, double Default) {
  const Value *Found = member(Object, Member);
  return Found && Found->IsNumber() ? Found->GetDouble() : Default;
}

bool boolean(const Value &Object, const char *Member, bool Default) {
  const Value *Found = member(Object, Member);
  return Found && Found->IsBool() ? Found->GetBool() : Default;
}

const Value *array(const Value &Object, const char *Member) {
  const Value *Found = member(Object, Member);
  return Found && Found->IsArray() ? Found : nullptr;
}

const Value *object(const Value &Object, const char *Member) {
  const Value *Found = member(Object, Member);
  return Found && Found->IsObject() ? Found : nullptr;
}

} // namespace r3::json
