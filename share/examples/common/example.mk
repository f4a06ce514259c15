# Shared by the examples' Makefiles, which set NAME and SOURCES first.
#   make                    with clang++-22
#   make CXX=clang-r3       with R3
#   make ARCH=sm_80 OPT=-O2 CUDART=shared
ifeq ($(origin CXX),default)
CXX := clang++-22
endif
CUDA_PATH ?= /usr/local/cuda
ARCH ?= sm_90
OPT ?= -O3
CUDART ?= static

CUDAFLAGS := --cuda-path=$(CUDA_PATH) --cuda-gpu-arch=$(ARCH) -Wno-unknown-cuda-version
LIBS_static := -lcudart_static -ldl -lrt -lpthread
LIBS_shared := -Wl,-rpath,$(CUDA_PATH)/lib64 -lcudart
OBJECTS := $(SOURCES:.cu=.o)

$(NAME): $(OBJECTS)
	$(CXX) $(LDFLAGS) -o $@ $(OBJECTS) -L$(CUDA_PATH)/lib64 $(LIBS_$(CUDART))

%.o: %.cu
	$(CXX) -std=c++17 $(OPT) -Wall $(CUDAFLAGS) $(CXXFLAGS) -MMD -MP -c -o $@ $<

.PHONY: clean
clean:
	rm -f $(NAME) $(OBJECTS) $(OBJECTS:.o=.d)

-include $(OBJECTS:.o=.d)
