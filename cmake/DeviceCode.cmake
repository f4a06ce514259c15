# r3_embed_ptx(TARGET SOURCE.cu SYMBOL): compiles device code, written without
# CUDA's headers, to PTX that the driver of any device since sm_75 translates,
# lets ptxas check it, and adds it to TARGET as the bytes r3::SYMBOL.
function(r3_embed_ptx Target Source Symbol)
  get_filename_component(Name ${Source} NAME_WE)
  set(Input ${CMAKE_CURRENT_SOURCE_DIR}/${Source})
  set(Ptx ${CMAKE_CURRENT_BINARY_DIR}/${Name}.ptx)
  set(Check)
  foreach(Arch sm_75 sm_90)
    list(APPEND Check COMMAND ${CUDAToolkit_BIN_DIR}/ptxas -arch=${Arch} ${Ptx}
         -o ${CMAKE_CURRENT_BINARY_DIR}/${Name}.${Arch}.cubin)
  endforeach()
  add_custom_command(OUTPUT ${Ptx} DEPENDS ${Input} DEPFILE ${Ptx}.d
    COMMAND ${R3_CLANG} -x cuda --cuda-device-only --cuda-gpu-arch=sm_75
      -nocudainc -nocudalib --cuda-feature=+ptx70 -Wno-unknown-cuda-version
      -std=c++20 -O3 -Wall -Wextra -I${PROJECT_SOURCE_DIR} -MD -MF ${Ptx}.d
      -MT ${Ptx} -S ${Input} -o ${Ptx}
    ${Check}
    COMMENT "Compiling device code ${Source}" VERBATIM)
  set(Bytes ${CMAKE_CURRENT_BINARY_DIR}/${Name}.ptx.cpp)
  add_custom_command(OUTPUT ${Bytes}
    DEPENDS ${Ptx} ${PROJECT_SOURCE_DIR}/cmake/EmbedBytes.cmake
    COMMAND ${CMAKE_COMMAND} -DINPUT=${Ptx} -DOUTPUT=${Bytes}
      -DSYMBOL=${Symbol} -P ${PROJECT_SOURCE_DIR}/cmake/EmbedBytes.cmake
    VERBATIM)
  target_sources(${Target} PRIVATE ${Bytes})
endfunction()
