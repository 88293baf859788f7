#include "cli/console/arguments.hpp"

#include <array>
#include <charconv>
#include <limits>
#include <string_view>

#include <CLI/CLI.hpp>

#include <tutti/error.hpp>

#include "cli/console/exit_code.hpp"
#include "core/nearest.hpp"

namespace tutti::cli {
namespace {

/// CLI11 reports an unknown command only as unexpected.
std::string with_suggestion(const CLI::App& app, const std::string& message,
                            const std::vector<std::string>& words) {
  if (words.empty() || words.front().starts_with('-')) return message;
  const std::string& typed = words.front();
  std::vector<std::string> names;
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (each->get_name() == typed) return message;
    names.push_back(each->get_name());
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  return "no command is called '" + typed + "'." + did_you_mean(typed, views) +
         " 'tutti --help' shows them all.";
}

constexpr double largest = std::numeric_limits<double>::max();

std::string in_digits(double number) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  return {text.data(), end};
}

/// Rejects "nan" and "inf", which CLI11 accepts in every range.
CLI::Validator number_within(double least, double most) {
  std::string range = "a number";
  if (least > 0) range += least < 1e-300 ? " above 0" : " from " + in_digits(least);
  if (least == 0) range += " from 0";
  if (most < largest) range += " to " + in_digits(most);
  return {[=](std::string& typed) -> std::string {
            double number = 0;
            const bool is_number = CLI::detail::lexical_cast(typed, number);
            if (is_number && number >= least && number <= most) return {};
            return "'" + typed + "' is not " + range;
          },
          ""};
}

}  // namespace

// Option --------------------------------------------------------------------------------------

Option Option::text(const std::string& shown) const { return Option(option_->option_text(shown)); }

Option Option::shows_default() const { return Option(option_->capture_default_str()); }

Option Option::hidden() const { return Option(option_->group("")); }

Option Option::required() const { return Option(option_->required()); }

Option Option::excludes(Option other) const { return Option(option_->excludes(other.option_)); }

Option Option::needs(Option other) const { return Option(option_->needs(other.option_)); }

Option Option::between(std::uint32_t least, std::uint32_t most) const {
  return between(std::uint64_t{least}, std::uint64_t{most});
}

Option Option::between(std::uint64_t least, std::uint64_t most) const {
  return Option(option_->check(CLI::Range(least, most)));
}

Option Option::between(double least, double most) const {
  return Option(option_->check(number_within(least, most)));
}

Option Option::positive() const {
  return Option(option_->check(number_within(std::numeric_limits<double>::denorm_min(), largest)));
}

Option Option::not_negative() const { return Option(option_->check(number_within(0, largest))); }

Option Option::among(const std::vector<std::string>& words) const {
  return Option(option_->check(CLI::IsMember(words)));
}

Option Option::delimiter(char between_values) const {
  return Option(option_->delimiter(between_values));
}

Option Option::one_word() const { return Option(option_->allow_extra_args(false)); }

// Command -------------------------------------------------------------------------------------

Command Command::command(const std::string& name, const std::string& summary) const {
  app_->require_subcommand(1);
  return {app_->add_subcommand(name, summary), exit_code_};
}

Option Command::option(const std::string& names, std::string& value,
                       const std::string& help) const {
  return Option(app_->add_option(names, value, help));
}

Option Command::option(const std::string& names, bool& value, const std::string& help) const {
  return Option(app_->add_option(names, value, help));
}

Option Command::option(const std::string& names, std::uint32_t& value,
                       const std::string& help) const {
  return Option(app_->add_option(names, value, help));
}

Option Command::option(const std::string& names, std::uint64_t& value,
                       const std::string& help) const {
  return Option(app_->add_option(names, value, help));
}

Option Command::option(const std::string& names, double& value, const std::string& help) const {
  return Option(app_->add_option(names, value, help));
}

Option Command::option(const std::string& names, std::vector<std::string>& values,
                       const std::string& help) const {
  return Option(app_->add_option(names, values, help));
}

Option Command::option(const std::string& names, std::optional<std::uint64_t>& value,
                       const std::string& help) const {
  return Option(app_->add_option(names, value, help));
}

Option Command::choice(const std::string& names, const std::map<std::string, int>& values,
                       const std::function<void(int)>& take, const std::string& help) const {
  return Option(app_->add_option_function<int>(names, take, help)
                    ->type_name("ENUM")  // The value is given by name.
                    ->transform(CLI::CheckedTransformer(values)));
}

Option Command::flag(const std::string& names, bool& value, const std::string& help) const {
  return Option(app_->add_flag(names, value, help));
}

void Command::footer(const std::string& text) const { app_->footer(text); }

void Command::keep_rest() const { app_->prefix_command(); }

std::vector<std::string> Command::rest() const { return app_->remaining(); }

void Command::action(const std::function<int()>& run) const {
  app_->callback([run, exit_code = exit_code_] { *exit_code = run(); });
}

// Arguments -----------------------------------------------------------------------------------

Arguments::Arguments(const std::string& name, const std::string& summary,
                     const std::string& version)
    : app_(std::make_unique<CLI::App>(summary)), exit_code_(success) {
  app_->name(name);
  app_->set_version_flag("--version", version);
}

Arguments::~Arguments() = default;

Command Arguments::root() { return {app_.get(), &exit_code_}; }

int Arguments::run(const std::vector<std::string>& words) {
  try {
    app_->parse(std::vector<std::string>(words.rbegin(),
                                         words.rend()));  // CLI11 expects them in reverse order.
    return exit_code_;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == success) return app_->exit(error);  // --help and --version
    throw Error(ErrorCode::invalid_argument, with_suggestion(*app_, error.what(), words));
  }
}

std::optional<std::uint32_t> read_number(const std::string& text) {
  std::uint32_t number = 0;
  if (!CLI::detail::lexical_cast(text, number)) return {};
  return number;
}

}  // namespace tutti::cli
