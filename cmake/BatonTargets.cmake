# How the targets of this project are built: warnings, sanitizers, layers, tests.

add_library(baton_build INTERFACE)
target_compile_features(baton_build INTERFACE cxx_std_20)
if(BATON_SANITIZE)
  # Warnings are the other builds' to give: sanitized ones look for them in vain, and see some where there is nothing.
  target_compile_options(baton_build INTERFACE -w)
else()
  target_compile_options(baton_build INTERFACE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # gcc 12 takes "literal" + std::string for a copy onto itself.
    target_compile_options(baton_build INTERFACE -Wno-restrict)
  endif()
endif()
target_include_directories(baton_build INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
  # Prefetching for a store gets the line for writing. Processors that do not know the instruction skip it.
  target_compile_options(baton_build INTERFACE -mprfchw)
endif()
if(BATON_SANITIZE)
  # Defines BATON_SANITIZE_ADDRESS, BATON_SANITIZE_UNDEFINED, BATON_SANITIZE_THREAD.
  target_compile_options(baton_build INTERFACE
    -fsanitize=${BATON_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(BATON_SANITIZE MATCHES undefined)
    # The check of virtual tables opens a pipe each time; where descriptors have run out it reports sound objects.
    target_compile_options(baton_build INTERFACE -fno-sanitize=vptr)
    if(BATON_SANITIZE_QUICKLY)
      # A third of the time to compile, for what the address sanitizer mostly sees when such a pointer is used.
      target_compile_options(baton_build INTERFACE -fno-sanitize=null,alignment,object-size,pointer-overflow)
    endif()
  endif()
  target_link_options(baton_build INTERFACE -fsanitize=${BATON_SANITIZE})
  string(TOUPPER "${BATON_SANITIZE}" _kinds)
  string(REPLACE "," ";" _kinds "${_kinds}")
  foreach(kind IN LISTS _kinds)
    target_compile_definitions(baton_build INTERFACE BATON_SANITIZE_${kind})
  endforeach()
endif()

# baton_add_folders(FOLDER ...): adds each folder, in this order.
macro(baton_add_folders)
  foreach(folder IN ITEMS ${ARGN})
    add_subdirectory(${folder})
  endforeach()
endmacro()

# baton_includes_sources(TARGET): some of its sources include others, which gcc takes for headers.
function(baton_includes_sources target)
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

# baton_read_together(TARGET MOST): sources are read as one file, in groups alike in size of MOST at most (0: all together),
# unless BATON_READ_TOGETHER is off. A build from nothing takes less than two thirds of the time, one after an edit more.
function(baton_read_together target most)
  if(NOT BATON_READ_TOGETHER)
    return()
  endif()
  set(each 0)
  if(most GREATER 0)
    get_target_property(sources ${target} SOURCES)
    list(LENGTH sources count)
    math(EXPR groups "(${count} + ${most} - 1) / ${most}")
    math(EXPR each "(${count} + ${groups} - 1) / ${groups}")
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${each})
  baton_includes_sources(${target})
endfunction()

# Whether files share the reading of headers, a third of the time that they take to compile. Clang reads each file alone,
# so that none comes to rely on what others include.
set(BATON_SHARE_HEADERS OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  set(BATON_SHARE_HEADERS ON)
endif()

# baton_precompile(TARGET HEADER ...): the target's files read these headers once.
function(baton_precompile target)
  if(BATON_SHARE_HEADERS)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# baton_library_options(TARGET): its objects are position independent and hide what is not BATON_API.
function(baton_library_options target)
  set_target_properties(${target} PROPERTIES
    POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  # Nobody replaces a function of libbaton by one of the same name: its own calls need not ask.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-semantic-interposition>)
endfunction()

# baton_precompile_for_layers(LIBRARY ...): before the first layer; the headers of these libraries are among them.
function(baton_precompile_for_layers)
  if(NOT BATON_SHARE_HEADERS)
    return()
  endif()
  add_library(baton_layer_headers OBJECT ${PROJECT_SOURCE_DIR}/src/base/precompiled.cpp)
  baton_library_options(baton_layer_headers)
  target_link_libraries(baton_layer_headers PRIVATE baton_build ${ARGN})
  target_precompile_headers(baton_layer_headers PRIVATE ${PROJECT_SOURCE_DIR}/src/base/precompiled.hpp)
endfunction()

# baton_starts_and_reads(TARGET): it starts programs, reads files and prints. Its time goes into the system; full
# optimisation would take half as long again to compile and gain nothing.
function(baton_starts_and_reads target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# baton_layer(NAME [STARTS_AND_READS] SOURCES ... USES lower layers ... LIBRARIES others ...): the static library of one
# folder. Its objects also become libbaton.
function(baton_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 LAYER "STARTS_AND_READS" "" "SOURCES;USES;LIBRARIES")
  if(LAYER_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "baton_layer(${name}): unknown arguments ${LAYER_UNPARSED_ARGUMENTS}")
  endif()
  add_library(baton_${name} STATIC ${LAYER_SOURCES})
  baton_library_options(baton_${name})
  if(BATON_SHARE_HEADERS)
    target_precompile_headers(baton_${name} REUSE_FROM baton_layer_headers)
  endif()
  baton_read_together(baton_${name} 20)
  if(LAYER_STARTS_AND_READS)
    baton_starts_and_reads(baton_${name})
  endif()
  target_link_libraries(baton_${name} PUBLIC baton_build)
  foreach(lower IN LISTS LAYER_USES)
    target_link_libraries(baton_${name} PUBLIC baton_${lower})
  endforeach()
  target_link_libraries(baton_${name} PUBLIC ${LAYER_LIBRARIES})
endfunction()

# What every test includes, read once: half of the time that a test takes to compile. Tests are many and short: optimising
# them takes longer than they run, but for those that calculate much.
function(baton_precompile_for_tests)
  foreach(kind "" _that_calculate)
    set(headers baton_test_headers${kind})
    add_library(${headers} OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/support/headers.cpp)
    target_link_libraries(${headers} PRIVATE baton_build baton_base GTest::gtest GTest::gmock)
    target_compile_options(${headers} PRIVATE ${BATON_TEST_OPTIONS${kind}})
    target_precompile_headers(${headers} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/headers.hpp)
  endforeach()
endfunction()
set(BATON_TEST_OPTIONS -O0)
set(BATON_TEST_OPTIONS_that_calculate -O1)

# baton_test_sources(TARGET [READ_TOGETHER] [CALCULATES]): how sources of tests are compiled. READ_TOGETHER: they fit into
# one file, because none uses a name of another. CALCULATES: so much that they are optimised.
function(baton_test_sources target)
  cmake_parse_arguments(PARSE_ARGV 1 SOURCES "READ_TOGETHER;CALCULATES" "" "")
  set(kind "")
  if(SOURCES_CALCULATES)
    set(kind _that_calculate)
  endif()
  target_compile_options(${target} PRIVATE ${BATON_TEST_OPTIONS${kind}})
  target_precompile_headers(${target} REUSE_FROM baton_test_headers${kind})
  if(SOURCES_READ_TOGETHER)
    baton_read_together(${target} 8)
  endif()
endfunction()

# baton_test(NAME [READ_TOGETHER] [CALCULATES] SOURCES ... LABELS ... TIMEOUT s USES layers ... LIBRARIES others ...): a
# GoogleTest program, one ctest entry per program, compiled as baton_test_sources() says.
# Labels are unit, model, conformance, multiprocess or compile; `long` beside them keeps a test out of `make test`. A
# timeout is meant for a plain build; sanitized ones get four times as much.
function(baton_test name)
  cmake_parse_arguments(PARSE_ARGV 1 TEST "READ_TOGETHER;CALCULATES" "TIMEOUT" "SOURCES;LABELS;USES;LIBRARIES")
  if(TEST_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "baton_test(${name}): unknown arguments ${TEST_UNPARSED_ARGUMENTS}")
  endif()
  add_executable(${name} ${TEST_SOURCES})
  target_link_libraries(${name} PRIVATE baton_build GTest::gtest GTest::gmock GTest::gtest_main ${TEST_LIBRARIES})
  target_link_libraries(${name} PRIVATE baton_base)
  set(how "")
  foreach(option READ_TOGETHER CALCULATES)
    if(TEST_${option})
      list(APPEND how ${option})
    endif()
  endforeach()
  baton_test_sources(${name} ${how})
  foreach(layer IN LISTS TEST_USES)
    target_link_libraries(${name} PRIVATE baton_${layer})
  endforeach()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name})
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 60)
  endif()
  if(BATON_SANITIZE)
    math(EXPR TEST_TIMEOUT "4 * ${TEST_TIMEOUT}")
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${TEST_LABELS}" TIMEOUT ${TEST_TIMEOUT})
endfunction()
