# Compiler settings as INTERFACE targets: r3_settings for all code, r3_warnings
# for our own. No global flags.
add_library(r3_settings INTERFACE)
target_compile_features(r3_settings INTERFACE cxx_std_20)
target_include_directories(r3_settings INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(r3_settings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-fno-strict-aliasing>)

set(R3_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize=")
if(R3_SANITIZE)
  target_compile_options(r3_settings INTERFACE -fsanitize=${R3_SANITIZE}
    -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(r3_settings INTERFACE -fsanitize=${R3_SANITIZE})
endif()

add_library(r3_warnings INTERFACE)
target_compile_options(r3_warnings INTERFACE -Wall -Wextra
  $<$<COMPILE_LANGUAGE:CXX>:-Wno-missing-field-initializers>
  # g++ 12 finds overlaps in std::string's operator+ that are not there.
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>
  $<$<BOOL:${R3_DEVELOPER}>:-Werror>)

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# One prefix: binaries find libraries beside them, in the build tree as in an
# installation.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_INSTALL_RPATH "$ORIGIN;$ORIGIN/../lib;$ORIGIN/../../lib")
set(CMAKE_BUILD_WITH_INSTALL_RPATH OFF)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or RelWithDebInfo" FORCE)
endif()
