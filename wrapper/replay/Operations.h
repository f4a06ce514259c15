// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an edit may not bring into a kernel that does not do it itself
// (TRUST.md, Right 10 and 11), whatever way it is spelled: macros of included
// headers and pasted tokens, too.
//   - numbers of less precision: half, bfloat, float where all is double,
//     approximate and flushing instructions, tensor cores, fast-math
//   - clocks, counters of launches, sleep
//   - inline assembly, calls of functions without a body, calls through
//   pointers
// Precision is looked at once more in the final PTX (trust/Precision.h), which
// has what libraries and code generation bring in, and counts. It has lost what
// is told here: fast-math, which function of the mathematics library was meant,
// and the user's line. And this comes before anything is built.
#pragma once

#include "llvm/IR/Function.h"

#include <string>

namespace r3::replay {

/// The first operation of each sort that After reaches and Before does not, in
/// words ("half precision"); empty where there is none.
struct NewOperations {
  std::string Forbidden, LessPrecise;
};
NewOperations newOperations(const llvm::Function &Before,
                            const llvm::Function &After);

} // namespace r3::replay
