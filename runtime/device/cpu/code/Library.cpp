// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device code library as one translation unit.
#include "Registers.h"
#include "Synchronisation.h"
#include "Atomics.h"
#include "Integers.h"
#include "Floats.h"
#include "Mathematics.h"
#include "Assembly.h"
