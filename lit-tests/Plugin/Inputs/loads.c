/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Opens the libraries that it is given, then closes the last one. */
#include <dlfcn.h>
#include <stdio.h>

int main(int Count, char **Names) {
  void *Last = NULL;
  setbuf(stdout, NULL);
  for (int I = 1; I < Count; ++I) {
    printf("open %s\n", Names[I]);
    Last = dlopen(Names[I], RTLD_NOW | RTLD_LOCAL);
    if (!Last) {
      printf("%s\n", dlerror());
      return 1;
    }
  }
  printf("close %s\n", Names[Count - 1]);
  dlclose(Last);
  printf("closed\n");
  return 0;
}
