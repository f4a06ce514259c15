// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What libr3-runtime.so exports (ImageAbi.h).
#include "runtime/record/Entries.h"
#include "runtime/record/ImageAbi.h"
#include "runtime/record/Message.h"
#include "runtime/record/Runtime.h"

using namespace r3::record;

extern "C" {

[[gnu::visibility("default")]] void
__r3_attach_image(struct R3ImageTable *Image) {
  Runtime *R = Runtime::get();
  if (!R || !R->isNeeded() || !Image)
    return;
  if (Image->Version != R3_IMAGE_VERSION) {
    sayOnce("an image was instrumented by another version of R3: not recorded");
    return;
  }
  Image->Entries = entryTable(Image->EntryCount);
}

[[gnu::visibility("default")]] void __r3_attach_unit(struct R3UnitTable *Unit) {
  Runtime *R = Runtime::get();
  if (R && R->isNeeded())
    R->attach(Unit);
}

[[gnu::visibility("default")]] void __r3_detach_unit(struct R3UnitTable *Unit) {
  Runtime *R = Runtime::get();
  if (R && R->isNeeded())
    R->detach(Unit);
}
}
