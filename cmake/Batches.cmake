# Sources compiled in batches, with TUTTI_BATCHES.
#
# Reading headers and instantiating templates take more than half of the time of a build from nothing.
# Sources that are compiled together share that work. A change of one source then recompiles its batch.
# Only sources of one folder share a batch, so that names in unnamed namespaces need to be unique only
# within a folder.

set(TUTTI_BATCH_SIZE 12)

# tutti_compile_alone(<source>...): for sources that have names in common with others of their folder.
function(tutti_compile_alone)
  set_property(SOURCE ${ARGN} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# tutti_batches(<variable> <source>...): sets the variable to the sources to be compiled. Sources with
# options of their own, other than those of cold code, are compiled alone too. Two lists with sources of the same
# folder need a TUTTI_BATCH_PART each, a word for the paths of its batches.
function(tutti_batches variable)
  if(NOT TUTTI_BATCHES)
    set(${variable} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(compiled "")
  set(batches "")
  foreach(source IN LISTS ARGN)
    get_source_file_property(options "${source}" COMPILE_OPTIONS)
    get_source_file_property(differs "${source}" SKIP_PRECOMPILE_HEADERS)
    get_source_file_property(skipped "${source}" SKIP_UNITY_BUILD_INCLUSION)
    if(differs OR skipped OR NOT source MATCHES "\\.cpp$" OR (options AND NOT options STREQUAL TUTTI_COLD_CODE))
      list(APPEND compiled "${source}")
      continue()
    endif()
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    string(MAKE_C_IDENTIFIER "${folder}" batch)
    if(options)
      string(APPEND batch "_cold")
    endif()
    list(APPEND batches ${batch})
    list(APPEND sources_of_${batch} "${source}")
  endforeach()
  list(REMOVE_DUPLICATES batches)
  foreach(batch IN LISTS batches)
    list(LENGTH sources_of_${batch} count)
    math(EXPR last "(${count} - 1) / ${TUTTI_BATCH_SIZE}")
    foreach(part RANGE ${last})
      math(EXPR first "${part} * ${TUTTI_BATCH_SIZE}")
      list(SUBLIST sources_of_${batch} ${first} ${TUTTI_BATCH_SIZE} members)
      set(file "${CMAKE_CURRENT_BINARY_DIR}/batches/${TUTTI_BATCH_PART}${batch}_${part}.cpp")
      list(TRANSFORM members PREPEND "#include \"")
      list(TRANSFORM members APPEND "\"\n")
      list(JOIN members "" text)
      file(CONFIGURE OUTPUT "${file}" CONTENT "${text}" @ONLY)
      # Names in an unnamed namespace are visible in the whole batch.
      set_property(SOURCE "${file}" APPEND PROPERTY COMPILE_OPTIONS -Wno-shadow)
      if(batch MATCHES "_cold$")
        set_property(SOURCE "${file}" APPEND PROPERTY COMPILE_OPTIONS "${TUTTI_COLD_CODE}")
      endif()
      list(APPEND compiled "${file}")
    endforeach()
  endforeach()
  set(${variable} ${compiled} PARENT_SCOPE)
endfunction()
