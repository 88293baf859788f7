# One step of the installation test: cmake -DSTEP=stage|cmake|pkg_config|command ... -P check.cmake
# Variables: see tests.cmake.

set(prefix "${WORK}/prefix")
set(consumer "${CMAKE_CURRENT_LIST_DIR}")

function(must_run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "failed (${status}): ${command}")
  endif()
endfunction()

# Installed in one place and moved to another: whatever remembers the first place breaks below.
function(stage)
  file(REMOVE_RECURSE "${WORK}")
  must_run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/elsewhere")
  file(RENAME "${WORK}/elsewhere" "${prefix}")
endfunction()

function(use_with_cmake)
  must_run("${CMAKE_COMMAND}" -S "${consumer}" -B "${WORK}/cmake" -G "${GENERATOR}"
           "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_CXX_COMPILER=${CXX}"
           "-DCMAKE_C_COMPILER=${CC}" "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}"
           "-DCMAKE_C_FLAGS=${CXX_FLAGS}")
  must_run("${CMAKE_COMMAND}" --build "${WORK}/cmake")
  must_run("${WORK}/cmake/consumer")
  must_run("${WORK}/cmake/c_consumer")
endfunction()

function(use_with_pkg_config)
  set(ENV{PKG_CONFIG_PATH} "${prefix}/${LIBDIR}/pkgconfig")
  set(ENV{LD_LIBRARY_PATH} "${prefix}/${LIBDIR}")
  set(static --static)
  if(SHARED)
    set(static "")
  endif()
  execute_process(COMMAND "${PKG_CONFIG}" --cflags --libs ${static} tutti
                  OUTPUT_VARIABLE tutti_flags OUTPUT_STRIP_TRAILING_WHITESPACE
                  COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${CXX_FLAGS}")
  separate_arguments(tutti_flags UNIX_COMMAND "${tutti_flags}")
  must_run("${CXX}" -std=c++20 ${flags} "${consumer}/consumer.cpp" ${tutti_flags}
           -o "${WORK}/pkg_config_consumer")
  must_run("${WORK}/pkg_config_consumer")
  # Sanitizers of C++ have a runtime of their own, which a program in C does not link.
  if(NOT flags)
    must_run("${CC}" -std=c99 "${consumer}/c_consumer.c" ${tutti_flags}
             -o "${WORK}/pkg_config_c_consumer")
    must_run("${WORK}/pkg_config_c_consumer")
  endif()
endfunction()

if(STEP STREQUAL "stage")
  stage()
elseif(STEP STREQUAL "cmake")
  use_with_cmake()
elseif(STEP STREQUAL "pkg_config")
  use_with_pkg_config()
elseif(STEP STREQUAL "command")
  must_run("${prefix}/bin/tutti" --help)
endif()
