/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A stand-in for libR3.so without LLVM's headers. It reports like the real one
 * and then does what WHAT says: 0 nothing, 1 abort when the pass pipeline is
 * built (after "entered"), 2 abort when it is loaded, 3 write messages, 4 fail
 * in the back end like a compiler that rejects what the plugin made. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* llvm/Plugins/PassPlugin.h, interface version 2. */
struct Info {
  uint32_t Version;
  const char *Name, *PluginVersion;
  void (*Register)(void *);
  void *PreCodeGen;
};

static void append(const char *File, const char *Text) {
  char Path[4096];
  snprintf(Path, sizeof(Path), "%s/%s", getenv("R3_HANDOVER"), File);
  FILE *Out = fopen(Path, "a");
  if (!Out)
    exit(99);
  fputs(Text, Out);
  fclose(Out);
}

static void start(void *Builder) {
  (void)Builder;
  if (!getenv("R3_HANDOVER"))
    return; /* a probe */
  append("status", "entered test\n");
  if (WHAT == 1)
    abort();
  if (WHAT == 3)
    append("messages", "warning needs-device-link a.cu: kernel k is elsewhere\n"
                       "note quiet nobody sees this\n");
  append("status", "left test\n");
  if (WHAT == 4)
    _exit(1);
}

struct Info llvmGetPassPluginInfo(void) {
  if (WHAT == 2)
    abort();
  return (struct Info){2, "R3", "test", start, 0};
}
