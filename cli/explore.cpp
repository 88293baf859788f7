#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include <tutti/error.hpp>

#include "cli/commands.hpp"
#include "cli/console/exit_code.hpp"
#include "cli/console/own_program.hpp"
#include "cli/console/text_file.hpp"
#include "core/json_value.hpp"
#include "core/quantity.hpp"
#include "select/profile.hpp"

namespace tutti::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string output;
  std::string page;
  std::string at;
};

/// The page that `./dev explore` builds: beside the build of this program, or installed with it.
fs::path built_page() {
  const fs::path folder = fs::path(own_program()).parent_path();
  for (const fs::path& each : {folder / "explorer" / "explorer.html",
                               folder / ".." / "share" / "tutti" / "explorer.html"}) {
    std::error_code ignored;
    if (fs::is_regular_file(each, ignored)) return fs::weakly_canonical(each);
  }
  throw Error(ErrorCode::unsupported,
              "the explorer is not built: no " + (folder / "explorer/explorer.html").string() +
                  ". Run ./dev explore in the source tree (it installs Emscripten), or name a page "
                  "with --page FILE.");
}

/// The links of this machine's profile, offered by the page as presets. Nothing without a profile
/// of the machine itself.
Json own_links() {
  Json links = Json::array();
  const std::string path = default_profile_path();
  const bool is_own =
      std::getenv("TUTTI_PROFILE") != nullptr || (!path.empty() && fs::exists(path));
  if (!is_own) return links;
  for (const ReachProfile& each : find_profile().profile.reaches) {
    const std::string pairs(name(each.reach.pairs));
    links.push_back({{"pairs", pairs + (each.reach.crowded ? "-crowded" : "")},
                     {"name", words(each.reach)},
                     {"alpha", format_seconds(each.link.alpha)},
                     {"bandwidth", format_rate(1 / each.link.beta)},
                     {"gamma", each.gamma > 0 ? format_rate(1 / each.gamma) : "0"}});
  }
  return links;
}

std::string with_profile(std::string page) {
  constexpr std::string_view place = "<script type=\"application/json\" id=\"profile\">null<";
  const std::size_t found = page.find(place);
  const Json links = own_links();
  if (found == std::string::npos || links.empty()) return page;
  const Json profile{{"links", links}};
  page.replace(found + place.size() - 5, 4, json_text(profile));
  return page;
}

/// A file that a browser may read: some are confined to the user's home.
fs::path own_copy() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  fs::path folder = fs::temp_directory_path();
  if (cache != nullptr && *cache != '\0') {
    folder = cache;
  } else if (home != nullptr && *home != '\0') {
    folder = fs::path(home) / ".cache";
  }
  folder /= "tutti";
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) {
    throw Error(ErrorCode::invalid_argument, "cannot create " + folder.string() + ": " +
                                                 failure.message() +
                                                 "; write the page with -o FILE");
  }
  return folder / "explorer.html";
}

/// True if a program that opens addresses accepted it.
bool open_in_browser(const std::string& address) {
  if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr &&
      std::getenv("BROWSER") == nullptr) {
    return false;
  }
  const pid_t child = ::fork();
  if (child == 0) {
    ::execlp("xdg-open", "xdg-open", address.c_str(), nullptr);
    ::_exit(127);
  }
  if (child < 0) return false;
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int run(const Options& options) {
  const fs::path source = options.page.empty() ? built_page() : fs::path(options.page);
  const std::string page = with_profile(read_text(source.string()));
  if (!options.output.empty()) {
    write_text(options.output, page);
    return success;
  }
  const fs::path copy = own_copy();
  write_text(copy.string(), page);
  const std::string fragment = options.at.empty() ? "" : "#" + options.at;
  const std::string address = "file://" + copy.string() + fragment;
  std::printf(open_in_browser(address) ? "opened %s\n" : "open this in a browser: %s\n",
              address.c_str());
  return success;
}

}  // namespace

void add_explore(Command tutti) {
  const Command command = tutti.command(
      "explore", "open the explorer: every algorithm, price and network in a browser");
  auto options = std::make_shared<Options>();
  command
      .option("-o,--output", options->output,
              "write the page to a file instead; - is standard output")
      .text("FILE");
  command
      .option("--page", options->page,
              "the page to open, if it is not where ./dev explore built it")
      .text("FILE");
  command.option("--at", options->at, "the part of a link after #: view=cost&c=allreduce&p=16")
      .text("STATE");
  command.action([options] { return run(*options); });
}

}  // namespace tutti::cli
