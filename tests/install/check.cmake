# One step of the installation test: cmake -DSTEP=... ... -P check.cmake
# The steps are at the end; for the variables see tests.cmake.
cmake_minimum_required(VERSION 3.22)

set(prefix "${WORK}/prefix")
set(consumer "${CMAKE_CURRENT_LIST_DIR}")

function(must_run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "failed (${status}): ${command}")
  endif()
endfunction()

# Installs to one place and moves the tree to another. Code that keeps the first path breaks below.
function(stage)
  file(REMOVE_RECURSE "${WORK}")
  must_run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/elsewhere")
  file(RENAME "${WORK}/elsewhere" "${prefix}")
endfunction()

function(configure source build)
  must_run("${CMAKE_COMMAND}" -S "${source}" -B "${build}" -G "${GENERATOR}"
           "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_C_COMPILER=${CC}"
           "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}" "-DCMAKE_C_FLAGS=${CXX_FLAGS}" ${ARGN})
endfunction()

function(use_with_cmake installed build)
  configure("${consumer}" "${build}" "-DCMAKE_PREFIX_PATH=${installed}" ${ARGN})
  must_run("${CMAKE_COMMAND}" --build "${build}")
  must_run("${build}/consumer")
  must_run("${build}/c_consumer")
endfunction()

function(use_stripped)
  must_run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/stripped" --strip)
  use_with_cmake("${WORK}/stripped" "${WORK}/strip")
endfunction()

# CMake's generation is enough to test embedding; a whole build would take minutes.
function(embed)
  foreach(fetch IN ITEMS OFF ON)
    configure("${consumer}/embedding" "${WORK}/embed-${fetch}"
              "-DTUTTI=${consumer}/../.." -DFETCH=${fetch})
  endforeach()
endfunction()

# A whole build: a shared tutti, fetched, exported, stripped, and used from C and C++.
function(embed_shared)
  file(REMOVE_RECURSE "${WORK}/prefix")
  configure("${consumer}/embedding" "${WORK}/embedding" "-DTUTTI=${consumer}/../.." -DFETCH=ON
            -DBUILD_SHARED_LIBS=ON -DTUTTI_WERROR=ON -DCMAKE_BUILD_TYPE=None)
  must_run("${CMAKE_COMMAND}" --build "${WORK}/embedding")
  must_run("${CMAKE_COMMAND}" --install "${WORK}/embedding" --prefix "${prefix}" --strip)
  file(GLOB_RECURSE library "${prefix}/*/libtutti.so")
  check_exports("${library}")
  must_run("${CMAKE_COMMAND}" "-DLIBRARY=${library}" "-DNM=${NM}"
           "-DHEADER=${consumer}/../../include/tutti/tutti.h" -P "${consumer}/../api/symbols.cmake")
  use_with_cmake("${prefix}" "${WORK}/consumer" -DEMBEDDED=ON)
  must_run("${WORK}/consumer/embedded_consumer")
endfunction()

# The symbols that a shared library exports: names of public headers, and templates of the standard
# library, which are visible wherever they are compiled. None of the libraries that it is built with.
function(check_exports library)
  execute_process(COMMAND "${NM}" -D -C --defined-only "${library}" OUTPUT_VARIABLE symbols
                  COMMAND_ERROR_IS_FATAL ANY)
  foreach(wanted IN ITEMS "typeinfo for tutti::Error" "tutti::run_threads" "tuttiAllReduce")
    if(NOT symbols MATCHES " ${wanted}")
      message(FATAL_ERROR "${library} does not export ${wanted}")
    endif()
  endforeach()
  string(REGEX REPLACE "[][;]" "," symbols "${symbols}")
  string(REPLACE "\n" ";" symbols "${symbols}")
  set(strange "${symbols}")
  list(FILTER strange EXCLUDE REGEX
    "^$| A TUTTI_| [A-Z] ((vtable|typeinfo|typeinfo name) for |non-virtual thunk to )?tutti(::|[A-Z])")
  list(FILTER strange EXCLUDE REGEX " [VWu] .*(std::|__gnu_cxx::)| u tutti::")
  set(inner "${symbols}")
  list(FILTER inner INCLUDE REGEX "nlohmann::|pugi::|hwy::|::(Impl|State)::")
  if(strange OR inner)
    list(APPEND strange ${inner})
    list(JOIN strange "\n" lines)
    message(FATAL_ERROR "${library} exports symbols that are in no public header:\n${lines}")
  endif()
  list(LENGTH symbols count)
  message("${count} symbols, all from public headers")
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
  # Sanitizers of C++ need a runtime that a C program does not link.
  if(NOT flags)
    must_run("${CC}" -std=c99 "${consumer}/c_consumer.c" ${tutti_flags}
             -o "${WORK}/pkg_config_c_consumer")
    must_run("${WORK}/pkg_config_c_consumer")
  endif()
endfunction()

# Manual pages and completions, where man and the shells look for them.
function(check_pages)
  execute_process(COMMAND "${prefix}/bin/tutti" help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "^.*Commands:" "" help "${help}")
  string(REGEX MATCHALL "\n  [a-z]+ " commands "${help}")
  list(LENGTH commands count)
  if(count LESS 10)
    message(FATAL_ERROR "the help has ${count} commands")
  endif()
  set(expected share/man/man1/tutti.1 share/bash-completion/completions/tutti
      share/zsh/site-functions/_tutti share/fish/vendor_completions.d/tutti.fish)
  foreach(command IN LISTS commands)
    string(STRIP "${command}" command)
    list(APPEND expected "share/man/man1/tutti-${command}.1")
  endforeach()
  foreach(file IN LISTS expected)
    if(NOT EXISTS "${prefix}/${file}")
      message(FATAL_ERROR "${file} is not installed")
    endif()
    file(READ "${prefix}/${file}" text)
    if(NOT text MATCHES "tutti")
      message(FATAL_ERROR "${file} does not mention tutti")
    endif()
  endforeach()
  # zsh reads only the first line of the files in its path to know which command one completes.
  file(STRINGS "${prefix}/share/zsh/site-functions/_tutti" first LIMIT_COUNT 1)
  if(NOT first STREQUAL "#compdef tutti")
    message(FATAL_ERROR "the first line of _tutti is: ${first}")
  endif()
  find_program(man man)
  if(man)
    must_run("${CMAKE_COMMAND}" -E env "MANPATH=${prefix}/share/man" "${man}" -w tutti-cost)
  endif()
  list(LENGTH expected count)
  message("${count} files for man and the shells")
endfunction()

if(STEP STREQUAL "stage")
  stage()
elseif(STEP STREQUAL "cmake")
  use_with_cmake("${prefix}" "${WORK}/cmake")
elseif(STEP STREQUAL "strip")
  use_stripped()
elseif(STEP STREQUAL "pkg_config")
  use_with_pkg_config()
elseif(STEP STREQUAL "command")
  must_run("${prefix}/bin/tutti" --help)
elseif(STEP STREQUAL "pages")
  check_pages()
elseif(STEP STREQUAL "embed")
  embed()
elseif(STEP STREQUAL "embed_shared")
  embed_shared()
else()
  message(FATAL_ERROR "unknown step: ${STEP}")
endif()
