# Makes a source from a text file: `extern const std::string_view SYMBOL` in namespace tutti. Sets
# VARIABLE to the path of the source.
function(tutti_embed file symbol variable)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  file(READ "${file}" text)
  set(source "${PROJECT_BINARY_DIR}/src/${symbol}.cpp")
  file(CONFIGURE OUTPUT "${source}" CONTENT "#include <string_view>

namespace tutti {

extern const std::string_view ${symbol};
const std::string_view ${symbol} =
    R\"text(${text})text\";

}  // namespace tutti
" @ONLY)
  # Longer than the minimum that the standard guarantees; all known compilers accept it.
  set_source_files_properties("${source}" PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings)
  set(${variable} "${source}" PARENT_SCOPE)
endfunction()
