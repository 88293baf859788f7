#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

/// What can be typed after `tutti`, and how it is read.
///
/// CLI11 does the work, out of sight: it is all headers, and every file that includes them takes
/// seconds longer to compile.
namespace tutti::cli {

/// Something that a command can be told. A copy stands for the same option.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  /// What help shows beside the names instead of the type: "SIZE (8)".
  Option text(const std::string& shown) const;
  /// Help tells the value that the variable has now.
  Option shows_default() const;
  /// Help does not tell of it.
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

  /// For a list: one word can hold several values, with this between them.
  Option delimiter(char between_values) const;
  /// For a list: takes one word each time, and not all up to the next option.
  Option one_word() const;

 private:
  CLI::Option* option_;
};

/// `tutti`, or a command of it, or a command of such a command. A copy stands for the same command.
///
/// Variables are set when the command line has been read; they must live until then.
class Command {
 public:
  Command(CLI::App* app, int* exit_code) : app_(app), exit_code_(exit_code) {}

  /// A command of this one. Where there are such, one of them must be typed.
  [[nodiscard]] Command command(const std::string& name, const std::string& summary) const;

  /// By names such as "-p,--ranks", or by its place among the words: "network".
  Option option(const std::string& names, std::string& value, const std::string& help) const;
  Option option(const std::string& names, bool& value, const std::string& help) const;
  Option option(const std::string& names, std::uint32_t& value, const std::string& help) const;
  Option option(const std::string& names, std::uint64_t& value, const std::string& help) const;
  Option option(const std::string& names, double& value, const std::string& help) const;
  Option option(const std::string& names, std::vector<std::string>& values,
                const std::string& help) const;
  /// Stays empty unless it is given.
  Option option(const std::string& names, std::optional<std::uint64_t>& value,
                const std::string& help) const;

  /// An option whose values have names; `take` gets the value of the one that was typed.
  Option choice(const std::string& names, const std::map<std::string, int>& values,
                const std::function<void(int)>& take, const std::string& help) const;

  /// True if it is given.
  Option flag(const std::string& names, bool& value, const std::string& help) const;

  /// What help ends with.
  void footer(const std::string& text) const;

  /// From the first word that is no option on, everything is left for rest().
  void keep_rest() const;
  [[nodiscard]] std::vector<std::string> rest() const;

  /// What to do if this command was typed; returns what to exit with.
  void action(const std::function<int()>& run) const;

 private:
  CLI::App* app_;
  int* exit_code_;
};

/// The whole command line.
class Arguments {
 public:
  /// `version` is what --version prints.
  Arguments(const std::string& name, const std::string& summary, const std::string& version);
  ~Arguments();
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  /// What the commands are added to.
  [[nodiscard]] Command root();

  /// Does what the words say, which are those after the name of the program; returns what to exit
  /// with. Throws invalid_argument for words that make no sense, and what the command throws.
  [[nodiscard]] int run(const std::vector<std::string>& words);

 private:
  std::unique_ptr<CLI::App> app_;
  int exit_code_;
};

/// A number as options take it; none if it is none.
[[nodiscard]] std::optional<std::uint32_t> read_number(const std::string& text);

}  // namespace tutti::cli
