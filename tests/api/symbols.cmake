# Checks the dynamic symbols of a shared libtutti: it exports every function of tutti.h and its parts under the
# version node of cmake/tutti.map, and no other name of the C API.
# cmake -DLIBRARY=... -DHEADERS=folder -DNM=... -P symbols.cmake

set(header)
file(GLOB headers "${HEADERS}/tutti.h" "${HEADERS}/c/*.h")
foreach(each IN LISTS headers)
  file(READ "${each}" text)
  string(APPEND header "${text}")
endforeach()
string(REGEX MATCHALL "TUTTI_API [A-Za-z_* ]+ \\*?tutti[A-Za-z]+\\(" declared "${header}")
list(TRANSFORM declared REPLACE ".*[ *](tutti[A-Za-z]+)\\($" "\\1@@TUTTI_0.1")
list(SORT declared)

execute_process(COMMAND "${NM}" -D --defined-only --with-symbol-versions "${LIBRARY}"
                OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " T tutti[^\n]*" found "${symbols}")
list(TRANSFORM found REPLACE " T " "")
list(SORT found)

list(LENGTH declared count)
if(count LESS 50)
  message(FATAL_ERROR "only ${count} functions found in ${HEADERS}: check the regular expression of this script")
endif()
if(NOT found STREQUAL declared)
  set(missing ${declared})
  list(REMOVE_ITEM missing ${found})
  set(surplus ${found})
  list(REMOVE_ITEM surplus ${declared})
  message(FATAL_ERROR "${LIBRARY} lacks: ${missing}; it has in addition: ${surplus}")
endif()
message("${count} functions, all of TUTTI_0.1")
