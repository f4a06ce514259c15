__global__ void wrong(float *p) { p[threadIdx.x] = missing; }
