#include "cli/completion/scripts.hpp"

#include <string_view>

namespace tutti::cli {
namespace {

// Bash breaks words at ':' and '='. COMP_LINE has the words as they were typed.
constexpr std::string_view bash = R"sh(# Completion of tutti for bash.
_tutti() {
  local line=${COMP_LINE:0:COMP_POINT} last head words candidates
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  last=${words[-1]}
  mapfile -t candidates < <(tutti complete -- "${words[@]:1}" 2>/dev/null)
  if ((${#candidates[@]} == 0)); then
    compopt -o default
    COMPREPLY=()
    return
  fi
  # Only what follows the last break is replaced.
  head=${last%"${last##*[:=]}"}
  COMPREPLY=("${candidates[@]#"$head"}")
}
complete -F _tutti tutti
)sh";

// Installed as a file of fpath, zsh calls the script itself as the function; sourced, it registers
// the function. The formatter takes zsh's flags for C++ and breaks them.
// clang-format off
constexpr std::string_view zsh = R"sh(#compdef tutti
# Completion of tutti for zsh.
_tutti() {
  local -a candidates
  candidates=(${(f)"$(tutti complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( ${#candidates} )); then
    compadd -a candidates
  else
    _files
  fi
}
if [[ ${funcstack[1]} == _tutti ]]; then
  _tutti "$@"
else
  compdef _tutti tutti
fi
)sh";
// clang-format on

constexpr std::string_view fish = R"sh(# Completion of tutti for fish.
function __tutti_candidates
    set -l words (commandline -opc) (commandline -ct)
    tutti complete -- $words[2..-1] 2>/dev/null
end
complete -c tutti -a '(__tutti_candidates)'
)sh";

}  // namespace

std::string completion_script(const std::string& shell) {
  if (shell == "zsh") return std::string(zsh);
  return std::string(shell == "fish" ? fish : bash);
}

}  // namespace tutti::cli
