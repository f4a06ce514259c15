// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layers of a small transformer in half precision: each token is normalised,
// looks back at the tokens of a window by products with them, weighs them by a
// softmax and adds their mean. Values are pairs of halves; sums are floats, by
// tiles of cooperative groups.
//
//   layernorm [TOKENS [LAYERS]]
#include "../common/example.h"

#include <algorithm>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>
#include <vector>

namespace cg = cooperative_groups;

constexpr int Width = 256, Pairs = Width / 2; // of a token
constexpr int Window = 64;                    // tokens that one looks back at
constexpr int Threads = 128, Warps = Threads / 32;
static_assert(Pairs % 32 == 0 && Window == 64, "two weights a lane");

/// Mean 0 and variance 1 along each token, then Scale and Shift: one warp a
/// token, Warps tokens a block.
__global__ void normalise(const __half2 *In, const __half2 *Scale,
                          const __half2 *Shift, int Tokens, __half2 *Out) {
  auto Warp = cg::tiled_partition<32>(cg::this_thread_block());
  int Token = blockIdx.x * Warps + Warp.meta_group_rank();
  if (Token >= Tokens)
    return;
  const __half2 *From = In + size_t(Token) * Pairs;
  float2 Values[Pairs / 32];
  float Sum = 0, Squares = 0;
  for (int K = 0; K < Pairs / 32; ++K) {
    Values[K] = __half22float2(From[32 * K + Warp.thread_rank()]);
    Sum += Values[K].x + Values[K].y;
  }
  float Mean = cg::reduce(Warp, Sum, cg::plus<float>()) / Width;
  for (float2 &Value : Values) {
    Value = {Value.x - Mean, Value.y - Mean};
    Squares += Value.x * Value.x + Value.y * Value.y;
  }
  float Variance = cg::reduce(Warp, Squares, cg::plus<float>()) / Width;
  float Factor = rsqrtf(Variance + 1e-5f);
  for (int K = 0; K < Pairs / 32; ++K) {
    int I = 32 * K + Warp.thread_rank();
    __half2 Even =
        __floats2half2_rn(Values[K].x * Factor, Values[K].y * Factor);
    Out[size_t(Token) * Pairs + I] = __hfma2(Even, Scale[I], Shift[I]);
  }
}

/// Scores[Token][Back]: the product of a token with the one Back before it.
__global__ void compare(const __half2 *In, int Tokens, __half *Scores) {
  auto Warp = cg::tiled_partition<32>(cg::this_thread_block());
  int Token = blockIdx.x;
  const __half2 *Own = In + size_t(Token) * Pairs;
  for (int Back = Warp.meta_group_rank(); Back < Window; Back += Warps) {
    float Sum = 0;
    if (Back <= Token)
      for (int I = Warp.thread_rank(); I < Pairs; I += 32) {
        float2 A = __half22float2(Own[I]);
        float2 B = __half22float2(Own[I - Back * Pairs]);
        Sum += A.x * B.x + A.y * B.y;
      }
    Sum = cg::reduce(Warp, Sum, cg::plus<float>());
    if (Warp.thread_rank() == 0)
      Scores[size_t(Token) * Window + Back] = __float2half(Sum / 64);
  }
}

/// Scores become weights: two a lane, tokens before the first one none.
__global__ void softmax(int Tokens, __half2 *Scores) {
  auto Warp = cg::tiled_partition<32>(cg::this_thread_block());
  int Token = blockIdx.x * Warps + Warp.meta_group_rank();
  if (Token >= Tokens)
    return;
  int Lane = Warp.thread_rank();
  __half2 *Mine = Scores + size_t(Token) * (Window / 2) + Lane;
  __half Never = __ushort_as_half(0xfc00); // minus infinity
  __half2 Score = *Mine;
  if (2 * Lane > Token)
    Score.x = Never;
  if (2 * Lane + 1 > Token)
    Score.y = Never;
  float Most = __half2float(__hmax(Score.x, Score.y));
  Most = cg::reduce(Warp, Most, cg::greater<float>());
  float2 Weight = __half22float2(Score);
  Weight = {exp2f((Weight.x - Most) * 1.442695f),
            exp2f((Weight.y - Most) * 1.442695f)};
  float Sum = cg::reduce(Warp, Weight.x + Weight.y, cg::plus<float>());
  *Mine = __floats2half2_rn(Weight.x / Sum, Weight.y / Sum);
}

/// Adds to each token the mean of its window.
__global__ void mix(const __half2 *In, const __half *Weights, int Tokens,
                    __half2 *Out) {
  __shared__ __half2 Shared[Window];
  int Token = blockIdx.x, I = threadIdx.x;
  if (I < Window)
    Shared[I] = __half2half2(Weights[size_t(Token) * Window + I]);
  __syncthreads();
  const __half2 *Own = In + size_t(Token) * Pairs + I;
  int Reach = min(Window, Token + 1);
  float2 Sum = {0, 0};
  for (int Back = 0; Back < Reach; ++Back) {
    float2 Part = __half22float2(__hmul2(Shared[Back], Own[-Back * Pairs]));
    Sum = {Sum.x + Part.x, Sum.y + Part.y};
  }
  __half2 *To = Out + size_t(Token) * Pairs + I;
  *To = __hadd2(*To, __floats2half2_rn(Sum.x, Sum.y));
}

namespace {

std::vector<__half> numbers(size_t Size, uint64_t Seed, float From, float To) {
  std::vector<__half> Result(Size);
  for (size_t I = 0; I < Size; ++I)
    Result[I] = __float2half(
        From + (To - From) * float(example::noise(Seed * (1ull << 32) + I)));
  return Result;
}

/// An array on the device that holds halves.
struct Halves {
  explicit Halves(const std::vector<__half> &Values) : Size(Values.size()) {
    CUDA(cudaMalloc(&Where, Size * sizeof(__half)));
    CUDA(cudaMemcpy(Where, Values.data(), Size * sizeof(__half),
                    cudaMemcpyHostToDevice));
  }
  ~Halves() { CUDA(cudaFree(Where)); }
  std::vector<double> read() const {
    std::vector<__half> Values(Size);
    CUDA(cudaMemcpy(Values.data(), Where, Size * sizeof(__half),
                    cudaMemcpyDeviceToHost));
    std::vector<double> Result;
    for (__half Value : Values)
      Result.push_back(__half2float(Value));
    return Result;
  }
  __half2 *pairs() const { return static_cast<__half2 *>(Where); }
  __half *single() const { return static_cast<__half *>(Where); }

  void *Where = nullptr;
  size_t Size;
};

struct Model {
  int Tokens;
  Halves State, Even, Scores, Scale, Shift;

  explicit Model(int Tokens)
      : Tokens(Tokens), State(numbers(size_t(Tokens) * Width, 1, -2, 3)),
        Even(numbers(size_t(Tokens) * Width, 2, 0, 1)),
        Scores(numbers(size_t(Tokens) * Window, 3, 0, 1)),
        Scale(numbers(Width, 4, 0.5f, 1.5f)),
        Shift(numbers(Width, 5, -0.2f, 0.2f)) {}

  void runLayer() const {
    int Blocks = example::ceilDivide(Tokens, Warps);
    normalise<<<Blocks, Threads>>>(State.pairs(), Scale.pairs(), Shift.pairs(),
                                   Tokens, Even.pairs());
    compare<<<Tokens, Threads>>>(Even.pairs(), Tokens, Scores.single());
    softmax<<<Blocks, Threads>>>(Tokens, Scores.pairs());
    mix<<<Tokens, Pairs>>>(Even.pairs(), Scores.single(), Tokens,
                           State.pairs());
    CUDA(cudaGetLastError());
  }
};

bool isNear(double Have, double Want) {
  return std::fabs(Have - Want) <= 2e-3 * (1 + std::fabs(Want));
}

/// Each stage of the first layer at some tokens, from what the stage before
/// has made, in double.
bool checkLayer(const Model &M, const std::vector<double> &Old) {
  std::vector<double> New = M.State.read(), Even = M.Even.read();
  std::vector<double> Weights = M.Scores.read(), Scale = M.Scale.read();
  std::vector<double> Shift = M.Shift.read();
  bool Right = true;
  for (int Pick = 0; Pick < 40; ++Pick) {
    int Token = Pick < 8 ? std::min(Pick, M.Tokens - 1)
                         : int(example::noise(Pick) * M.Tokens);
    const double *In = &Old[size_t(Token) * Width];
    const double *Out = &Even[size_t(Token) * Width];
    double Mean = 0, Variance = 0;
    for (int I = 0; I < Width; ++I)
      Mean += In[I] / Width;
    for (int I = 0; I < Width; ++I)
      Variance += (In[I] - Mean) * (In[I] - Mean) / Width;
    for (int I = 0; I < Width; ++I)
      Right &= isNear(Out[I],
                      (In[I] - Mean) / std::sqrt(Variance + 1e-5) * Scale[I] +
                          Shift[I]);
    int Reach = std::min(Window, Token + 1);
    std::vector<double> Score(Reach);
    for (int Back = 0; Back < Reach; ++Back)
      for (int I = 0; I < Width; ++I)
        Score[Back] += Out[I] * Out[I - Back * Width] / 64;
    double Most = *std::max_element(Score.begin(), Score.end()), Sum = 0;
    for (double &Value : Score)
      Sum += Value = std::exp(Value - Most);
    const double *Weight = &Weights[size_t(Token) * Window];
    for (int Back = 0; Back < Window; ++Back)
      Right &= std::fabs(Weight[Back] -
                         (Back < Reach ? Score[Back] / Sum : 0)) < 0.02;
    for (int I = 0; I < Width; ++I) {
      double Added = 0;
      for (int Back = 0; Back < Reach; ++Back)
        Added += Weight[Back] * Out[I - Back * Width];
      Right &= isNear(New[size_t(Token) * Width + I], In[I] + Added);
    }
  }
  return Right;
}

} // namespace

int main(int Count, char **Arguments) {
  int Tokens = example::argument(Count, Arguments, 1, 100000, 4000000);
  int Layers = example::argument(Count, Arguments, 2, 20);
  std::printf("layernorm: %d tokens of %d halves, %d layers\n", Tokens, Width,
              Layers);
  Model M(Tokens);
  std::vector<double> First = M.State.read();
  example::Timer Time;
  double Milliseconds = 0;
  bool Right = true;
  for (int Layer = 0; Layer < Layers; ++Layer) {
    M.runLayer();
    if (Layer > 0)
      continue;
    CUDA(cudaDeviceSynchronize());
    Milliseconds = Time.milliseconds();
    Right = checkLayer(M, First);
    Time = example::Timer();
  }
  CUDA(cudaDeviceSynchronize());
  Milliseconds += Time.milliseconds();
  double Checksum = 0;
  for (double Value : M.State.read())
    Checksum += Value * Value;
  return example::finish(Milliseconds, Right && std::isfinite(Checksum),
                         Checksum / Tokens);
}
