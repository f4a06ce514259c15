// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hooks of devices, streams, function attributes, launches and graphs.
#pragma once

#include "runtime/record/Hooks.h"

namespace r3::record {

R3_HOOK(cudaSetDevice, int Ordinal) {
  cudaError_t E = Real(Ordinal);
  if (!E)
    R.deviceChosen(Ordinal);
  return E;
}

// Without arguments: the macro needs some.
template <> struct Hook<Row::cudaDeviceReset_> {
  static cudaError_t call(Recorder &R, bool, cudaError_t (*Real)()) {
    R.beforeReset();
    return Real();
  }
};

// --- Streams.

R3_HOOK(cudaStreamCreate, cudaStream_t *Stream) {
  cudaError_t E = Real(Stream);
  if (!E)
    R.streamCreated(*Stream);
  return E;
}

R3_HOOK(cudaStreamCreateWithFlags, cudaStream_t *Stream, unsigned Flags) {
  cudaError_t E = Real(Stream, Flags);
  if (!E)
    R.streamCreated(*Stream);
  return E;
}

R3_HOOK(cudaStreamCreateWithPriority, cudaStream_t *Stream, unsigned Flags,
        int Priority) {
  cudaError_t E = Real(Stream, Flags, Priority);
  if (!E)
    R.streamCreated(*Stream);
  return E;
}

R3_HOOK(cudaStreamDestroy, cudaStream_t Stream) {
  // While a record waits for this stream it must not go.
  GatePass Pass(R.gate());
  R.streamDestroyed(Stream);
  return Real(Stream);
}

R3_HOOK(cudaStreamBeginCapture, cudaStream_t Stream,
        cudaStreamCaptureMode Mode) {
  GatePass Pass(R.gate());
  cudaError_t E = Real(Stream, Mode);
  if (!E)
    R.captureBegan();
  return E;
}

R3_HOOK(cudaStreamBeginCaptureToGraph, cudaStream_t Stream, cudaGraph_t Graph,
        const cudaGraphNode_t *Dependencies, const cudaGraphEdgeData *Edges,
        size_t Count, cudaStreamCaptureMode Mode) {
  GatePass Pass(R.gate());
  cudaError_t E = Real(Stream, Graph, Dependencies, Edges, Count, Mode);
  if (!E)
    R.captureBegan();
  return E;
}

R3_HOOK(cudaStreamEndCapture, cudaStream_t Stream, cudaGraph_t *Graph) {
  cudaError_t E = Real(Stream, Graph);
  // A capture that was invalidated has ended too; other errors mean that
  // there was none.
  if (!E || E == cudaErrorStreamCaptureInvalidated ||
      E == cudaErrorStreamCaptureUnjoined)
    R.captureEnded();
  return E;
}

// --- Function attributes.

R3_HOOK(cudaFuncSetAttribute, const void *Function, cudaFuncAttribute What,
        int Value) {
  cudaError_t E = Real(Function, What, Value);
  if (!E)
    R.configure(Function, [&](KernelState &K) {
      if (What == cudaFuncAttributeMaxDynamicSharedMemorySize)
        K.MaxDynamicShared = uint32_t(Value);
      else if (What == cudaFuncAttributePreferredSharedMemoryCarveout)
        K.Carveout = uint32_t(Value);
    });
  return E;
}

R3_HOOK(cudaFuncSetCacheConfig, const void *Function, cudaFuncCache Config) {
  cudaError_t E = Real(Function, Config);
  if (!E)
    R.configure(Function,
                [&](KernelState &K) { K.CacheConfig = uint8_t(Config); });
  return E;
}

// --- Launches.

inline LaunchRequest launchRequest(const void *Function, dim3 Grid, dim3 Block,
                                   void **Arguments, size_t Shared,
                                   StreamHandle Stream) {
  LaunchRequest Q;
  Q.Handle = Function;
  Q.Config.Grid = {Grid.x, Grid.y, Grid.z};
  Q.Config.Block = {Block.x, Block.y, Block.z};
  Q.Config.DynamicShared = uint32_t(Shared);
  Q.Arguments = Arguments;
  Q.Stream = Stream;
  return Q;
}

template <typename F>
cudaError_t launching(Recorder &R, const LaunchRequest &Q, F Launch) {
  int E = R.launch(Q, [&] { return int(Launch()); });
  R.workIssued(Q.Stream);
  return cudaError_t(E);
}

R3_HOOK(cudaLaunchKernel, const void *Function, dim3 Grid, dim3 Block,
        void **Arguments, size_t Shared, cudaStream_t Stream) {
  return launching(
      R,
      launchRequest(Function, Grid, Block, Arguments, Shared,
                    streamOf(PerThread, Stream)),
      [&] { return Real(Function, Grid, Block, Arguments, Shared, Stream); });
}

R3_HOOK(cudaLaunchCooperativeKernel, const void *Function, dim3 Grid,
        dim3 Block, void **Arguments, size_t Shared, cudaStream_t Stream) {
  LaunchRequest Q = launchRequest(Function, Grid, Block, Arguments, Shared,
                                  streamOf(PerThread, Stream));
  Q.Config.Cooperative = true;
  return launching(R, Q, [&] {
    return Real(Function, Grid, Block, Arguments, Shared, Stream);
  });
}

inline void readAttribute(const cudaLaunchAttribute &A, LaunchRequest &Q) {
  switch (A.id) {
  case cudaLaunchAttributeCooperative:
    Q.Config.Cooperative = A.val.cooperative != 0;
    break;
  case cudaLaunchAttributeClusterDimension:
    Q.Config.Cluster = {A.val.clusterDim.x, A.val.clusterDim.y,
                        A.val.clusterDim.z};
    // A cluster of one block is none.
    if (Q.Config.Cluster == Dim3{1, 1, 1})
      Q.Config.Cluster = {0, 0, 0};
    else
      Q.Why = Reason::Cluster;
    break;
  default: // priority, cache windows, events: the results stay the same
    break;
  }
}

R3_HOOK(cudaLaunchKernelExC, const cudaLaunchConfig_t *Config,
        const void *Function, void **Arguments) {
  if (!Config)
    return Real(Config, Function, Arguments);
  LaunchRequest Q = launchRequest(Function, Config->gridDim, Config->blockDim,
                                  Arguments, Config->dynamicSmemBytes,
                                  streamOf(PerThread, Config->stream));
  for (unsigned I = 0; Config->attrs && I < Config->numAttrs; ++I)
    readAttribute(Config->attrs[I], Q);
  return launching(R, Q, [&] { return Real(Config, Function, Arguments); });
}

// --- Launches that are only named.

R3_HOOK(cudaGraphAddKernelNode, cudaGraphNode_t *Node, cudaGraph_t Graph,
        const cudaGraphNode_t *Dependencies, size_t Count,
        const cudaKernelNodeParams *Parameters) {
  if (Parameters)
    R.refuse(Parameters->func, Reason::Graph);
  return Real(Node, Graph, Dependencies, Count, Parameters);
}

#if CUDART_VERSION < 13000
R3_HOOK(cudaLaunchCooperativeKernelMultiDevice, cudaLaunchParams *Launches,
        unsigned Count, unsigned Flags) {
  for (unsigned I = 0; Launches && I < Count; ++I)
    R.refuse(Launches[I].func, Reason::MultiDevice);
  Working W(R, nullptr);
  return Real(Launches, Count, Flags);
}
#endif

} // namespace r3::record
