/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Stands in for libr3-runtime.so: prints what the stub hands over, and answers
 * cudaMalloc, cudaFree and cudaLaunchKernel without a device. */
#include "runtime/record/ImageAbi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const void *Entries[1024];

#define R3_CUDA_API(Name, Suffix) #Name,
static const char *const Names[] = {
#include "runtime/support/CudaApi.def"
};

static int fakeMalloc(void **Where, size_t Size, const void *Own) {
  printf("malloc %zu%s\n", Size, Own ? "" : " without cudart's");
  *Where = malloc(Size);
  return 0;
}

static int fakeFree(void *Where, const void *Own) {
  printf("free%s\n", Own ? "" : " without cudart's");
  free(Where);
  return 0;
}

struct Size3 {
  unsigned X, Y, Z;
};

static int fakeLaunch(const void *Kernel, struct Size3 Grid, struct Size3 Block,
                      void **Arguments, size_t Shared, void *Stream,
                      const void *Own) {
  (void)Kernel, (void)Arguments, (void)Stream;
  printf("launch %ux%ux%u %ux%ux%u %zu%s\n", Grid.X, Grid.Y, Grid.Z, Block.X,
         Block.Y, Block.Z, Shared, Own ? "" : " without cudart's");
  return 0;
}

static void enter(const char *Name, const void *Function) {
  for (unsigned I = 0; I < sizeof(Names) / sizeof(*Names); ++I)
    if (strcmp(Names[I], Name) == 0)
      Entries[2 * I] = Entries[2 * I + 1] = Function;
}

void __r3_attach_image(struct R3ImageTable *Image) {
  setbuf(stdout, NULL);
  printf("image version %u, symbols %s\n", Image->Version,
         Image->Cudart.GetSymbolAddress ? "known" : "unknown");
  if (Image->EntryCount != 2 * sizeof(Names) / sizeof(*Names))
    printf("wrong number of entries: %u\n", Image->EntryCount);
  enter("cudaMalloc", fakeMalloc);
  enter("cudaFree", fakeFree);
  enter("cudaLaunchKernel", fakeLaunch);
  Image->Entries = Entries;
}

void __r3_attach_unit(struct R3UnitTable *Unit) {
  printf("unit of %zu digits%s%s\n", strlen(Unit->UnitId),
         Unit->Fatbin ? ", fatbinary" : "", Unit->Image ? ", image" : "");
  for (unsigned I = 0; I < Unit->KernelCount; ++I)
    printf("kernel %s%s\n", Unit->Kernels[I].Name,
           Unit->Kernels[I].Handle ? "" : " without a handle");
  for (unsigned I = 0; I < Unit->GlobalCount; ++I)
    printf("global %s %llu\n", Unit->Globals[I].Name,
           (unsigned long long)Unit->Globals[I].Size);
}

void __r3_detach_unit(struct R3UnitTable *Unit) {
  printf("detach %u kernels\n", Unit->KernelCount);
}
