# The kernel headers and the kernels of the examples, compiled for NVIDIA GPUs: nvcc on the path, or that of
# `scripts/setup --cuda`. Nothing is run. Without nvcc 13 there is one test, which is skipped.
if(BATON_NVCC AND NOT EXISTS ${BATON_NVCC})
  unset(BATON_NVCC CACHE)  # it has been removed since
endif()
find_program(BATON_NVCC nvcc HINTS ${PROJECT_SOURCE_DIR}/build/cuda/nvidia/cu13/bin /usr/local/cuda/bin)
set(why_not "there is no nvcc")
if(BATON_NVCC)
  execute_process(COMMAND ${BATON_NVCC} --version OUTPUT_VARIABLE answer ERROR_QUIET)
  string(REGEX MATCH "release ([0-9.]+)" release "${answer}")
  set(why_not "")
  if(NOT release OR CMAKE_MATCH_1 VERSION_LESS 13)
    set(why_not "${BATON_NVCC} is older than 13, or does not say")
  endif()
endif()
if(why_not)
  add_test(NAME compile.nvcc COMMAND ${CMAKE_COMMAND} -E echo "skipped: ${why_not}; scripts/setup --cuda installs one")
  set_tests_properties(compile.nvcc PROPERTIES LABELS compile SKIP_REGULAR_EXPRESSION "^skipped:")
  return()
endif()

# As a part of a larger program: otherwise functions that nobody calls are left out. Not optimised, up to the assembly.
set(as_cuda ${BATON_NVCC} -x cu -std=c++20 -Werror all-warnings -arch=sm_80 -rdc=true -ptx -Xcicc -O0
  ${public} -I${PROJECT_SOURCE_DIR}/include/kernel)
function(nvcc_test name source)
  string(REPLACE / _ output ${name})
  compile_test(nvcc/${name} ${as_cuda} ${ARGN} ${source} -o ${CMAKE_CURRENT_BINARY_DIR}/${output}.ptx)
endfunction()

file(GLOB_RECURSE kernel_headers RELATIVE ${PROJECT_SOURCE_DIR}/include/kernel CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/include/kernel/*.h ${PROJECT_SOURCE_DIR}/include/kernel/*.hpp)
# Orchestrations run on the host.
list(FILTER kernel_headers EXCLUDE REGEX "^(orchestration/|aicpu/|pto_orchestration_api|pto_arg_with_deps|runtime)")
list(TRANSFORM kernel_headers REPLACE "(.+)" "#include <\\1>\n" OUTPUT_VARIABLE lines)
list(JOIN lines "" text)
file(CONFIGURE OUTPUT kernel_headers.cu CONTENT "${text}" @ONLY)
nvcc_test(headers ${CMAKE_CURRENT_BINARY_DIR}/kernel_headers.cu)
# Bodies of templates are compiled only where something calls them.
nvcc_test(everything ${PROJECT_SOURCE_DIR}/tests/unit/pto/compile/everything.cpp)

# Files of kernels alone: a program finds its kernels by handles, which there are none of yet for a GPU.
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*/*.cpp)
foreach(source IN LISTS sources)
  cmake_path(GET source STEM name)
  file(STRINGS ${source} kernels REGEX "^BATON_(CUBE_)?KERNEL\\(|__aicore__")
  file(STRINGS ${source} program REGEX "^int main\\(")
  if(program OR NOT kernels)
    continue()
  endif()
  file(STRINGS ${source} any_element REGEX "ELEMENT")
  if(any_element)
    nvcc_test(${name}/float ${source} -DELEMENT=float)
    nvcc_test(${name}/bfloat16 ${source} -DELEMENT=bfloat16_t)
  else()
    nvcc_test(${name} ${source})
  endif()
endforeach()

# The check itself must be able to fail.
nvcc_test(rejects_host_code ${CMAKE_CURRENT_SOURCE_DIR}/calls_the_host.cpp)
set_tests_properties(compile.nvcc/rejects_host_code PROPERTIES WILL_FAIL ON)
