// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams and events. A function of the host that waits for the test stands
// for a long kernel.
#include "unittests/cudart/Served.h"

#include <atomic>
#include <thread>

using namespace r3;

namespace {

/// Work that goes on until it is let go.
struct Blocker {
  std::atomic<bool> Go{false};
  void enqueue(cudaStream_t Stream) {
    EXPECT_EQ(R3_CALL(cudaLaunchHostFunc)(
                  Stream,
                  [](void *Data) {
                    while (!static_cast<Blocker *>(Data)->Go)
                      std::this_thread::yield();
                  },
                  this),
              cudaSuccess);
  }
};

struct OwnStream {
  cudaStream_t S = nullptr;
  explicit OwnStream(unsigned Flags = cudaStreamDefault) {
    EXPECT_EQ(R3_CALL(cudaStreamCreateWithFlags)(&S, Flags), cudaSuccess);
  }
  ~OwnStream() { EXPECT_EQ(R3_CALL(cudaStreamDestroy)(S), cudaSuccess); }
};

struct OwnEvent {
  cudaEvent_t E = nullptr;
  explicit OwnEvent(unsigned Flags = cudaEventDefault) {
    EXPECT_EQ(R3_CALL(cudaEventCreateWithFlags)(&E, Flags), cudaSuccess);
  }
  ~OwnEvent() { EXPECT_EQ(R3_CALL(cudaEventDestroy)(E), cudaSuccess); }
};

} // namespace

TEST(CudartStreams, QueryAndSynchronize) {
  OwnStream S;
  Blocker B;
  EXPECT_EQ(R3_CALL(cudaStreamQuery)(S.S), cudaSuccess);
  B.enqueue(S.S);
  EXPECT_EQ(R3_CALL(cudaStreamQuery)(S.S), cudaErrorNotReady);
  B.Go = true;
  EXPECT_EQ(R3_CALL(cudaStreamSynchronize)(S.S), cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaStreamQuery)(S.S), cudaSuccess);
}

TEST(CudartStreams, LegacyStreamWaitsForBlockingStreamsOnly) {
  OwnStream Blocking, NonBlocking(cudaStreamNonBlocking);
  Blocker B, N;
  OwnEvent Event;
  N.enqueue(NonBlocking.S);
  EXPECT_EQ(R3_CALL(cudaEventRecord)(Event.E, cudaStreamLegacy), cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaEventSynchronize)(Event.E), cudaSuccess)
      << "does not wait for a non-blocking stream";
  B.enqueue(Blocking.S);
  EXPECT_EQ(R3_CALL(cudaEventRecord)(Event.E, nullptr), cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaEventQuery)(Event.E), cudaErrorNotReady);
  B.Go = true;
  EXPECT_EQ(R3_CALL(cudaEventSynchronize)(Event.E), cudaSuccess);
  N.Go = true;
  EXPECT_EQ(R3_CALL(cudaDeviceSynchronize)(), cudaSuccess);
}

TEST(CudartStreams, BlockingStreamWaitsForLegacyStream) {
  OwnStream S;
  Blocker B;
  OwnEvent Event;
  B.enqueue(cudaStreamLegacy);
  EXPECT_EQ(R3_CALL(cudaEventRecord)(Event.E, S.S), cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaEventQuery)(Event.E), cudaErrorNotReady);
  B.Go = true;
  EXPECT_EQ(R3_CALL(cudaEventSynchronize)(Event.E), cudaSuccess);
}

TEST(CudartStreams, StreamsWaitForEvents) {
  OwnStream First(cudaStreamNonBlocking), Second(cudaStreamNonBlocking);
  Blocker B;
  OwnEvent Event(cudaEventDisableTiming);
  B.enqueue(First.S);
  EXPECT_EQ(R3_CALL(cudaEventRecord)(Event.E, First.S), cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaStreamWaitEvent)(Second.S, Event.E, 0), cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaStreamQuery)(Second.S), cudaErrorNotReady);
  B.Go = true;
  EXPECT_EQ(R3_CALL(cudaStreamSynchronize)(Second.S), cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaStreamWaitEvent)(Second.S, Event.E, 2),
            cudaErrorInvalidValue);
}

TEST(CudartStreams, CallbacksGetTheirStream) {
  OwnStream S;
  struct Seen {
    cudaStream_t Stream = nullptr;
    cudaError_t Status = cudaErrorUnknown;
  } Saw;
  EXPECT_EQ(R3_CALL(cudaStreamAddCallback)(
                S.S,
                [](cudaStream_t Stream, cudaError_t Status, void *Data) {
                  *static_cast<Seen *>(Data) = {Stream, Status};
                },
                &Saw, 0),
            cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaStreamSynchronize)(S.S), cudaSuccess);
  EXPECT_EQ(Saw.Stream, S.S);
  EXPECT_EQ(Saw.Status, cudaSuccess);
}

TEST(CudartStreams, PropertiesOfStreams) {
  int Least = 9, Greatest = 9, Priority = 9;
  unsigned Flags = 9;
  unsigned long long Legacy = 0, Default = 0, Own = 0;
  EXPECT_EQ(R3_CALL(cudaDeviceGetStreamPriorityRange)(&Least, &Greatest),
            cudaSuccess);
  EXPECT_LT(Greatest, Least);
  cudaStream_t S;
  EXPECT_EQ(
      R3_CALL(cudaStreamCreateWithPriority)(&S, cudaStreamNonBlocking, -100),
      cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaStreamGetPriority)(S, &Priority), cudaSuccess);
  EXPECT_EQ(Priority, Greatest);
  EXPECT_EQ(R3_CALL(cudaStreamGetFlags)(S, &Flags), cudaSuccess);
  EXPECT_EQ(Flags, unsigned(cudaStreamNonBlocking));
  EXPECT_EQ(R3_CALL(cudaStreamGetId)(nullptr, &Default), cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaStreamGetId)(cudaStreamLegacy, &Legacy), cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaStreamGetId)(S, &Own), cudaSuccess);
  EXPECT_EQ(Default, Legacy);
  EXPECT_NE(Own, Legacy);
  cudaStreamCaptureStatus Status = cudaStreamCaptureStatusActive;
  EXPECT_EQ(R3_CALL(cudaStreamIsCapturing)(S, &Status), cudaSuccess);
  EXPECT_EQ(Status, cudaStreamCaptureStatusNone);
  cudaStreamAttrValue Value{};
  Value.syncPolicy = cudaSyncPolicySpin;
  EXPECT_EQ(R3_CALL(cudaStreamSetAttribute)(
                S, cudaStreamAttributeSynchronizationPolicy, &Value),
            cudaSuccess);
  Value = {};
  EXPECT_EQ(R3_CALL(cudaStreamGetAttribute)(
                S, cudaStreamAttributeSynchronizationPolicy, &Value),
            cudaSuccess);
  EXPECT_EQ(Value.syncPolicy, cudaSyncPolicySpin);
  EXPECT_EQ(R3_CALL(cudaStreamDestroy)(S), cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaStreamDestroy)(S), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(R3_CALL(cudaStreamDestroy)(cudaStreamPerThread),
            cudaErrorInvalidResourceHandle);
  EXPECT_EQ(R3_CALL(cudaStreamQuery)(S), cudaErrorInvalidResourceHandle);
}

TEST(CudartEvents, Elapsed) {
  OwnStream S;
  OwnEvent Begin, End, Untimed(cudaEventDisableTiming);
  float Ms = -1;
  EXPECT_EQ(R3_CALL(cudaEventQuery)(Begin.E), cudaSuccess) << "never recorded";
  EXPECT_EQ(R3_CALL(cudaEventElapsedTime)(&Ms, Begin.E, End.E),
            cudaErrorInvalidResourceHandle);
  Blocker B;
  EXPECT_EQ(R3_CALL(cudaEventRecord)(Begin.E, S.S), cudaSuccess);
  B.enqueue(S.S);
  EXPECT_EQ(R3_CALL(cudaEventRecord)(End.E, S.S), cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaEventElapsedTime)(&Ms, Begin.E, End.E),
            cudaErrorNotReady);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  B.Go = true;
  EXPECT_EQ(R3_CALL(cudaEventSynchronize)(End.E), cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaEventElapsedTime)(&Ms, Begin.E, End.E), cudaSuccess);
  EXPECT_GE(Ms, 4.9f);
  EXPECT_EQ(R3_CALL(cudaEventRecord)(Untimed.E, S.S), cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaEventElapsedTime)(&Ms, Begin.E, Untimed.E),
            cudaErrorInvalidResourceHandle);
}

TEST(CudartEvents, Mistakes) {
  cudaEvent_t E = nullptr;
  EXPECT_EQ(R3_CALL(cudaEventCreateWithFlags)(&E, 0x80), cudaErrorInvalidValue);
  EXPECT_EQ(R3_CALL(cudaEventCreateWithFlags)(&E, cudaEventInterprocess |
                                                      cudaEventDisableTiming),
            cudaErrorNotSupported);
  EXPECT_EQ(R3_CALL(cudaEventRecord)(nullptr, nullptr),
            cudaErrorInvalidResourceHandle);
  EXPECT_EQ(R3_CALL(cudaEventDestroy)(nullptr), cudaErrorInvalidResourceHandle);
}
