#include "value.h"
#include <cstdio>
int other();
int main() { std::printf("%d\n", VALUE + other()); }
