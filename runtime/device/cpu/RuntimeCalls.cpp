// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that kernels call, but for arithmetic (RuntimeArithmetic.cpp) and
// printf (Print.cpp). A kernel without barriers and warp operations runs
// without fibers: its context has no owner.
#include "runtime/device/cpu/RuntimeCalls.h"

#include "runtime/device/cpu/Block.h"
#include "runtime/device/cpu/FiberSwitch.h"

#include <chrono>
#include <cstdlib>
#include <pthread.h>

namespace r3::cpu {

std::span<const RuntimeCall> runtimeCalls() {
  static const RuntimeCall Table[] = {
#define R3_RUNTIME_CALL(Result, Name, Parameters)                              \
  {"__r3_cpu_" #Name, reinterpret_cast<void *>(&__r3_cpu_##Name)},
#include "runtime/device/cpu/RuntimeCalls.def"
  };
  return Table;
}

static FiberThread &thread(ThreadContext *C) {
  return *static_cast<FiberThread *>(C);
}
static Block &block(ThreadContext *C) {
  return *static_cast<Block *>(C->Owner);
}
static Launch &launch(ThreadContext *C) {
  return *static_cast<Launch *>(C->Launch);
}

/// Ends the launch after a fault: no thread of this block goes on.
[[noreturn]] static void leave(ThreadContext *C) {
  if (C->Owner)
    block(C).abandon();
  LoopFrame::leave();
}

AddressRange threadStack() {
  static thread_local AddressRange Range = [] {
    pthread_attr_t Attributes;
    void *Begin = nullptr;
    size_t Size = 0;
    if (pthread_getattr_np(pthread_self(), &Attributes) == 0) {
      pthread_attr_getstack(&Attributes, &Begin, &Size);
      pthread_attr_destroy(&Attributes);
    }
    return AddressRange{reinterpret_cast<Address>(Begin), Size};
  }();
  return Range;
}

static bool contains(const AddressRange &R, Address Where, uint64_t Size) {
  return Where - R.Begin < R.Size && Size <= R.Size - (Where - R.Begin);
}

static bool isInStack(ThreadContext *C, Address Where, uint64_t Size) {
  return contains(C->Owner ? thread(C).Stack : threadStack(), Where, Size);
}

static bool mayAccess(ThreadContext *C, Address Where, uint64_t Size) {
  // Of this launch: a later one may have its table in the same place.
  static thread_local const AccessTable *LastTable = nullptr;
  static thread_local uint64_t LastGrid = 0;
  static thread_local AddressRange Last;
  const AccessTable *Table = launch(C).Bounds;
  const uint64_t Grid = launch(C).GridId;
  if (Table == LastTable && Grid == LastGrid && contains(Last, Where, Size))
    return true;
  if (contains({reinterpret_cast<Address>(C->Shared) - ReservedShared,
                ReservedShared + C->SharedBytes},
               Where, Size))
    return true;
  if (isInStack(C, Where, Size))
    return true;
  if (contains({reinterpret_cast<Address>(C->Workspace),
                C->Workspace ? sizeof(Launch::Workspace) : 0},
               Where, Size))
    return true;
  const AddressRange *Found = Table ? Table->find(Where, Size) : nullptr;
  if (!Found)
    return false;
  LastTable = Table;
  LastGrid = Grid;
  Last = *Found;
  return true;
}

static std::string baseName(const char *Path) {
  std::string Text = Path ? Path : "?";
  size_t Slash = Text.rfind('/');
  return Slash == std::string::npos ? Text : Text.substr(Slash + 1);
}

extern "C" {

uint32_t __r3_cpu_barrier(ThreadContext *C, uint32_t Id, uint32_t Count,
                          uint32_t Operation, uint32_t Value) {
  return block(C).barrier(thread(C), Id, Count, Operation, Value);
}

void __r3_cpu_barrierArrive(ThreadContext *C, uint32_t Id, uint32_t Count) {
  block(C).arrive(thread(C), Id, Count);
}

uint64_t __r3_cpu_warpOperation(ThreadContext *C, uint32_t Operation,
                                uint32_t Mask, uint64_t Value, uint32_t Lane,
                                uint32_t Clamp, bool *Predicate) {
  return block(C).warpOperation(thread(C), Operation, Mask, Value, Lane, Clamp,
                                Predicate);
}

uint32_t __r3_cpu_activeMask(ThreadContext *C, uint32_t Site) {
  return block(C).activeMask(thread(C), Site);
}

void __r3_cpu_yield(ThreadContext *C) { block(C).yield(thread(C)); }

void __r3_cpu_spin(ThreadContext *C) {
  if (--C->Fuel)
    return;
  C->Fuel = 32;
  block(C).yield(thread(C));
}

void __r3_cpu_threadExit(ThreadContext *C) { block(C).exit(thread(C)); }

void __r3_cpu_trap(ThreadContext *C) {
  launch(C).fail(Outcome::IllegalAccess, placeOf(*C) + ": trap");
  leave(C);
}

void __r3_cpu_assertFailed(ThreadContext *C, const char *Message,
                           const char *File, uint32_t Line,
                           const char *Function) {
  fflush(stdout);
  fprintf(stderr,
          "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` "
          "failed.\n",
          File, Line, Function, C->Block[0], C->Block[1], C->Block[2],
          C->Thread[0], C->Thread[1], C->Thread[2], Message);
  launch(C).fail(Outcome::IllegalAccess,
                 format("%s: %s:%u: assertion `%s` failed", placeOf(*C).c_str(),
                        baseName(File).c_str(), Line, Message));
  leave(C);
}

void *__r3_cpu_allocateHeap(ThreadContext *, uint64_t Size) {
  return std::malloc(Size);
}
void __r3_cpu_freeHeap(ThreadContext *, void *Where) { std::free(Where); }

uint64_t __r3_cpu_globalTimer() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(
          std::chrono::system_clock::now().time_since_epoch())
          .count());
}

bool __r3_cpu_isLocal(ThreadContext *C, const void *Where) {
  return isInStack(C, reinterpret_cast<Address>(Where), 1);
}

void __r3_cpu_checkAccess(ThreadContext *C, const void *Where, uint64_t Size,
                          uint32_t Kind, const char *Source) {
  static constexpr const char *Kinds[] = {"load", "store", "atomic operation"};
  auto At = reinterpret_cast<Address>(Where);
  if (!Size || mayAccess(C, At, Size))
    return;
  launch(C).fail(Outcome::OutOfBounds,
                 format("%s: %s of %llu bytes at 0x%llx, outside all "
                        "allocations (%s)",
                        placeOf(*C).c_str(), Kinds[Kind],
                        static_cast<unsigned long long>(Size),
                        static_cast<unsigned long long>(At), Source));
  leave(C);
}

} // extern "C"

} // namespace r3::cpu
