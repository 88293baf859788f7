#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/console/description.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

/// The command line of `tutti`.
///
/// CLI11 parses it. Only one source file includes CLI11: its headers add seconds to every
/// compilation.
namespace tutti::cli {

/// An option of a command. A copy refers to the same option.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  /// Help shows this beside the names instead of the type: "SIZE (8)".
  Option text(const std::string& shown) const;
  /// Help shows the present value of the variable.
  Option shows_default() const;
  /// Help does not show the option.
  Option hidden() const;

  Option required() const;
  Option excludes(Option other) const;
  Option needs(Option other) const;

  /// Both ends included.
  Option between(std::uint32_t least, std::uint32_t most) const;
  Option between(std::uint64_t least, std::uint64_t most) const;
  Option between(double least, double most) const;
  Option positive() const;
  Option not_negative() const;
  Option among(const std::vector<std::string>& words) const;

  /// For a list: one word can hold several values, separated by this.
  Option delimiter(char between_values) const;
  /// For a list: takes one word each time instead of all words up to the next option.
  Option one_word() const;

 private:
  CLI::Option* option_;
};

/// `tutti` itself, a command, or a subcommand. A copy refers to the same command.
///
/// Variables are set while the command line is parsed and must live until then.
class Command {
 public:
  Command(CLI::App* app, int* exit_code) : app_(app), exit_code_(exit_code) {}

  /// Adds a subcommand. A command with subcommands requires one of them.
  [[nodiscard]] Command command(const std::string& name, const std::string& summary) const;

  /// Named "-p,--ranks", or positional: "network".
  Option option(const std::string& names, std::string& value, const std::string& help) const;
  Option option(const std::string& names, bool& value, const std::string& help) const;
  Option option(const std::string& names, std::uint32_t& value, const std::string& help) const;
  Option option(const std::string& names, std::uint64_t& value, const std::string& help) const;
  Option option(const std::string& names, double& value, const std::string& help) const;
  Option option(const std::string& names, std::vector<std::string>& values,
                const std::string& help) const;
  /// Stays empty unless given.
  Option option(const std::string& names, std::optional<std::uint64_t>& value,
                const std::string& help) const;

  /// An option whose values have names. `take` gets the value of the given name.
  Option choice(const std::string& names, const std::map<std::string, int>& values,
                const std::function<void(int)>& take, const std::string& help) const;

  /// The value becomes true if the flag is given.
  Option flag(const std::string& names, bool& value, const std::string& help) const;

  /// --json: the value becomes true, and with --json=FILE standard output goes to the file.
  Option json(bool& value, const std::string& help) const;
  /// --json, --json=FILE or --json FILE: the value becomes the name of the file; "-" is standard
  /// output.
  Option json_file(std::string& path, const std::string& help) const;

  /// This command and its subcommands as data.
  [[nodiscard]] Description describe() const;

  /// Help does not show the command.
  void hide() const;
  /// The last lines of the help.
  void footer(const std::string& text) const;

  /// Parsing stops at the first word that is not an option; rest() returns the remaining words.
  void keep_rest() const;
  [[nodiscard]] std::vector<std::string> rest() const;

  /// The function to run for this command. It returns the exit code.
  void action(const std::function<int()>& run) const;

 private:
  CLI::App* app_;
  int* exit_code_;
};

/// The whole command line.
class Arguments {
 public:
  /// `version` is printed by -V and --version.
  Arguments(const std::string& name, const std::string& summary, const std::string& version);
  ~Arguments();
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  /// The command that all others are added to.
  [[nodiscard]] Command root();

  /// Runs the command line without the name of the program, and returns the exit code. "help X" is
  /// "X --help". Throws
  /// invalid_argument for words that cannot be parsed, and what the command throws.
  [[nodiscard]] int run(const std::vector<std::string>& words);

 private:
  std::unique_ptr<CLI::App> app_;
  int exit_code_;
};

/// Parses a number as options do; none if the text is not a number.
[[nodiscard]] std::optional<std::uint32_t> read_number(const std::string& text);

}  // namespace tutti::cli
