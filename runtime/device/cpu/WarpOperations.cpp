// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations among the lanes of a warp. Lanes that name the same operation and
// mask belong together; the last of them computes the results of all.
#include "runtime/device/cpu/Block.h"

#include <bit>
#include <cmath>
#include <functional>

namespace r3::cpu {

namespace {

/// The lane that a shuffle reads, as PTX defines it; Inside: its predicate.
uint32_t sourceLane(const FiberThread &T, bool &Inside) {
  int32_t Lane = static_cast<int32_t>(T.Lane);
  int32_t Operand = static_cast<int32_t>(T.LaneOperand & 31);
  int32_t Clamp = static_cast<int32_t>(T.Clamp & 31);
  int32_t Segment = static_cast<int32_t>(T.Clamp >> 8 & 31);
  int32_t Last = (Lane & Segment) | (Clamp & ~Segment);
  int32_t Source = 0;
  switch (T.Operation) {
  case ShuffleUp:
    Source = Lane - Operand;
    Inside = Source >= Last;
    break;
  case ShuffleDown:
    Source = Lane + Operand;
    Inside = Source <= Last;
    break;
  case ShuffleXor:
    Source = Lane ^ Operand;
    Inside = Source <= Last;
    break;
  default:
    Source = (Lane & Segment) | (Operand & ~Segment);
    Inside = Source <= Last;
    break;
  }
  return static_cast<uint32_t>(Inside ? Source : Lane);
}

template <typename F> void eachLane(uint32_t Members, F Do) {
  for (uint32_t Left = Members; Left; Left &= Left - 1)
    Do(static_cast<uint32_t>(std::countr_zero(Left)));
}

void shuffle(FiberThread *Lanes, uint32_t Members) {
  eachLane(Members, [&](uint32_t I) {
    FiberThread &T = Lanes[I];
    uint32_t Source = sourceLane(T, T.Predicate);
    // Reading a lane that does not take part is undefined: its own value.
    T.Result = Lanes[Members >> Source & 1 ? Source : I].Value;
  });
}

uint32_t lanesWith(FiberThread *Lanes, uint32_t Members, uint64_t Value) {
  uint32_t Equal = 0;
  eachLane(Members,
           [&](uint32_t I) { Equal |= Lanes[I].Value == Value ? 1u << I : 0; });
  return Equal;
}

template <typename Type, typename F>
uint64_t reduce(FiberThread *Lanes, uint32_t Members, F Combine) {
  uint32_t First = static_cast<uint32_t>(std::countr_zero(Members));
  Type Result = std::bit_cast<Type>(static_cast<uint32_t>(Lanes[First].Value));
  eachLane(Members & (Members - 1), [&](uint32_t I) {
    Result = Combine(
        Result, std::bit_cast<Type>(static_cast<uint32_t>(Lanes[I].Value)));
  });
  return std::bit_cast<uint32_t>(Result);
}

/// The value that is the same for all lanes of the operation.
uint64_t common(FiberThread *Lanes, uint32_t Operation, uint32_t Members) {
  uint32_t True = Members & ~lanesWith(Lanes, Members, 0);
  switch (Operation) {
  case VoteAll:
    return True == Members;
  case VoteAny:
    return True != 0;
  case VoteUniform:
    return True == Members || !True;
  case VoteBallot:
    return True;
  case ReduceAdd:
    return reduce<uint32_t>(Lanes, Members, std::plus<uint32_t>());
  case ReduceMin:
    return reduce<int32_t>(Lanes, Members,
                           [](int32_t A, int32_t B) { return A < B ? A : B; });
  case ReduceMax:
    return reduce<int32_t>(Lanes, Members,
                           [](int32_t A, int32_t B) { return A > B ? A : B; });
  case ReduceUnsignedMin:
    return reduce<uint32_t>(
        Lanes, Members, [](uint32_t A, uint32_t B) { return A < B ? A : B; });
  case ReduceUnsignedMax:
    return reduce<uint32_t>(
        Lanes, Members, [](uint32_t A, uint32_t B) { return A > B ? A : B; });
  case ReduceAnd:
    return reduce<uint32_t>(Lanes, Members, std::bit_and<uint32_t>());
  case ReduceOr:
    return reduce<uint32_t>(Lanes, Members, std::bit_or<uint32_t>());
  case ReduceXor:
    return reduce<uint32_t>(Lanes, Members, std::bit_xor<uint32_t>());
  case ReduceFloatMin:
    return reduce<float>(Lanes, Members,
                         [](float A, float B) { return std::fmin(A, B); });
  case ReduceFloatMax:
    return reduce<float>(Lanes, Members,
                         [](float A, float B) { return std::fmax(A, B); });
  default:
    return 0;
  }
}

} // namespace

void computeWarp(FiberThread *Lanes, uint32_t Operation, uint32_t Members) {
  switch (Operation) {
  case WarpSync:
    return;
  case ShuffleUp:
  case ShuffleDown:
  case ShuffleXor:
  case ShuffleIndex:
    return shuffle(Lanes, Members);
  case MatchAny:
    eachLane(Members, [&](uint32_t I) {
      Lanes[I].Result = lanesWith(Lanes, Members, Lanes[I].Value);
    });
    return;
  case MatchAll: {
    uint32_t First = static_cast<uint32_t>(std::countr_zero(Members));
    bool All = lanesWith(Lanes, Members, Lanes[First].Value) == Members;
    eachLane(Members, [&](uint32_t I) {
      Lanes[I].Predicate = All;
      Lanes[I].Result = All ? Members : 0;
    });
    return;
  }
  case Elect: {
    uint32_t First = static_cast<uint32_t>(std::countr_zero(Members));
    eachLane(Members, [&](uint32_t I) {
      Lanes[I].Result = First;
      Lanes[I].Predicate = I == First;
    });
    return;
  }
  default: {
    uint64_t Value = common(Lanes, Operation, Members);
    eachLane(Members, [&](uint32_t I) { Lanes[I].Result = Value; });
  }
  }
}

/// Completes the operation where all its lanes wait in it.
bool Block::tryWarp(uint32_t Index, uint32_t Operation, uint32_t Mask) {
  Warp &W = Warps[Index];
  uint32_t Members = Mask & W.Live;
  if (!Members || (Members & ~W.InWarp))
    return false;
  FiberThread *Lanes = &lane(Index, 0);
  bool Same = true;
  eachLane(Members, [&](uint32_t I) {
    Same &= Lanes[I].Operation == Operation && Lanes[I].Mask == Mask;
  });
  if (!Same)
    return false;
  computeWarp(Lanes, Operation, Members);
  eachLane(Members,
           [&](uint32_t I) { Lanes[I].Waits = FiberThread::Wait::None; });
  W.InWarp &= ~Members;
  W.Ready |= Members;
  IdleTurns = 0;
  return true;
}

uint64_t Block::warpOperation(FiberThread &T, uint32_t Operation, uint32_t Mask,
                              uint64_t Value, uint32_t Lane, uint32_t Clamp,
                              bool *Predicate) {
  T.Operation = Operation;
  T.Mask = Mask | 1u << T.Lane; // a lane outside its own mask is undefined
  T.Value = Value;
  T.LaneOperand = Lane;
  T.Clamp = Clamp;
  Warps[T.Warp].InWarp |= 1u << T.Lane;
  if (!tryWarp(T.Warp, Operation, T.Mask))
    wait(T, FiberThread::Wait::Warp);
  if (Predicate)
    *Predicate = T.Predicate;
  return T.Result;
}

// --- Which lanes are here: those that wait at the same place when no other
// lane of the warp can run.

bool Block::resolveActive(Warp &W, uint32_t Index) {
  FiberThread *Lanes = &lane(Index, 0);
  uint32_t First = static_cast<uint32_t>(std::countr_zero(W.InActive));
  uint32_t Site = Lanes[First].Operation, Members = 0;
  eachLane(W.InActive, [&](uint32_t I) {
    Members |= Lanes[I].Operation == Site ? 1u << I : 0;
  });
  eachLane(Members, [&](uint32_t I) {
    Lanes[I].Result = Members;
    Lanes[I].Waits = FiberThread::Wait::None;
  });
  W.InActive &= ~Members;
  W.Ready |= Members;
  IdleTurns = 0;
  return true;
}

uint32_t Block::activeMask(FiberThread &T, uint32_t Site) {
  T.Operation = Site;
  Warps[T.Warp].InActive |= 1u << T.Lane;
  wait(T, FiberThread::Wait::Active);
  return static_cast<uint32_t>(T.Result);
}

} // namespace r3::cpu
