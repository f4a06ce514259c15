// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The copies that memory is restored from ("Right" 4). They are not mapped
// while a variant runs by itself, so that nothing should reach them; their
// digests say whether that is so. What changed is loaded anew from the packs.
#include "wrapper/replay/Evaluation.h"

namespace r3::replay {

namespace {

constexpr unsigned MostVariants = 64; // between two looks

std::string sentence(size_t Chunks) {
  return format("%zu chunk%s of the copies that memory is restored from "
                "changed",
                Chunks, Chunks == 1 ? "" : "s");
}

} // namespace

/// A child with the memory as it was recorded, and the original's code.
Error Session::reload() {
  forgetCode();
  if (Error E = loadMemory())
    return E;
  return loadOriginal();
}

/// Of a finalist, which has a process of its own.
Session::CheckOutcome Session::checkPristine(Evaluation &) {
  auto Changed = Device->changedPristine();
  if (!Changed)
    return {{}, Changed.error().message()};
  SincePristine = 0;
  if (!*Changed)
    return {};
  std::string Message = sentence(*Changed);
  if (Error E = reload())
    Message += "; they cannot be loaded again: " + E.message();
  return {{Outcome::OutOfBounds, Message}, ""};
}

std::string Session::lookAtPristine() {
  if (++SincePristine < MostVariants)
    return {};
  auto Changed = Device->changedPristine();
  SincePristine = 0;
  if (!Changed || !*Changed)
    return {};
  const std::string Message =
      sentence(*Changed) +
      format(" under one of the last %u variants", MostVariants);
  if (Error E = reload())
    return Message + "; they cannot be loaded again: " + E.message();
  return Message + " and were loaded again";
}

} // namespace r3::replay
