int in_dir() { return 1; }
