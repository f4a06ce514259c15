// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each target for a short while with any compiler: first the corpus (inputs
// that once broke something, and hand-made ones), then the seeds, then seeded
// random mutations of both. An input that ends the process is written to a
// file first, and its name to stderr.
#include "unittests/fuzz/Targets.h"

#include "runtime/support/Files.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <random>
#include <unistd.h>

namespace r3::fuzz {

//===-- Crashes -----------------------------------------------------------===//

static const Bytes *CurrentInput = nullptr;
static char CrashPath[256];

/// Only async-signal-safe calls.
static void saveInput(int Signal) {
  int Fd = ::open(CrashPath, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (Fd >= 0 && CurrentInput)
    (void)!::write(Fd, CurrentInput->data(), CurrentInput->size());
  constexpr char Text[] = "\nthe input that ended the process is in ";
  (void)!::write(2, Text, sizeof(Text) - 1);
  (void)!::write(2, CrashPath, ::strnlen(CrashPath, sizeof(CrashPath)));
  (void)!::write(2, "\n", 1);
  ::signal(Signal, SIG_DFL);
  ::raise(Signal);
}

static void watch(const Target &T) {
  std::snprintf(CrashPath, sizeof(CrashPath), "%sr3-fuzz-%.*s.bin",
                testing::TempDir().c_str(), int(T.Name.size()), T.Name.data());
  for (int Signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL})
    ::signal(Signal, saveInput);
}

static void run(const Target &T, const Bytes &Input) {
  CurrentInput = &Input;
  T.Run(Input);
  CurrentInput = nullptr;
}

//===-- Mutations ---------------------------------------------------------===//

namespace {

class Mutator {
public:
  Mutator(std::vector<Bytes> Pool, uint32_t Seed)
      : Pool(std::move(Pool)), Random(Seed) {}

  Bytes next() {
    Bytes Input = Pool[below(Pool.size())];
    for (size_t Steps = 1 + below(4); Steps; --Steps)
      step(Input);
    return Input;
  }
  bool chance(size_t OneIn) { return below(OneIn) == 0; }

private:
  size_t below(size_t Limit) { return Limit ? Random() % Limit : 0; }

  void step(Bytes &Input) {
    static constexpr uint8_t Values[] = {0,   1,   0x7f, 0x80, 0xff, '"',
                                         '(', '[', '{',  '\n', '/',  '-'};
    size_t At = below(Input.size() + 1);
    auto Where = Input.begin() + long(At);
    switch (below(8)) {
    case 0: // cut
      return Input.resize(At);
    case 1: // leave out a part
      return void(
          Input.erase(Where, Where + long(below(Input.size() - At + 1))));
    case 2: // repeat a part
    {
      size_t Length = below(std::min<size_t>(64, Input.size() - At) + 1);
      Bytes Part(Where, Where + long(Length));
      return void(Input.insert(Where, Part.begin(), Part.end()));
    }
    case 3: // a part of another input
    {
      const Bytes &Other = Pool[below(Pool.size())];
      size_t Begin = below(Other.size()), End = Begin + below(64);
      return void(
          Input.insert(Where, Other.begin() + long(Begin),
                       Other.begin() + long(std::min(End, Other.size()))));
    }
    case 4: // a number at its limits
      for (size_t I = At;
           I < std::min(At + (size_t(1) << below(4)), Input.size()); ++I)
        Input[I] = chance(2) ? 0xff : 0x7f;
      return;
    case 5:
      return void(Input.insert(Where, Values[below(std::size(Values))]));
    case 6:
      if (At < Input.size())
        Input[At] ^= uint8_t(1u << below(8));
      return;
    default:
      if (At < Input.size())
        Input[At] =
            chance(2) ? Values[below(std::size(Values))] : uint8_t(below(256));
    }
  }

  std::vector<Bytes> Pool;
  std::mt19937 Random;
};

} // namespace

static std::vector<Bytes> corpus(const Target &T) {
  std::vector<Bytes> Result;
  std::error_code Failure;
  std::filesystem::directory_iterator At(
      std::string(R3_FUZZ_CORPUS "/") + std::string(T.Name), Failure),
      End;
  for (; !Failure && At != End; At.increment(Failure))
    if (Expected<std::vector<uint8_t>> Read = readFile(At->path().string()))
      Result.push_back(std::move(*Read));
  return Result;
}

class FuzzTest : public testing::TestWithParam<std::string_view> {};

TEST_P(FuzzTest, SurvivesMutations) {
  const Target *T = findTarget(GetParam());
  ASSERT_TRUE(T);
  watch(*T);
  std::vector<Bytes> Pool = corpus(*T);
  for (Bytes &Seed : T->Seeds())
    Pool.push_back(std::move(Seed));
  for (const Bytes &Input : Pool)
    run(*T, Input);
  using Clock = std::chrono::steady_clock;
  Clock::time_point End = Clock::now() + std::chrono::milliseconds(400);
  Mutator Mutate(std::move(Pool), /*Seed=*/1);
  for (unsigned Round = 0; Round % 16 || Clock::now() < End; ++Round) {
    Bytes Input = Mutate.next();
    if (T->Seal && !Mutate.chance(4))
      T->Seal(Input);
    run(*T, Input);
  }
  for (int Signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL})
    ::signal(Signal, SIG_DFL);
}

/// Every seed is accepted by its reader: a seed that is refused at once would
/// make the mutations above worthless.
TEST_P(FuzzTest, SeedsAreAccepted) {
  const Target *T = findTarget(GetParam());
  ASSERT_TRUE(T);
  std::vector<Bytes> Seeds = T->Seeds();
  EXPECT_FALSE(Seeds.empty());
  for (Bytes &Seed : Seeds) {
    EXPECT_TRUE(T->Run(Seed));
    // Sealing a right input changes nothing.
    Bytes Sealed = Seed;
    if (T->Seal)
      T->Seal(Sealed);
    EXPECT_EQ(Sealed, Seed);
  }
}

static std::vector<std::string_view> names() {
  std::vector<std::string_view> Result;
  for (const Target &T : targets())
    Result.push_back(T.Name);
  return Result;
}

INSTANTIATE_TEST_SUITE_P(Readers, FuzzTest, testing::ValuesIn(names()),
                         [](const auto &Info) {
                           std::string Name(Info.param);
                           for (char &C : Name)
                             if (C == '-')
                               C = '_';
                           return Name;
                         });

} // namespace r3::fuzz
