// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expected results are computed here, in the same order of operations as the
// kernels do it: they agree bit for bit.
#include "Fixture.h"

#include "runtime/support/Files.h"
#include "runtime/support/Pack.h"
#include "runtime/support/Unit.h"

#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

namespace r3::testing {

namespace fs = std::filesystem;

namespace {

struct SaxpyArguments {
  uint64_t X, Y;
  float A;
  int N;
};

std::string floats(const std::vector<float> &Values) {
  return {reinterpret_cast<const char *>(Values.data()), Values.size() * 4};
}

std::span<const uint8_t> view(const std::string &Text) {
  return {reinterpret_cast<const uint8_t *>(Text.data()), Text.size()};
}

} // namespace

void ReplayTest::SetUp() {
  auto Made =
      createPrivateFolder((fs::temp_directory_path() / "r3-replay-").string());
  ASSERT_TRUE(Made) << Made.error().message();
  Folder = *Made;
  auto S = Store::open(Folder + "/.r3", /*Create=*/true);
  ASSERT_TRUE(S) << S.error().message();
  TheStore = std::make_unique<Store>(std::move(*S));
}

void ReplayTest::TearDown() {
  std::error_code Ignored;
  fs::remove_all(Folder, Ignored);
}

std::string ReplayTest::write(Recording R,
                              const std::vector<std::string> &Before,
                              const std::vector<std::string> &After) {
  auto Pack = PackWriter::create(TheStore->packDirectory());
  EXPECT_TRUE(Pack) << Pack.error().message();
  auto Add = [&](std::string_view Bytes) {
    const Digest Name = chunkDigest(view(std::string(Bytes)));
    EXPECT_FALSE((*Pack)->add(Name, view(std::string(Bytes))));
    return Name;
  };
  for (size_t I = 0; I < R.Allocations.size(); ++I) {
    RecordedAllocation &A = R.Allocations[I];
    for (size_t At = 0; At < A.Size; At += ChunkBytes) {
      A.Before.push_back(
          Add(std::string_view(Before[I]).substr(At, ChunkBytes)));
      if (After[I].empty())
        continue;
      const Digest Name =
          Add(std::string_view(After[I]).substr(At, ChunkBytes));
      if (Name != A.Before.back())
        A.After.push_back({At / ChunkBytes, Name});
    }
  }
  EXPECT_FALSE((*Pack)->sync());
  const std::vector<uint8_t> Bytes = R.serialize();
  const std::string Id = Recording::idOf(Bytes).hex();
  EXPECT_FALSE(TheStore->writeRecording(R.Key, Id, Bytes));
  return TheStore->recordingPath(R.Key, Id);
}

std::string ReplayTest::record(const SaxpyOptions &O) {
  SaxpyArguments Raw{O.Base + 0x400, O.Base + 0x100000, O.A, O.N};
  const uint64_t Bytes = uint64_t(O.N) * 4;
  Recording R;
  R.Key = std::string(32, 'a');
  R.Name = O.Kernel;
  R.Display = O.Kernel;
  R.Arch = "sm_90";
  R.Unit = std::string(32, 'b');
  R.Level = O.Level;
  R.Image = O.Backend == "cuda" ? contentDigest(O.Image) : Digest();
  R.Module = contentDigest(O.Bitcode);
  R.Device.Backend = O.Backend;
  R.Launch.Block = {O.Block, 1, 1};
  R.Launch.Grid = {(uint32_t(O.N) + O.Block - 1) / O.Block, 1, 1};
  R.Arguments.resize(sizeof(Raw));
  std::memcpy(R.Arguments.data(), &Raw, sizeof(Raw));
  R.Fields = {{0, 8, ValueType::Pointer, "x"},
              {8, 8, ValueType::Pointer, "y"},
              {16, 4, ValueType::F32, "a"},
              {20, 4, ValueType::I32, "n"}};
  RecordedAllocation X, Y;
  X.Address = Raw.X;
  Y.Address = Raw.Y;
  X.Size = Y.Size = Bytes;
  R.Allocations = {X, Y};
  R.DurationNs = 1000;

  std::vector<float> Xs(O.N), Before(O.N), After(O.N);
  for (int I = 0; I < O.N; ++I) {
    Xs[I] = float(I % 1000) / 8;
    Before[I] = I && !O.Alike ? float(I % 77) : O.FirstY;
    After[I] = Before[I] + O.A * Xs[I];
  }
  EXPECT_FALSE(TheStore->writeModule(R.Module, O.Bitcode));
  if (O.Backend == "cuda") {
    EXPECT_FALSE(TheStore->writeImage(R.Image, view(O.Image)));
  }
  Unit U;
  UnitKernel K;
  K.Name = O.Kernel;
  K.ArgumentBytes = sizeof(Raw);
  K.Fields = R.Fields;
  if (O.Typed)
    K.Written[1] = ValueType::F32;
  if (O.Stamped)
    K.Written[0] = ValueType::I32;
  U.Kernels = {K};
  EXPECT_FALSE(TheStore->writeUnit(R.Unit, U.json()));
  std::vector<float> Stamped = Xs;
  if (O.Stamped)
    Stamped[5] = 1000;
  return write(
      R, {floats(Xs), floats(Before)},
      {O.Stamped ? floats(Stamped) : "", O.Changed ? floats(After) : ""});
}

std::string ReplayTest::recordFollow() {
  SaxpyOptions O;
  O.Image = "follow";
  O.N = 64;
  auto Path = record(O);
  auto Bytes = readFile(Path);
  EXPECT_TRUE(Bytes);
  if (!Bytes)
    return "";
  auto R = Recording::parse(*Bytes, Path);
  EXPECT_TRUE(R);
  if (!R)
    return "";
  std::string X(256, '\0'), Y(256, '\0'), Table(64, '\0');
  const uint64_t Elsewhere = 0x123456789000;
  const float Value = 42;
  std::memcpy(X.data(), &Elsewhere, 8);
  std::memcpy(Table.data() + 20, &Value, 4);
  std::string After = Y;
  std::memcpy(After.data(), &Value, 4);
  for (auto &A : R->Allocations)
    A.Before.clear(), A.After.clear();
  RecordedAllocation Global;
  Global.Address = Elsewhere - 20;
  Global.Size = 64;
  Global.Kind = MemoryKind::Global;
  Global.Global = "table";
  R->Allocations.push_back(Global);
  SymbolicWord Word;
  Word.Allocation = 0;
  Word.Name = "table";
  Word.Addend = 20;
  R->Symbolic = {Word};
  return write(*R, {X, Y, Table}, {"", After, ""});
}

Expected<std::unique_ptr<Worker>>
ReplayTest::startFake(const std::string &DeviceName,
                      std::vector<std::string> Launcher) {
  const std::string Binaries = R3_TEST_BINARIES;
  std::string Device = Binaries + "/fake-device";
  if (DeviceName != "fake-device") {
    Device = Folder + "/" + DeviceName;
    std::error_code Ignored;
    fs::create_symlink(Binaries + "/fake-device", Device, Ignored);
  }
  WorkerOptions O;
  O.StorePath = TheStore->path();
  O.Launcher = std::move(Launcher);
  for (const std::string &Argument :
       {Binaries + "/fake-supervisor", Device, Binaries + "/fake-compile"})
    O.Launcher.push_back(Argument);
  O.ReplyTimeoutMs = 60000;
  O.Compilers = 3;
  return Worker::start(O);
}

std::unique_ptr<Worker> ReplayTest::fakeWith(const std::string &Manifest) {
  auto W = startFake();
  EXPECT_TRUE(W) << W.error().message();
  if (!W)
    return nullptr;
  Error E = (*W)->load({Manifest});
  EXPECT_FALSE(E) << E.message();
  return std::move(*W);
}

Variant pipeline(const std::string &Text) {
  Variant V;
  V.Pipeline = Text;
  return V;
}

namespace {

/// Parent and name of a process; 0 where it is gone or a zombie.
pid_t parentOf(pid_t Pid, std::string &Name) {
  std::ifstream File("/proc/" + std::to_string(Pid) + "/stat");
  std::string Text;
  std::getline(File, Text);
  const size_t Open = Text.find('('), Close = Text.rfind(')');
  if (Close == std::string::npos || Text.size() < Close + 4)
    return 0;
  Name = Text.substr(Open + 1, Close - Open - 1);
  if (Text[Close + 2] == 'Z')
    return 0;
  return static_cast<pid_t>(std::atoi(Text.c_str() + Close + 4));
}

} // namespace

std::set<pid_t> descendants(const std::string &Name) {
  std::set<pid_t> Result;
  for (const auto &Entry : fs::directory_iterator("/proc")) {
    const pid_t Pid = std::atoi(Entry.path().filename().c_str());
    std::string Own;
    if (Pid <= 0 || !parentOf(Pid, Own) || Own != Name.substr(0, 15))
      continue;
    for (pid_t Up = Pid; Up > 1;) {
      std::string Ignored;
      Up = parentOf(Up, Ignored);
      if (Up == getpid()) {
        Result.insert(Pid);
        break;
      }
    }
  }
  return Result;
}

bool allGone(const std::set<pid_t> &Pids) {
  for (int Try = 0; Try < 200; ++Try) {
    bool Any = false;
    for (pid_t Pid : Pids)
      Any |= ::kill(Pid, 0) == 0;
    if (!Any)
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

} // namespace r3::testing
