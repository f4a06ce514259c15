/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The C interface between instrumented code and the runtime library
 * (libr3-runtime.so). The plugin emits one R3UnitTable for each unit, and one
 * R3ImageTable for each executable or shared library (linkonce_odr, hidden),
 * together with a small stub (Stub.c) that opens the runtime where the
 * environment asks for it. Everything is plain data: objects made by one
 * version of R3 run with another, or without any (then Entries stays null and
 * each shim calls the CUDA function).
 */
#ifndef R3_RUNTIME_RECORD_IMAGEABI_H
#define R3_RUNTIME_RECORD_IMAGEABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define R3_IMAGE_VERSION 1u

struct R3KernelEntry {
  const void *Handle; /* what the program passes to cudaLaunchKernel */
  const char *Name;   /* name in the device module */
};

struct R3GlobalEntry {
  const void *Host; /* the host's shadow variable */
  const char *Name; /* name in the device module */
  uint64_t Size;
};

struct R3UnitTable {
  uint32_t Version; /* R3_IMAGE_VERSION */
  uint32_t KernelCount;
  uint32_t GlobalCount;
  uint32_t Reserved;
  const char *UnitId; /* 32 hex digits: section ".r3.unit." + first 16 */
  const struct R3KernelEntry *Kernels;
  const struct R3GlobalEntry *Globals;
  const void *Fatbin; /* __cuda_fatbin_wrapper, or null */
  struct R3UnitTable *Next;
  struct R3ImageTable *Image;
};

/* Functions of the image's own cudart that the runtime needs; null where the
 * image does not have them. */
struct R3CudartTable {
  int (*GetFuncBySymbol)(void **Function, const void *Symbol);
  int (*GetSymbolAddress)(void **Address, const void *Symbol);
};

struct R3ImageTable {
  uint32_t Version;
  uint32_t EntryCount;        /* rows that the plugin knows: 2 x CudaApi.def */
  const void *const *Entries; /* null: nothing is intercepted */
  struct R3UnitTable *Units;
  struct R3CudartTable Cudart;
  const char *RuntimePath; /* of libr3-runtime.so, as the plugin saw it */
  void *Runtime;           /* handle of dlopen */
};

/* Exported by libr3-runtime.so. Called with the loader's lock held, in static
 * constructors; may be called again for further images. Sets Image->Entries,
 * or leaves it null ("cannot help", said once on stderr by the runtime). An
 * entry has the signature of the CUDA function with one argument more, last:
 * the image's own CUDA function. Entry 2*i is row i of CudaApi.def, entry
 * 2*i+1 its per-thread-default-stream form. */
void __r3_attach_image(struct R3ImageTable *Image);
void __r3_attach_unit(struct R3UnitTable *Unit);
void __r3_detach_unit(struct R3UnitTable *Unit);

#ifdef __cplusplus
}
#endif
#endif
