# How our own targets are compiled. Nothing here reaches those who link to tutti.

if((CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
   OR (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14))
  message(FATAL_ERROR
    "tutti needs GCC 12 or Clang 14 or newer; this is ${CMAKE_CXX_COMPILER_ID} "
    "${CMAKE_CXX_COMPILER_VERSION}. Name another with -DCMAKE_CXX_COMPILER=...")
endif()

# Without debug information: it is five sixths of an archive, which is written, linked and installed.
# TUTTI_DEBUG_INFO adds as much as a backtrace needs. -O3 is kept for the few sources that gain by it.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
  set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
endif()

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_EXTENSIONS OFF)

set(TUTTI_SANITIZE_FLAGS "")
if(TUTTI_SANITIZE)
  set(TUTTI_SANITIZE_FLAGS
    -fsanitize=${TUTTI_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # For the whole directory: one uninstrumented object is enough to blind or confuse a sanitizer.
  add_compile_options(${TUTTI_SANITIZE_FLAGS})
  add_link_options(${TUTTI_SANITIZE_FLAGS})
endif()

if(TUTTI_BUILD_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "TUTTI_BUILD_FUZZERS needs Clang, whose libFuzzer it uses: "
      "add -DCMAKE_CXX_COMPILER=clang++")
  endif()
  # What leads to a new branch can be seen only in code that tells of its branches.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

function(tutti_build_settings target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  # What is in C shows that C needs no more than this.
  set_target_properties(${target} PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow $<$<BOOL:${TUTTI_WERROR}>:-Werror>
    $<$<BOOL:${TUTTI_DEBUG_INFO}>:-g1>)
endfunction()

# What most sources of a target begin with is read once for all of them, where that is asked for. Only
# headers of others: to change one of ours must not compile everything again.
function(tutti_precompile target)
  if(TUTTI_PRECOMPILE)
    set(file "${CMAKE_CURRENT_BINARY_DIR}/${target}_headers.hpp")
    set(text "")
    foreach(header IN ITEMS ${ARGN}
            <algorithm> <array> <atomic> <chrono> <cmath> <condition_variable> <functional> <map>
            <memory> <mutex> <optional> <set> <span> <string> <string_view> <thread> <vector>)
      string(APPEND text "#include ${header}\n")
    endforeach()
    file(CONFIGURE OUTPUT "${file}" CONTENT "${text}" @ONLY)
    target_precompile_headers(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${file}>")
    tutti_mute_precompiled(${target})
  endif()
endfunction()

# The same, as another target has it already. Both must be compiled with the same flags.
function(tutti_precompile_as target other)
  if(TUTTI_PRECOMPILE AND TARGET ${other})
    target_precompile_headers(${target} REUSE_FROM ${other})
    tutti_mute_precompiled(${target})
  endif()
endfunction()

# GCC errs in what it says of memory once functions of std::string are inlined (GCC bug 105651 and its
# kin). It keeps that to itself where the header is the system's, which it forgets of one that is
# precompiled. Builds without precompiled headers still hear it.
function(tutti_mute_precompiled target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
      -Wno-stringop-overread -Wno-maybe-uninitialized -Wno-free-nonheap-object)
  endif()
endfunction()

# Gives the functions of the C API in a shared library their version. What else is visible stays so,
# without one.
function(tutti_version_symbols target)
  set(map "${PROJECT_SOURCE_DIR}/cmake/tutti.map")
  target_link_options(${target} PRIVATE "LINKER:--version-script=${map}")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${map}")
endfunction()
