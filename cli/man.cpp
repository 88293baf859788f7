#include <cstdio>
#include <filesystem>
#include <memory>

#include <tutti/error.hpp>
#include <tutti/version.hpp>

#include "cli/commands.hpp"
#include "cli/console/exit_code.hpp"
#include "cli/console/text_file.hpp"

namespace tutti::cli {
namespace {

struct Options {
  std::string command;
  std::string folder;
};

std::string page(const Description& command) {
  return manual_page(command, "tutti " + std::string(version));
}

void write_all(const Description& root, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  write_text(folder / "tutti.1", page(root));
  for (const Description& each : root.commands) {
    write_text(folder / ("tutti-" + each.name() + ".1"), page(each));
  }
}

}  // namespace

void add_man(Command tutti) {
  const Command command = tutti.command("man", "print or write manual pages, made from the help");
  auto options = std::make_shared<Options>();
  command.option("command", options->command, "a command of tutti (default: tutti itself)")
      .text("COMMAND");
  command.option("-o,--output", options->folder, "write the pages of all commands into this folder")
      .text("FOLDER");
  command.footer("tutti man cost | man -l -");
  command.action([tutti, options] {
    const Description root = tutti.describe();
    if (!options->folder.empty()) {
      write_all(root, options->folder);
      return success;
    }
    const Description* const wanted =
        options->command.empty() ? &root : root.find(options->command);
    if (wanted == nullptr) {
      throw Error(ErrorCode::invalid_argument,
                  "no command is called '" + options->command + "'; 'tutti --help' shows them all");
    }
    std::fputs(page(*wanted).c_str(), stdout);
    return success;
  });
}

}  // namespace tutti::cli
