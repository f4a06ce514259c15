// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A device child with the fake device. What it is called decides how it
// behaves: "...small" has little memory; beside "NAME" a file "NAME.conflicts"
// makes reservations fail.
#include "FakeDevice.h"

#include "wrapper/replay/DeviceServer.h"

int main(int Count, char **Arguments) {
  r3::fake::Setup S;
  const std::string Name = Arguments[0];
  if (Name.ends_with("small"))
    S.MemoryBytes = 5 << 20;
  S.ConflictFile = Name + ".conflicts";
  return r3::replay::deviceMain(
      Count, Arguments, [&](const std::string &Backend, int) {
        if (Backend != "cuda")
          return r3::Expected<std::unique_ptr<r3::Device>>(
              r3::fail(r3::ErrorCode::CannotRunHere, "no such fake"));
        return r3::fake::openFakeDevice(S);
      });
}
