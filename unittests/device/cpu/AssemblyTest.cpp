// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inline PTX: which texts are read, and kernels that use it (Assembly.cu).
#include "unittests/device/cpu/Harness.h"

#include "runtime/device/cpu/Assembly.h"

#include <bit>
#include <cmath>
#include <numeric>

namespace r3::cpu {

static std::string shown(const AssemblyOperand &O) {
  using Kind = AssemblyOperand::Kind;
  std::string Parts;
  for (const AssemblyOperand &Part : O.Parts)
    Parts += (Parts.empty() ? "" : ",") + shown(Part);
  switch (O.Is) {
  case Kind::Register:
    return O.Name + (O.Also.empty() ? "" : "|" + O.Also);
  case Kind::Special:
    return "%" + O.Name;
  case Kind::Group:
    return "{" + Parts + "}";
  case Kind::Address:
    return "[" + Parts + "+" + std::to_string(O.Bits) + "]";
  case Kind::Number:
    return std::to_string(static_cast<int64_t>(O.Bits));
  case Kind::Float:
    return "float " + std::to_string(O.Bits);
  case Kind::Double:
    return "double " + std::to_string(O.Bits);
  }
  return "?";
}

static std::string shown(const char *Text) {
  std::optional<AssemblyText> Read = readAssembly(Text);
  if (!Read)
    return "refused";
  std::string Result;
  for (const AssemblyInstruction &I : Read->Instructions) {
    if (!I.Guard.empty())
      Result += (I.GuardIsNegated ? "unless " : "if ") + I.Guard + " ";
    for (const std::string &Word : I.Words)
      Result += (&Word == &I.Words[0] ? "" : ".") + Word;
    for (const AssemblyOperand &O : I.Operands)
      Result += " " + shown(O);
    Result += ";";
  }
  return Result;
}

TEST(Assembly, IsRead) {
  EXPECT_EQ(shown("{add.f16 $0,$1,$2;\n}"), "add.f16 $0 $1 $2;");
  EXPECT_EQ(shown("\tld.acquire.gpu.u32 $0,[$1];"),
            "ld.acquire.gpu.u32 $0 [$1+0];");
  EXPECT_EQ(shown("mov.u32 $0, %tid.x; // where"), "mov.u32 $0 %tid_x;");
  EXPECT_EQ(shown("bar.sync 0x2;"), "bar.sync 2;");
  EXPECT_EQ(shown("membar.gl"), "membar.gl;");
  EXPECT_EQ(shown(" \n"), "");
  EXPECT_EQ(shown("ld.v2.f32 {$0,_}, [$2 + 16];"), "ld.v2.f32 {$0,_} [$2+16];");
  EXPECT_EQ(shown("{.reg .pred p,q; setp.ne.u32 p|q, $0, -1U;"
                  "@!p mov.f32 $1, 0f3F800000;}"),
            "setp.ne.u32 p.0|q.1 $0 -1;unless p.0 mov.f32 $1 float "
            "1065353216;");
  // A name is that of its braces.
  EXPECT_EQ(shown("{.reg .b32 a; {.reg .b64 %a; not.b64 %a, %a;} "
                  "/* outer */ not.b32 a, a;}"),
            "not.b64 a.1 a.1;not.b32 a.0 a.0;");
}

TEST(Assembly, IsRefusedWhereItIsNotUnderstood) {
  for (const char *Text :
       {"add.u32 $0, $1, x;", "@p add.u32 $0, $1, $2;", "L: add.u32 $0, $1, 1;",
        "ld.global.cg.f32 $0, [$1;", "{ membar.gl;", "membar.gl; }",
        "{.reg .pred p} not.pred p, q;", ".reg .b33 a;", ".reg .b32 r<4>;",
        "mov.u32 $0, ;", "mov.u32 $0 $1;", "mov.b32 {$0,$1, $2;",
        ".pragma \"nounroll\";", "mov.u32 $0, 0xg;", "/* open"})
    EXPECT_EQ(shown(Text), "refused") << Text;
}

TEST(Assembly, KnowsTypes) {
  EXPECT_EQ(assemblyBits("pred"), 1u);
  EXPECT_EQ(assemblyBits("s8"), 8u);
  EXPECT_EQ(assemblyBits("bf16"), 16u);
  EXPECT_EQ(assemblyBits("f16x2"), 32u);
  EXPECT_EQ(assemblyBits("b64"), 64u);
  for (const char *Other : {"", "x2", "v2", "u", "u7", "rn", "f16x4"})
    EXPECT_EQ(assemblyBits(Other), 0u) << Other;
}

class AssemblyTest : public CpuTest {
protected:
  AssemblyTest() { File = "Assembly"; }
};

TEST_F(AssemblyTest, RunsSnippets) {
  Buffer<uint32_t> In({4, 0x00050006, 0xfffffffe}), Out(12);
  mustRun("snippets", shape({1, 1, 1}, {3, 1, 1}),
          arguments(In.data(), Out.data()));
  for (size_t I = 0; I < 3; ++I) {
    uint32_t X = In[I];
    EXPECT_EQ(Out[4 * I], X > 10 ? X + 3 * X : X - 3 * X);
    EXPECT_EQ(Out[4 * I + 1], X >> 16);
    EXPECT_EQ(Out[4 * I + 2], 7 | X << 16);
    EXPECT_EQ(Out[4 * I + 3], static_cast<int32_t>(X) < -1 ? 1u : 0u);
  }
}

TEST_F(AssemblyTest, ReachesMemory) {
  Buffer<int> In({5, 0x1234f0, 7, 9}), Out(67);
  mustRun("accesses", shape({1, 1, 1}, {32, 1, 1}),
          arguments(In.data(), Out.data()));
  EXPECT_EQ(Out[0], 64);
  EXPECT_EQ(Out[1], 9);
  for (int I = 0; I < 32; ++I)
    EXPECT_EQ(Out[2 + I], 705);
  EXPECT_EQ(Out[66], -16);
}

TEST_F(AssemblyTest, RunsBlockAlgorithmsOfCub) {
  std::vector<float> Values(64);
  std::iota(Values.begin(), Values.end(), 1.f);
  Buffer<float> In(Values), Sum(1);
  Buffer<int> Integers(std::vector<int>(64, 3)), Scanned(64);
  mustRun("blocks", shape({1, 1, 1}, {64, 1, 1}),
          arguments(In.data(), Sum.data(), Integers.data(), Scanned.data()));
  EXPECT_EQ(Sum[0], 64 * 65 / 2);
  for (int I = 0; I < 64; ++I)
    EXPECT_EQ(Scanned[I], 3 * (I + 1));
}

/// To the nearest value of Digits binary digits, halfway to the even one.
static float rounded(double Value, int Digits) {
  if (Value == 0)
    return 0;
  int Exponent = 0;
  std::frexp(Value, &Exponent);
  return static_cast<float>(std::ldexp(
      std::nearbyint(std::ldexp(Value, Digits - Exponent)), Exponent - Digits));
}

static void expectHalves(const Buffer<float> &Out, float A, float B,
                         int Digits) {
  float X = rounded(A, Digits), Y = rounded(B, Digits);
  auto R = [Digits](double Value) { return rounded(Value, Digits); };
  float Wanted[] = {X,
                    R(double(X) + Y),
                    R(double(X) * Y),
                    R(double(X) * Y + Y),
                    std::fmax(X, Y),
                    R(std::floor(X)),
                    float(X < Y),
                    float(!(X < Y || X > Y)),
                    float(X == Y),
                    float(X <= Y),
                    R(double(Y) - X),
                    R(double(X) * Y + X),
                    R(static_cast<int>(A)),
                    std::fabs(X),
                    R(std::sqrt(std::fabs(X))),
                    X};
  for (int I = 0; I < 16; ++I)
    EXPECT_EQ(Out[I], Wanted[I]) << I << ": " << A << " and " << B;
}

TEST_F(AssemblyTest, ComputesInHalfAndBrainFloats) {
  for (auto [A, B] : {std::pair(1.5f, -2.25f),
                      {0.1f, 0.3f},
                      {-3.7f, -3.7f},
                      {100.2f, 3.14159f},
                      {2049.f, 1.f}}) {
    Buffer<float> In({A, B}), Out(16);
    for (const char *Kernel : {"halves", "brains"}) {
      mustRun(Kernel, shape({1, 1, 1}, {1, 1, 1}),
              arguments(In.data(), Out.data()));
      expectHalves(Out, A, B, *Kernel == 'h' ? 11 : 8);
    }
  }
}

/// What an 8-bit float's magnitude is, from its parts.
static float byteValue(int Byte, int MantissaBits, int Bias) {
  int Magnitude = Byte & 127, Exponent = Magnitude >> MantissaBits;
  int Mantissa = Magnitude & ((1 << MantissaBits) - 1);
  if (Exponent)
    Mantissa += 1 << MantissaBits;
  float Value = std::ldexp(static_cast<float>(Mantissa),
                           std::max(Exponent, 1) - Bias - MantissaBits);
  return Byte & 128 ? -Value : Value;
}

/// The magnitude that is nearest, of two the even one, by trying all.
static int nearestByte(float Value, int Largest, int MantissaBits, int Bias) {
  int Best = 0;
  for (int Byte = 1; Byte <= Largest; ++Byte) {
    double There = std::fabs(byteValue(Byte, MantissaBits, Bias) - Value);
    double Before = std::fabs(byteValue(Best, MantissaBits, Bias) - Value);
    if (There < Before || (There == Before && Byte % 2 == 0))
      Best = Byte;
  }
  return Best;
}

TEST_F(AssemblyTest, ConvertsBytes) {
  struct {
    const char *Kernel;
    int Largest, MantissaBits, Bias;
  } Kinds[] = {{"bytes4", 0x7e, 3, 7}, {"bytes5", 0x7b, 2, 15}};
  for (auto &Kind : Kinds) {
    Buffer<float> Floats(256), In(256);
    Buffer<uint16_t> Out(512);
    // Halves that lie between, on and halfway between bytes, and too large
    // ones.
    for (int I = 0; I < 256; ++I)
      In[I] = std::ldexp(8.f + I % 8, I / 8 - 20) * (1 + I % 3 / 64.f);
    mustRun(Kind.Kernel, shape({1, 1, 1}, {256, 1, 1}),
            arguments(Floats.data(), In.data(), Out.data()));
    for (int I = 0; I < 256; ++I) {
      if ((I & 127) <= Kind.Largest) {
        EXPECT_EQ(Floats[I], byteValue(I, Kind.MantissaBits, Kind.Bias)) << I;
      }
      int Byte = nearestByte(In[I], Kind.Largest, Kind.MantissaBits, Kind.Bias);
      EXPECT_EQ(Out[2 * I], Byte * 257 + 0x8000) << In[I];
      if (In[I] < 65504 && In[I] > 1e-4f) {
        EXPECT_EQ(Out[2 * I + 1], Byte * 257 + 0x8000) << In[I];
      }
    }
  }
}

TEST_F(AssemblyTest, RefusesWhatHasNoMeaning) {
  for (const char *Name : {"label", "unevenGroup", "tooManyOperands",
                           "readsAnAddress", "loadsFromSmallAddress"}) {
    auto Kernel = load(Name);
    ASSERT_FALSE(bool(Kernel)) << Name;
    EXPECT_EQ(Kernel.error().code(), ErrorCode::CannotRunHere);
    EXPECT_NE(Kernel.error().message().find("inline assembly \""),
              std::string::npos)
        << Kernel.error().message();
  }
}

} // namespace r3::cpu
