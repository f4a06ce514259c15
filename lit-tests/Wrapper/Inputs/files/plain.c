int main(void) { int *p = (void *)0; return p != 0; }
