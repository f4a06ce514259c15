# What R3 builds on, each as a target.
find_package(LLVM 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22)
message(STATUS "LLVM ${LLVM_PACKAGE_VERSION} in ${LLVM_INSTALL_PREFIX}")
# Headers of LLVM, without its libraries (the plugin finds those in clang).
add_library(r3_llvm_headers INTERFACE)
target_include_directories(r3_llvm_headers SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
separate_arguments(LLVM_DEFINITIONS_LIST NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_definitions(r3_llvm_headers INTERFACE ${LLVM_DEFINITIONS_LIST})

# LLVM as the shared library.
add_library(r3_llvm INTERFACE)
target_link_libraries(r3_llvm INTERFACE r3_llvm_headers LLVM)

find_program(R3_CLANG NAMES clang++-22 HINTS ${LLVM_INSTALL_PREFIX}/bin REQUIRED)
find_package(CUDAToolkit 12.0 REQUIRED)
find_package(Threads REQUIRED)
find_package(CURL REQUIRED)
find_package(RapidJSON REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(CLI11 REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(Boost REQUIRED COMPONENTS context)
find_package(PkgConfig REQUIRED)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)

# Headers of the CUDA Toolkit; nothing of R3 links a CUDA library.
add_library(r3_cuda_headers INTERFACE)
target_include_directories(r3_cuda_headers SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS})
