# Installs, moves what was installed, configures, builds and runs the outside project, with CMake and with pkg-config.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${WORK}/installed ${WORK}/prefix ${WORK}/build)
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/installed)
# Moved, so that an absolute path in the package does not go unnoticed.
file(RENAME ${WORK}/installed ${WORK}/prefix)

# What the library itself is built with must not be asked for again.
run(${CMAKE_COMMAND} -S ${CONSUMER} -B ${WORK}/build -G ${GENERATOR}
  -D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_C_COMPILER=${CC} -D CMAKE_PREFIX_PATH=${WORK}/prefix
  -D CMAKE_DISABLE_FIND_PACKAGE_fmt=ON -D CMAKE_DISABLE_FIND_PACKAGE_spdlog=ON -D CMAKE_DISABLE_FIND_PACKAGE_Boost=ON
  -D CMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/consumer)
if(EXISTS ${WORK}/build/c_consumer)
  run(${WORK}/build/c_consumer)
endif()
if(EXISTS ${WORK}/prefix/bin/baton)
  run(${WORK}/prefix/bin/baton --version)
endif()

find_program(PKG_CONFIG pkg-config)
if(PKG_CONFIG)
  file(GLOB_RECURSE description ${WORK}/prefix/*/baton.pc)
  cmake_path(GET description PARENT_PATH folder)
  set(ENV{PKG_CONFIG_PATH} ${folder})
  execute_process(COMMAND ${PKG_CONFIG} --cflags --libs baton OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  cmake_path(GET folder PARENT_PATH libraries)
  run(${CXX} -std=c++20 ${CONSUMER}/main.cpp -o ${WORK}/build/by_pkg_config ${flags} -Wl,-rpath,${libraries})
  run(${WORK}/build/by_pkg_config)
endif()
