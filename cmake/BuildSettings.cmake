# Compiler settings of tutti's own targets. Projects that link to tutti do not inherit them.

if((CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
   OR (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14))
  message(FATAL_ERROR
    "tutti needs GCC 12 or Clang 14 or newer; this is ${CMAKE_CXX_COMPILER_ID} "
    "${CMAKE_CXX_COMPILER_VERSION}. Name another with -DCMAKE_CXX_COMPILER=...")
endif()

# Without debug information, which makes up five sixths of the archive and so of what is linked and
# installed. TUTTI_DEBUG_INFO adds enough for backtraces. -O3 is left to the sources that profit from it.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
  set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
endif()

# For cold code: sources whose own speed nobody notices.
set(TUTTI_COLD_CODE "$<$<NOT:$<CONFIG:Debug>>:-O1>")

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
endif()

# libFuzzer needs coverage instrumentation to see which inputs reach new branches. Only of what is fuzzed: it takes
# a sixth of the build time.
function(tutti_coverage target)
  if(TUTTI_BUILD_FUZZERS)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

function(tutti_build_settings target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  # C sources are compiled as C99 to prove that the C API needs no more.
  set_target_properties(${target} PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow $<$<BOOL:${TUTTI_WERROR}>:-Werror>
    # std::stable_sort of libstdc++ before 13 calls a deprecated function, and Clang 19 says so.
    $<$<AND:$<CXX_COMPILER_ID:Clang>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,19>>:-Wno-deprecated-declarations>
    $<$<BOOL:${TUTTI_DEBUG_INFO}>:-g1>)
endfunction()

# Precompiles the headers that most sources of a target include, with TUTTI_PRECOMPILE. Only external
# headers: a change to one of ours would recompile every source.
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

# Reuses the precompiled header of another target. Both must be compiled with the same flags.
function(tutti_precompile_as target other)
  if(TUTTI_PRECOMPILE AND TARGET ${other})
    target_precompile_headers(${target} REUSE_FROM ${other})
    tutti_mute_precompiled(${target})
  endif()
endfunction()

# GCC 12 and later give false warnings about memory where functions of std::string are inlined (GCC bug
# 105651 and similar ones). They are suppressed in system headers, but not in a precompiled header.
# Builds without precompiled headers keep these warnings.
function(tutti_mute_precompiled target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
      -Wno-stringop-overread -Wno-maybe-uninitialized -Wno-free-nonheap-object)
  endif()
endfunction()

# Gives the functions of the C API in a shared library their symbol version. Other visible symbols stay
# visible, without a version.
function(tutti_version_symbols target)
  set(map "${PROJECT_SOURCE_DIR}/cmake/tutti.map")
  target_link_options(${target} PRIVATE "LINKER:--version-script=${map}")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${map}")
endfunction()
