__global__ void k(float *p) { int unused; p[0] = 1; }
