# r3_embed_bytes(TARGET FILE SYMBOL): adds FILE of the build folder to TARGET
# as the bytes r3::SYMBOL, r3::SYMBOLSize of them.
function(r3_embed_bytes Target Name Symbol)
  set(File ${CMAKE_CURRENT_BINARY_DIR}/${Name})
  add_custom_command(OUTPUT ${File}.cpp
    DEPENDS ${File} ${PROJECT_SOURCE_DIR}/cmake/EmbedBytes.cmake
    COMMAND ${CMAKE_COMMAND} -DINPUT=${File} -DOUTPUT=${File}.cpp
      -DSYMBOL=${Symbol} -P ${PROJECT_SOURCE_DIR}/cmake/EmbedBytes.cmake
    VERBATIM)
  target_sources(${Target} PRIVATE ${File}.cpp)
endfunction()

# r3_embed_ptx(TARGET SOURCE.cu SYMBOL): compiles device code, written without
# CUDA's headers, to PTX that the driver of any device since sm_75 translates,
# lets ptxas check it (SOURCE.sm_75.cubin, SOURCE.sm_90.cubin), and adds the
# PTX to TARGET as the bytes r3::SYMBOL.
function(r3_embed_ptx Target Source Symbol)
  get_filename_component(Name ${Source} NAME_WE)
  set(Input ${CMAKE_CURRENT_SOURCE_DIR}/${Source})
  set(Ptx ${CMAKE_CURRENT_BINARY_DIR}/${Name}.ptx)
  set(Check)
  set(Cubins)
  foreach(Arch sm_75 sm_90)
    set(Cubin ${CMAKE_CURRENT_BINARY_DIR}/${Name}.${Arch}.cubin)
    list(APPEND Cubins ${Cubin})
    list(APPEND Check COMMAND ${CUDAToolkit_BIN_DIR}/ptxas -arch=${Arch} ${Ptx}
         -o ${Cubin})
  endforeach()
  add_custom_command(OUTPUT ${Ptx} ${Cubins} DEPENDS ${Input} DEPFILE ${Ptx}.d
    COMMAND ${R3_CLANG} -x cuda --cuda-device-only --cuda-gpu-arch=sm_75
      -nocudainc -nocudalib --cuda-feature=+ptx70 -Wno-unknown-cuda-version
      -std=c++20 -O3 -Wall -Wextra -I${PROJECT_SOURCE_DIR} -MD -MF ${Ptx}.d
      -MT ${Ptx} -S ${Input} -o ${Ptx}
    ${Check}
    COMMENT "Compiling device code ${Source}" VERBATIM)
  r3_embed_bytes(${Target} ${Name}.ptx ${Symbol})
endfunction()
