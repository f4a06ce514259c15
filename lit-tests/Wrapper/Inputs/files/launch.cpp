__attribute__((global)) void empty() {}
