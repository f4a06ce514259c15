/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The part of R3 in every instrumented executable and shared library: it keeps
 * the image's table and opens the runtime library, once, where the environment
 * asks for it. Compiled to bitcode when R3 is built; the plugin links it into
 * each unit, hidden, and the linker keeps one copy an image. Without R3's
 * variables in the environment nothing happens but two look-ups at start-up.
 *
 * Called from static constructors and destructors, so the loader's lock is
 * held; the exchange below guards against constructors that start threads.
 */
#define _GNU_SOURCE
#include "runtime/record/ImageAbi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A statically linked program, or one of a C library before 2.34 that does not
 * link libdl, has no dlopen. */
extern void *dlopen(const char *, int) __attribute__((weak));
extern void *dlsym(void *, const char *) __attribute__((weak));

/* Of the image's own CUDA runtime; weak, so that nothing more is linked. */
extern int cudaGetFuncBySymbol(void **, const void *) __attribute__((weak));
extern int cudaGetSymbolAddress(void **, const void *) __attribute__((weak));

/* Filled in by the plugin. */
extern const char __r3_runtime_path[];
extern const unsigned __r3_entry_count;

struct R3ImageTable __r3_image = {R3_IMAGE_VERSION, 0, 0, 0, {0, 0}, 0, 0};
int __r3_image_tried = 0;

typedef void (*ImageFunction)(struct R3ImageTable *);
typedef void (*UnitFunction)(struct R3UnitTable *);

static int isAskedFor(void) {
  const char *Record = secure_getenv("R3_RECORD");
  const char *Device = secure_getenv("R3_DEVICE");
  return (Record && *Record && strcmp(Record, "0") != 0) || (Device && *Device);
}

static void append(char *Text, size_t Size, const char *Part) {
  strncat(Text, Part, Size - strlen(Text) - 1);
}

/* Once a process: each image has a stub, and only the environment is common to
 * all of them. */
static void complain(const char *Path, const char *Why) {
  char Process[16], Text[1024] = "r3: ";
  const char *Told = getenv("_R3_STUB_TOLD");
  const char *Quiet = secure_getenv("R3_QUIET");
  snprintf(Process, sizeof(Process), "%ld", (long)getpid());
  if ((Told && strcmp(Told, Process) == 0) || (Quiet && *Quiet == '1'))
    return;
  setenv("_R3_STUB_TOLD", Process, 1);
  append(Text, sizeof(Text), Path);
  append(Text, sizeof(Text), ": ");
  append(Text, sizeof(Text), Why);
  append(Text, sizeof(Text),
         "; the program runs without R3 (set R3_RUNTIME to the library)\n");
  if (write(2, Text, strlen(Text)) < 0)
    return;
}

/* The loader's messages begin with the path that complain has said already. */
static const char *withoutPath(const char *Message, const char *Path) {
  size_t Length = strlen(Path);
  if (strncmp(Message, Path, Length) == 0 && Message[Length] == ':')
    return Message + Length + 2;
  return Message;
}

static void openRuntime(void) {
  const char *Path = secure_getenv("R3_RUNTIME");
  ImageFunction Attach;
  if (!Path || !*Path)
    Path = __r3_image.RuntimePath;
  if (!dlopen || !dlsym) {
    complain(Path, "this program cannot open libraries");
    return;
  }
  __r3_image.Runtime = dlopen(Path, RTLD_NOW | RTLD_LOCAL);
  if (!__r3_image.Runtime) {
    const char *Message = dlerror();
    complain(Path, Message ? withoutPath(Message, Path) : "cannot be opened");
    return;
  }
  Attach = (ImageFunction)dlsym(__r3_image.Runtime, "__r3_attach_image");
  if (Attach)
    Attach(&__r3_image);
  else
    complain(Path, "is not R3's runtime library");
}

void __r3_register_image(void) {
  if (__atomic_exchange_n(&__r3_image_tried, 1, __ATOMIC_ACQ_REL))
    return;
  __r3_image.RuntimePath = __r3_runtime_path;
  __r3_image.EntryCount = __r3_entry_count;
  __r3_image.Cudart.GetFuncBySymbol = cudaGetFuncBySymbol;
  __r3_image.Cudart.GetSymbolAddress = cudaGetSymbolAddress;
  if (isAskedFor())
    openRuntime();
}

static void tellRuntime(const char *Function, struct R3UnitTable *Unit) {
  UnitFunction Tell;
  if (!__r3_image.Runtime)
    return;
  Tell = (UnitFunction)dlsym(__r3_image.Runtime, Function);
  if (Tell)
    Tell(Unit);
}

void __r3_register_unit(struct R3UnitTable *Unit) {
  __r3_register_image();
  Unit->Image = &__r3_image;
  Unit->Next = __r3_image.Units;
  __r3_image.Units = Unit;
  tellRuntime("__r3_attach_unit", Unit);
}

void __r3_unregister_unit(struct R3UnitTable *Unit) {
  struct R3UnitTable **At = &__r3_image.Units;
  tellRuntime("__r3_detach_unit", Unit);
  while (*At && *At != Unit)
    At = &(*At)->Next;
  if (*At)
    *At = Unit->Next;
}
