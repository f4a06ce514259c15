int other() {
  int unused;
  return 2;
}
