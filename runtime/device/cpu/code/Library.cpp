// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device code library as one translation unit.
#include "Assembly.h"
#include "AssemblyBytes.h"
#include "AssemblyHalves.h"
#include "AssemblyIntegers.h"
#include "AssemblyNumbers.h"
#include "Atomics.h"
#include "Floats.h"
#include "Integers.h"
#include "Mathematics.h"
#include "Registers.h"
#include "Synchronisation.h"
