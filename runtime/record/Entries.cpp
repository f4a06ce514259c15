// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One template makes all entries: it finds the real function (the image's own,
// or the CPU device's), then lets the row's hook see the call where something
// is recorded.
#include "runtime/record/Entries.h"

#include "runtime/record/LaunchHooks.h"
#include "runtime/record/MemoryHooks.h"
#include "runtime/record/Message.h"
#include "runtime/record/Rows.h"
#include "runtime/record/Runtime.h"

#include <array>
#include <string>
#include <utility>

namespace r3::record {

namespace {

/// The per-thread stream instead of the default one.
template <typename T> T inOwnStream(T Argument) { return Argument; }
cudaStream_t inOwnStream(cudaStream_t Stream) {
  return Stream ? Stream : cudaStreamPerThread;
}

template <Row R, bool PerThread, typename F> struct Entry;

template <Row R, bool PerThread, typename Ret, typename... A>
struct Entry<R, PerThread, Ret(A...)> {
  using Function = Ret (*)(A...);

  /// The CPU device's function; it may serve the plain form alone.
  struct Served {
    Function Plain = nullptr;
    Function Suffixed = nullptr;
  };

  static Served serve(Runtime &Process) {
    Served S;
    auto Find = [&](const char *Suffix) {
      return reinterpret_cast<Function>(reinterpret_cast<uintptr_t>(
          Process.cpuFunction(Api<R>::Text, Suffix)));
    };
    if constexpr (PerThread)
      S.Suffixed =
          Find(Api<R>::PerThread == DefaultStream::ptsz ? "_ptsz" : "_ptds");
    if (!S.Suffixed)
      S.Plain = Find("");
    return S;
  }

  static Ret refuse() {
    sayOnce(std::string(Api<R>::Text) +
            " is not served by the CPU device (R3_DEVICE=cpu)");
    if constexpr (std::is_same_v<Ret, cudaError_t>)
      return cudaErrorNotSupported;
    else
      return Ret();
  }

  static Ret onCpu(A... Arguments) {
    Runtime &Process = *Runtime::get();
    static const Served S = serve(Process);
    if (S.Suffixed)
      return S.Suffixed(Arguments...);
    if (!S.Plain)
      return refuse();
    if constexpr (PerThread)
      return S.Plain(inOwnStream(Arguments)...);
    else
      return S.Plain(Arguments...);
  }

  static Ret call(A... Arguments, Function Original) {
    Runtime &Process = *Runtime::get();
    Function Real = Original;
    if (Process.servesCpu()) {
      // Before the hook: it asks the device for the unit's globals.
      Process.addCpuUnits();
      Real = onCpu;
    }
    Recorder *Active = Process.recorder();
    if (!Active || Active->isOff())
      return Real(Arguments...);
    return Hook<R>::call(*Active, PerThread, Real, Arguments...);
  }
};

using Table = std::array<const void *, 2 * RowCount>;

template <Row R> void fill(Table &T) {
  if constexpr (!IsMissing<R>) {
    using Type = typename Api<R>::Type;
    size_t Index = 2 * size_t(R);
    T[Index] = reinterpret_cast<const void *>(&Entry<R, false, Type>::call);
    if constexpr (Api<R>::PerThread != DefaultStream::none)
      T[Index + 1] =
          reinterpret_cast<const void *>(&Entry<R, true, Type>::call);
  }
}

template <size_t... I> Table makeTable(std::index_sequence<I...>) {
  Table T{};
  (fill<Row(I)>(T), ...);
  return T;
}

} // namespace

const void *const *entryTable(uint32_t EntryCount) {
  static const Table *Known =
      new Table(makeTable(std::make_index_sequence<RowCount>()));
  if (EntryCount <= Known->size())
    return Known->data();
  auto *Longer = new const void *[EntryCount]();
  std::copy(Known->begin(), Known->end(), Longer);
  return Longer;
}

} // namespace r3::record
