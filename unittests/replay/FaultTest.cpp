// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Planted faults: each has its named outcome, a fresh child follows soon (in
// tenths of a second on a machine that is not busy), nothing is left behind.
#include "Fixture.h"
#include "RawClient.h"

#include "runtime/support/Process.h"
#include "runtime/support/Protocol.h"

#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>
#include <unistd.h>

using namespace r3;
using namespace r3::testing;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

namespace {

using FaultTest = ReplayTest;

double msSince(Clock::time_point Start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - Start)
      .count();
}

struct Fault {
  const char *Word;
  Outcome Expected;
  const char *Text;
};

std::ostream &operator<<(std::ostream &Out, const Fault &F) {
  return Out << F.Word;
}

class PlantedFault : public ReplayTest,
                     public ::testing::WithParamInterface<Fault> {};

TEST_P(PlantedFault, HasANameAndTheRunGoesOn) {
  auto W = fakeWith(record({}));
  ASSERT_TRUE(W->prepare(0, 2));
  for (int Round = 0; Round < 2; ++Round) {
    auto R = W->evaluate({pipeline(GetParam().Word), {0}, 2, 1});
    ASSERT_TRUE(R) << R.error().message();
    EXPECT_EQ(R->Result, GetParam().Expected) << R->Message;
    EXPECT_THAT(R->Message, HasSubstr(GetParam().Text));
    auto Start = Clock::now();
    R = W->evaluate({pipeline("saxpy"), {0}, 1, 1});
    ASSERT_TRUE(R) << R.error().message();
    EXPECT_EQ(R->Result, Outcome::Ok) << R->Message;
    EXPECT_LT(msSince(Start), 3000);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, PlantedFault,
    ::testing::Values(
        Fault{"crash", Outcome::IllegalAccess, "signal 11"},
        Fault{"abort", Outcome::Crashed, "last words"},
        Fault{"hang", Outcome::Timeout, "did not end within 1000 ms"},
        Fault{"trap", Outcome::IllegalAccess, "the fake kernel says so"},
        Fault{"deadlock", Outcome::Deadlock, "the fake kernel says so"},
        Fault{"unloadable", Outcome::LaunchFailed, "is not loaded"},
        Fault{"full", Outcome::OutOfMemory, "no room for it"},
        Fault{"die", Outcome::BuildCrashed, "LLVM ERROR: planted"},
        Fault{"sleep", Outcome::BuildTimeout, "500 ms"}),
    [](const auto &Info) { return std::string(Info.param.Word); });

TEST_F(FaultTest, ACrashingOriginalIsReported) {
  SaxpyOptions O;
  O.Image = "crash";
  auto W = fakeWith(record(O));
  auto P = W->prepare(0, 2);
  ASSERT_TRUE(P) << P.error().message();
  EXPECT_EQ(P->Result, Outcome::IllegalAccess);
  EXPECT_THAT(P->Message, HasSubstr("the original"));
}

TEST_F(FaultTest, AKilledChildIsReplaced) {
  auto W = fakeWith(record({}));
  ASSERT_TRUE(W->evaluate({pipeline("saxpy"), {0}, 0, 1}));
  auto Children = descendants("fake-device");
  ASSERT_EQ(Children.size(), 1u);
  ::kill(*Children.begin(), SIGKILL);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  auto R = W->evaluate({pipeline("saxpy"), {0}, 0, 1});
  ASSERT_TRUE(R) << R.error().message();
  EXPECT_EQ(R->Result, Outcome::Crashed) << R->Message;
  EXPECT_THAT(R->Message, HasSubstr("signal 9"));
  R = W->evaluate({pipeline("saxpy"), {0}, 1, 1});
  ASSERT_TRUE(R) << R.error().message();
  EXPECT_EQ(R->Result, Outcome::Ok) << R->Message;
}

TEST_F(FaultTest, AKilledSupervisorIsAnErrorAndLeavesNoChildren) {
  auto W = fakeWith(record({}));
  auto Supervisor = descendants("fake-supervisor");
  auto Children = descendants("fake-device");
  auto Compilers = descendants("fake-compile");
  ASSERT_EQ(Supervisor.size(), 1u);
  ASSERT_EQ(Children.size(), 1u);
  ASSERT_EQ(Compilers.size(), 1u);
  std::thread Killer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    ::kill(*Supervisor.begin(), SIGKILL);
  });
  auto Start = Clock::now();
  auto R = W->evaluate({pipeline("hang"), {0}, 0, 1});
  Killer.join();
  EXPECT_FALSE(R);
  EXPECT_LT(msSince(Start), 900);
  EXPECT_THAT(R.error().message(), HasSubstr("the worker is gone"));
  EXPECT_TRUE(allGone(Children));
  EXPECT_TRUE(allGone(Compilers));
}

TEST_F(FaultTest, TerminationEndsEverything) {
  auto W = fakeWith(record({}));
  auto Supervisor = descendants("fake-supervisor");
  auto Children = descendants("fake-device");
  ASSERT_EQ(Supervisor.size(), 1u);
  ::kill(*Supervisor.begin(), SIGTERM);
  EXPECT_TRUE(allGone(Children));
  EXPECT_FALSE(W->evaluate({pipeline("saxpy"), {0}, 0, 1}));
}

TEST_F(FaultTest, AWorkerThatIsDroppedLeavesNoProcesses) {
  std::set<pid_t> All;
  {
    auto W = fakeWith(record({}));
    ASSERT_TRUE(W->evaluate({pipeline("saxpy"), {0}, 0, 1}));
    for (const char *Name : {"fake-supervisor", "fake-device", "fake-compile"})
      for (pid_t Pid : descendants(Name))
        All.insert(Pid);
  }
  EXPECT_EQ(All.size(), 3u);
  EXPECT_TRUE(allGone(All));
}

TEST_F(FaultTest, TheChildKnowsNeitherStoreNorKeys) {
  ::setenv("R3_TEST_SECRET_KEY", "hunter2", 1);
  auto W = fakeWith(record({}));
  ::unsetenv("R3_TEST_SECRET_KEY");
  auto Children = descendants("fake-device");
  ASSERT_EQ(Children.size(), 1u);
  const std::string Proc = "/proc/" + std::to_string(*Children.begin());
  for (const char *Name : {"/environ", "/cmdline"}) {
    std::ifstream File(Proc + Name);
    std::string Text{std::istreambuf_iterator<char>(File), {}};
    EXPECT_EQ(Text.find("hunter2"), std::string::npos);
    EXPECT_EQ(Text.find(Folder), std::string::npos);
  }
  for (const auto &Entry : std::filesystem::directory_iterator(Proc + "/fd")) {
    std::error_code Gone;
    const std::string To =
        std::filesystem::read_symlink(Entry.path(), Gone).string();
    EXPECT_EQ(To.find(Folder), std::string::npos) << To;
  }
}

TEST_F(FaultTest, LaunchersMayPrintABanner) {
  auto W =
      startFake("fake-device", {"sh", "-c", R"(echo hello; exec "$@")", "--"});
  ASSERT_TRUE(W) << W.error().message();
  EXPECT_EQ((*W)->identity().Name, "fake");
}

TEST_F(FaultTest, ALauncherThatFailsIsAnError) {
  WorkerOptions O;
  O.StorePath = TheStore->path();
  O.Launcher = {"sh", "-c", "echo no queue today >&2; exit 3", "--"};
  auto W = Worker::start(O);
  ASSERT_FALSE(W);
  EXPECT_THAT(W.error().message(), HasSubstr("starting the worker"));
}

TEST_F(FaultTest, UnknownDevicesAndStoresAreErrors) {
  WorkerOptions O;
  const std::string Binaries = R3_TEST_BINARIES;
  O.Launcher = {Binaries + "/fake-supervisor", Binaries + "/fake-device",
                Binaries + "/fake-compile"};
  O.StorePath = Folder + "/nowhere";
  auto W = Worker::start(O);
  ASSERT_FALSE(W);
  EXPECT_THAT(W.error().message(), HasSubstr("nowhere"));
  O.StorePath = TheStore->path();
  O.Backend = "cpu";
  W = Worker::start(O);
  ASSERT_FALSE(W);
  EXPECT_EQ(W.error().code(), ErrorCode::CannotRunHere);
  EXPECT_THAT(W.error().message(), HasSubstr("no such fake"));
}

/// The supervisor alone, with raw bytes on its stdin.
RunResult supervise(const std::string &Input) {
  const std::string Binaries = R3_TEST_BINARIES;
  SpawnOptions S;
  S.Arguments = {Binaries + "/fake-supervisor", Binaries + "/fake-device",
                 Binaries + "/fake-compile"};
  auto R = runProcess(S, Input, std::chrono::milliseconds(10000));
  EXPECT_TRUE(R) << R.error().message();
  return R ? *R : RunResult();
}

std::string greeting() {
  const std::string Id = buildId();
  const uint32_t Size = static_cast<uint32_t>(Id.size());
  return "R3PROTO1" + std::string(reinterpret_cast<const char *>(&Size), 4) +
         Id;
}

TEST_F(FaultTest, GarbageInsteadOfAGreetingEndsIt) {
  RunResult R = supervise("garbage\n");
  EXPECT_FALSE(R.Status.ok());
  EXPECT_FALSE(R.Status.TimedOut);
  EXPECT_THAT(R.Err, HasSubstr("r3-supervisor:"));
}

TEST_F(FaultTest, GarbageInsteadOfAFrameEndsIt) {
  RunResult R = supervise(greeting() + std::string(100, 'x'));
  EXPECT_EQ(R.Status.Code, 1);
  EXPECT_THAT(R.Err, HasSubstr("not a frame"));
}

TEST_F(FaultTest, UnknownAndEarlyVerbsAreAnswered) {
  RawClient C;
  C.send(1, R"({"verb":"dance"})");
  C.send(2, "no json");
  C.send(3, R"({"verb":"evaluate","variant":{}})");
  C.send(4, R"({"verb":"load","recordings":[]})");
  EXPECT_THAT(C.receive(1), HasSubstr("unknown verb dance"));
  EXPECT_THAT(C.receive(2), HasSubstr("\"error\""));
  EXPECT_THAT(C.receive(3), HasSubstr("evaluate before load"));
  EXPECT_THAT(C.receive(4), HasSubstr("load before hello"));
}

TEST_F(FaultTest, CancelEndsALongEvaluation) {
  RawClient C;
  C.send(1, R"({"verb":"hello","backend":"cuda","store":)" +
                quote(TheStore->path()) + "}");
  C.send(2, R"({"verb":"load","recordings":[)" + quote(record({})) + "]}");
  C.send(3, R"({"verb":"evaluate","variant":{"pipeline":"slow"},)"
            R"("recordings":[0],"pairs":10000})");
  C.receive(1);
  C.receive(2);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  auto Start = Clock::now();
  C.send(4, R"({"verb":"cancel"})");
  EXPECT_THAT(C.receive(3), HasSubstr("cancelled"));
  EXPECT_LT(msSince(Start), 1000);
}

TEST_F(FaultTest, CancelEndsWhatWaitsBeforeIt) {
  RawClient C;
  C.send(1, R"({"verb":"hello","backend":"cuda","store":)" +
                quote(TheStore->path()) + "}");
  C.send(2, R"({"verb":"load","recordings":[)" + quote(record({})) + "]}");
  C.send(3, R"({"verb":"evaluate","variant":{"pipeline":"slow"},)"
            R"("recordings":[0],"pairs":10000})");
  C.send(4, R"({"verb":"cancel"})");
  C.send(5, R"({"verb":"evaluate","variant":{"pipeline":"slow"},)"
            R"("recordings":[0]})");
  C.receive(1);
  C.receive(2);
  EXPECT_THAT(C.receive(3), HasSubstr("cancelled"));
  EXPECT_THAT(C.receive(5), HasSubstr("\"ok\""));
}

TEST_F(FaultTest, ClosedStdinEndsWhatHangs) {
  RawClient C;
  C.send(1, R"({"verb":"hello","backend":"cuda","store":)" +
                quote(TheStore->path()) + "}");
  C.send(2, R"({"verb":"load","recordings":[)" + quote(record({})) + "]}");
  C.receive(1);
  C.receive(2);
  C.send(3, R"({"verb":"evaluate","variant":{"pipeline":"hang"},)"
            R"("recordings":[0]})");
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  auto Devices = descendants("fake-device");
  EXPECT_EQ(Devices.size(), 1u);
  C.Link->close();
  EXPECT_TRUE(C.Child->wait(std::chrono::milliseconds(2000)).ok());
  EXPECT_TRUE(allGone(Devices));
}

} // namespace
