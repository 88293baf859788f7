# Makes a source of a text file: `extern const std::string_view SYMBOL` in namespace tutti. The path of
# the source is left in the variable VARIABLE. Literals are short, since compilers need not take long
# ones.
function(tutti_embed file symbol variable)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  file(READ "${file}" text)
  string(REGEX REPLACE "\n" ")text\"\n    R\"text(\n" text "${text}")
  set(source "${PROJECT_BINARY_DIR}/src/${symbol}.cpp")
  file(CONFIGURE OUTPUT "${source}" CONTENT "#include <string_view>

namespace tutti {

extern const std::string_view ${symbol};
const std::string_view ${symbol} =
    R\"text(${text})text\";

}  // namespace tutti
" @ONLY)
  set(${variable} "${source}" PARENT_SCOPE)
endfunction()
