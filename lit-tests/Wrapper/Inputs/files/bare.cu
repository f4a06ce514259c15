// A unit that needs no header of CUDA, so that it compiles fast
// (-nocudainc -nocudalib).
struct dim3 { unsigned x, y, z; };
typedef struct cudaStream *cudaStream_t;
enum cudaError_t { cudaSuccess };
extern "C" cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **,
                                        unsigned long, cudaStream_t);
__attribute__((global)) void scale(float *p, float f) { p[0] *= f; }
int host() { return 1; }
