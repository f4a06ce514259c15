// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text of one instruction -> name: "ld.acquire.gpu.u32 $0,[$1];" is
// __r3_asm_ld_acquire_gpu_u32, whose parameters are the inputs in order.
#include "runtime/device/cpu/Assembly.h"

#include <algorithm>
#include <iterator>

using namespace llvm;

namespace r3::cpu {

namespace {

/// Pieces of CUDA's headers, without white space.
struct Piece {
  const char *Text;
  const char *Function;
};
constexpr Piece Pieces[] = {
    // cooperative_groups: scratch memory of the block.
    {"{.reg.u32start;.reg.u64extended;mov.u32start,%reserved_smem_offset_1;"
     "cvt.u64.u32extended,start;cvta.shared.u64$0,extended;}",
     "__r3_asm_reserved_shared"},
    // cuda_fp16: the halves of a pair.
    {"{mov.b32$0,{$1,$2};}", "__r3_asm_pack_halves"},
    {"{mov.b32$0,{$1,$1};}", "__r3_asm_pack_same_half"},
    {"{.reg.f16low,high;mov.b32{low,high},$1;mov.b16$0,low;}",
     "__r3_asm_low_half"},
    {"{.reg.f16low,high;mov.b32{low,high},$1;mov.b16$0,high;}",
     "__r3_asm_high_half"},
    {"{.reg.f16low,high;mov.b32{low,high},$1;cvt.f32.f16$0,low;}",
     "__r3_asm_low_float"},
    {"{.reg.f16low,high;mov.b32{low,high},$1;cvt.f32.f16$0,high;}",
     "__r3_asm_high_float"},
    {"{.reg.f16low;cvt.rn.f16.f32low,$1;mov.b32$0,{low,low};}",
     "__r3_asm_float_to_pair"},
};

std::string withoutSpace(StringRef Text) {
  std::string Result;
  std::copy_if(Text.begin(), Text.end(), std::back_inserter(Result),
               [](char C) { return !isspace(static_cast<unsigned char>(C)); });
  return Result;
}

/// The instruction inside braces and before its semicolon.
StringRef bare(StringRef Text) {
  Text = Text.trim();
  if (Text.starts_with("{") && Text.ends_with("}"))
    Text = Text.drop_front().drop_back().trim();
  Text.consume_back(";");
  return Text.trim();
}

std::string nameOf(StringRef Instruction) {
  std::string Name = "__r3_asm_" + Instruction.str();
  std::replace(Name.begin(), Name.end(), '.', '_');
  std::replace(Name.begin(), Name.end(), ':', '_');
  return Name;
}

} // namespace

std::optional<AssemblyMatch> matchAssembly(StringRef Text) {
  AssemblyMatch Match;
  std::string Whole = withoutSpace(Text);
  for (const Piece &P : Pieces)
    if (Whole == P.Text) {
      Match.Function = P.Function;
      return Match;
    }
  StringRef One = bare(Text);
  Match.IsEmpty = One.empty();
  if (Match.IsEmpty || One.contains(';') || One.contains('{') ||
      One.contains('@'))
    return Match.IsEmpty ? std::optional(Match) : std::nullopt;
  size_t Space = One.find_first_of(" \t\n");
  StringRef Instruction = One.take_front(Space);
  StringRef Rest =
      Space == StringRef::npos ? StringRef() : One.drop_front(Space).trim();
  SmallVector<StringRef, 6> Operands;
  if (!Rest.empty())
    Rest.split(Operands, ',');
  if (Instruction.starts_with("mov.") && Operands.size() == 2 &&
      Operands[1].trim().starts_with("%")) {
    std::string Register = Operands[1].trim().drop_front().str();
    std::replace(Register.begin(), Register.end(), '.', '_');
    Match.Function = "__r3_nvvm_read_ptx_sreg_" + Register;
    return Match;
  }
  Match.Function = nameOf(Instruction);
  unsigned Next = 0;
  for (StringRef Operand : Operands) {
    Operand = Operand.trim();
    uint32_t Number;
    if (!Operand.getAsInteger(0, Number)) {
      Match.Immediates.push_back(Number);
      continue;
    }
    if (Operand.consume_front("[") && !Operand.consume_back("]"))
      return std::nullopt;
    if (Operand.trim() != "$" + std::to_string(Next++) ||
        !Match.Immediates.empty())
      return std::nullopt;
  }
  return Match;
}

} // namespace r3::cpu
