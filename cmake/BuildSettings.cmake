# Compiler settings of tutti's own targets. Projects that link to tutti do not inherit them.

if((CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
   OR (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14))
  message(FATAL_ERROR
    "tutti needs GCC 12 or Clang 14 or newer; this is ${CMAKE_CXX_COMPILER_ID} "
    "${CMAKE_CXX_COMPILER_VERSION}. Name another with -DCMAKE_CXX_COMPILER=...")
endif()

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_EXTENSIONS OFF)

set(TUTTI_SANITIZE_FLAGS "")
if(TUTTI_SANITIZE)
  set(TUTTI_SANITIZE_FLAGS
    -fsanitize=${TUTTI_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # For the whole directory: one uninstrumented object can cause missed or false reports.
  add_compile_options(${TUTTI_SANITIZE_FLAGS})
  add_link_options(${TUTTI_SANITIZE_FLAGS})
endif()

if(TUTTI_BUILD_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "TUTTI_BUILD_FUZZERS needs Clang, whose libFuzzer it uses: "
      "add -DCMAKE_CXX_COMPILER=clang++")
  endif()
  # libFuzzer needs coverage instrumentation to see which inputs reach new branches.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

function(tutti_build_settings target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  # C sources are compiled as C99 to prove that the C API needs no more.
  set_target_properties(${target} PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow $<$<BOOL:${TUTTI_WERROR}>:-Werror>)
endfunction()

# Precompiles the headers that most sources of a target include, with TUTTI_PRECOMPILE.
function(tutti_precompile target)
  if(TUTTI_PRECOMPILE)
    set(file "${CMAKE_CURRENT_BINARY_DIR}/${target}_headers.hpp")
    set(text "")
    foreach(header IN ITEMS ${ARGN}
            <algorithm> <chrono> <functional> <map> <memory> <optional> <string> <vector>)
      string(APPEND text "#include ${header}\n")
    endforeach()
    file(CONFIGURE OUTPUT "${file}" CONTENT "${text}" @ONLY)
    target_precompile_headers(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${file}>")
  endif()
endfunction()

# Gives the functions of the C API in a shared library their symbol version. Other visible symbols stay
# visible, without a version.
function(tutti_version_symbols target)
  set(map "${PROJECT_SOURCE_DIR}/cmake/tutti.map")
  target_link_options(${target} PRIVATE "LINKER:--version-script=${map}")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${map}")
endfunction()
