#include "cli/console/arguments.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <string_view>

#include <CLI/CLI.hpp>

#include <tutti/collective.hpp>
#include <tutti/error.hpp>

#include "cli/console/exit_code.hpp"
#include "cli/console/standard_output.hpp"
#include "cli/console/terminal.hpp"
#include "core/nearest.hpp"

namespace tutti::cli {
namespace {

/// The text of --json in help, which also marks the option.
constexpr std::string_view json_text = "[=FILE]";
constexpr std::string_view json_file_text = "[=]FILE";

std::vector<const CLI::App*> subcommands(const CLI::App& app) {
  // Hidden ones are in no group.
  return app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); });
}

/// The command that the words name, and its subcommand.
const CLI::App& named_command(const CLI::App& root, const std::vector<std::string>& words) {
  const CLI::App* found = &root;
  for (const std::string& word : words) {
    const auto all = subcommands(*found);
    const auto next = std::find_if(all.begin(), all.end(),
                                   [&](const CLI::App* each) { return each->get_name() == word; });
    if (next == all.end()) break;
    found = *next;
  }
  return *found;
}

std::string path_of(const CLI::App& app) {
  const CLI::App* const parent = app.get_parent();
  return (parent == nullptr ? "" : path_of(*parent) + " ") + app.get_name();
}

/// CLI11 reports an unknown command only as unexpected.
std::string unknown_command(const CLI::App& app, const std::string& typed) {
  std::vector<std::string> names;
  for (const CLI::App* each : subcommands(app)) names.push_back(each->get_name());
  const std::vector<std::string_view> views(names.begin(), names.end());
  return "no command is called '" + typed + "'." + did_you_mean(typed, views) +
         " 'tutti --help' shows them all.";
}

/// The first word that looks like an option but is none of the command; empty if there is none.
std::string unknown_option(const CLI::App& command, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == "--") break;
    const std::string name = word.substr(0, word.find('='));
    const bool is_option =
        name.size() > 1 && name[0] == '-' && std::isdigit(static_cast<unsigned char>(name[1])) == 0;
    if (!is_option) continue;
    const std::string short_name = name.starts_with("--") ? name : name.substr(0, 2);
    if (command.get_option_no_throw(short_name) == nullptr) return name;
  }
  return {};
}

/// Adds to the message of CLI11 what was probably meant.
std::string with_suggestion(const CLI::App& root, const CLI::ParseError& error,
                            const std::vector<std::string>& words) {
  const CLI::App& command = named_command(root, words);
  const bool is_root = &command == &root;
  if (is_root && !words.empty() && !words.front().starts_with('-')) {
    return unknown_command(root, words.front());
  }
  const bool unexpected = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  const std::string typed = unexpected ? unknown_option(command, words) : "";
  if (typed.empty()) return error.what();
  std::vector<std::string> names;
  for (const CLI::Option* each : command.get_options()) {
    for (const std::string& name : each->get_lnames()) names.push_back("--" + name);
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  return "'" + path_of(command) + "' has no option '" + typed + "'." + did_you_mean(typed, views) +
         " '" + path_of(command) + " --help' shows them all.";
}

std::vector<std::string> split_choices(const std::string& text) {
  std::vector<std::string> found;
  if (text.find('|') == std::string::npos) return found;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('|', begin), text.size());
    found.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return found;
}

/// What options of these names take in every command.
std::string usual_value(const std::string& name) {
  static const std::map<std::string, std::string> values{
      {"size", "SIZE"},      {"from", "SIZE"},       {"to", "SIZE"},       {"most", "SIZE"},
      {"slice", "SIZE"},     {"memory", "SIZE"},     {"alpha", "TIME"},    {"gamma", "TIME"},
      {"topo", "NETWORK"},   {"network", "NETWORK"}, {"schedule", "FILE"}, {"file", "FILE"},
      {"output", "FILE"},    {"trace", "FILE"},      {"algo", "NAME"},     {"root", "RANK"},
      {"place", "PLACES"},   {"order", "RANK,..."},  {"svg", "FILE.svg"},  {"matrix", "FILE"},
      {"latencies", "FILE"}, {"rounds", "RANGES"}};
  const auto found = values.find(name);
  return found == values.end() ? "VALUE" : found->second;
}

DescribedOption described(const CLI::Option& option) {
  DescribedOption found{.names = {},
                        .positional = option.get_positional(),
                        .required = option.get_required(),
                        .value = option.get_option_text(),
                        .help = option.get_description(),
                        .choices = {}};
  for (const std::string& each : option.get_snames()) found.names.push_back("-" + each);
  for (const std::string& each : option.get_lnames()) found.names.push_back("--" + each);
  if (found.positional) found.names = {option.get_name(true)};
  const bool takes_value = option.get_items_expected_max() > 0;
  std::string type = takes_value ? option.get_type_name() : "";
  type.erase(std::min(type.find(':'), type.size()));  // CLI11 adds what it checks.
  found.choices = split_choices(type);
  if (found.value.empty() && takes_value) {
    const std::string name = found.positional || option.get_lnames().empty()
                                 ? option.get_name(true)
                                 : option.get_lnames().front();
    found.value = type == "VALUE" || type.empty() ? usual_value(name) : type;
    if (option.get_items_expected_max() > 1) found.value += "...";
    if (!option.get_default_str().empty()) found.value += " (" + option.get_default_str() + ")";
  }
  return found;
}

Description description_of(const CLI::App& app) {
  Description found{.path = path_of(app),
                    .summary = app.get_description(),
                    .options = {},
                    .commands = {},
                    .footer = app.get_footer()};
  for (const CLI::Option* each : app.get_options()) {
    if (!each->get_group().empty()) found.options.push_back(described(*each));
  }
  for (const CLI::App* each : subcommands(app)) found.commands.push_back(description_of(*each));
  return found;
}

/// Lines of help in a file or pipe.
constexpr std::size_t usual_columns = 100;

std::string help_of(const CLI::App* app, const std::string& /*name*/, CLI::AppFormatMode /*mode*/) {
  const std::size_t columns = terminal_columns();
  return help_text(description_of(*app), columns == 0 ? usual_columns : columns);
}

bool is_collective(const std::string& word) {
  const auto all = collectives();
  return std::any_of(all.begin(), all.end(), [&](Collective each) { return name(each) == word; });
}

/// Former names of options, which are still accepted where the present one exists.
constexpr std::array<std::array<std::string_view, 2>, 10> former_names{{
    {"--file", "--schedule"},
    {"--schedule", "--algo"},
    {"--out", "--output"},
    {"--network-out", "--network-output"},
    {"--time-limit", "--time"},
    {"--seconds", "--time"},
    {"--pairs", "--transport"},
    {"--ranks-per-host", "--ranks-per-node"},
    {"--node", "--ranks-per-node"},
    {"--many-ports", "--own-links"},
}};

std::vector<std::string> with_present_names(const CLI::App& root, std::vector<std::string> words) {
  const CLI::App& command = named_command(root, words);
  if (command.get_prefix_command()) return words;  // They may belong to the program that it runs.
  for (std::string& word : words) {
    if (word == "--") break;
    const std::string typed = word.substr(0, word.find('='));
    for (const auto& [former, present] : former_names) {
      if (typed != former || command.get_option_no_throw(typed) != nullptr) continue;
      if (command.get_option_no_throw(std::string(present)) == nullptr) continue;
      word.replace(0, typed.size(), present);
      break;
    }
  }
  return words;
}

/// CLI11 has no option whose value can only follow "=". So "--json" alone becomes "--json=-",
/// unless the command also takes "--json FILE" and a word follows that can be one.
std::vector<std::string> with_json_value(const CLI::App& root, std::vector<std::string> words) {
  const CLI::App& command = named_command(root, words);
  const CLI::Option* const option = command.get_option_no_throw("--json");
  if (option == nullptr) return words;
  const bool takes_word = option->get_option_text() == json_file_text;
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    if (words[i] != "--json") continue;
    const std::string next = i + 1 < words.size() ? words[i + 1] : "";
    const bool is_file = next == "-" || (!next.empty() && next[0] != '-' && !is_collective(next));
    if (!takes_word || !is_file) words[i] = "--json=-";
  }
  return words;
}

/// Sends standard output to the file. Ranks that this program starts write to its output.
void redirect_output(const std::string& path) {
  if (path == "-" || std::getenv("TUTTI_RANK") != nullptr) return;
  redirect_standard_output(path);
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
  std::string shown;
  for (const std::string& each : words) shown += (shown.empty() ? "" : "|") + each;
  return Option(option_->type_name(shown)->check(CLI::IsMember(words)));
}

Option Option::delimiter(char between_values) const {
  return Option(option_->delimiter(between_values));
}

Option Option::one_word() const { return Option(option_->allow_extra_args(false)); }

// Command -------------------------------------------------------------------------------------

Command Command::command(const std::string& name, const std::string& summary) const {
  app_->require_subcommand(1);
  CLI::App* const added = app_->add_subcommand(name, summary);
  added->set_help_flag("-h,--help", "show this help");
  return {added, exit_code_};
}

Option Command::option(const std::string& names, std::string& value,
                       const std::string& help) const {
  return Option(app_->add_option(names, value, help)->type_name("VALUE"));
}

Option Command::option(const std::string& names, bool& value, const std::string& help) const {
  return Option(app_->add_option(names, value, help)->type_name("0|1"));
}

Option Command::option(const std::string& names, std::uint32_t& value,
                       const std::string& help) const {
  return Option(app_->add_option(names, value, help)->type_name("N"));
}

Option Command::option(const std::string& names, std::uint64_t& value,
                       const std::string& help) const {
  return Option(app_->add_option(names, value, help)->type_name("N"));
}

Option Command::option(const std::string& names, double& value, const std::string& help) const {
  return Option(app_->add_option(names, value, help)->type_name("X"));
}

Option Command::option(const std::string& names, std::vector<std::string>& values,
                       const std::string& help) const {
  return Option(app_->add_option(names, values, help)->type_name("VALUE"));
}

Option Command::option(const std::string& names, std::optional<std::uint64_t>& value,
                       const std::string& help) const {
  return Option(app_->add_option(names, value, help)->type_name("N"));
}

Option Command::choice(const std::string& names, const std::map<std::string, int>& values,
                       const std::function<void(int)>& take, const std::string& help) const {
  std::string shown;
  for (const auto& [word, value] : values) shown += (shown.empty() ? "" : "|") + word;
  return Option(app_->add_option_function<int>(names, take, help)
                    ->type_name(shown)
                    ->transform(CLI::CheckedTransformer(values)));
}

Option Command::flag(const std::string& names, bool& value, const std::string& help) const {
  return Option(app_->add_flag(names, value, help));
}

Option Command::json(bool& value, const std::string& help) const {
  const auto take = [&value](const std::string& /*path*/) { value = true; };
  return Option(app_->add_option_function<std::string>("--json", take, help)
                    ->option_text(std::string(json_text)));
}

Option Command::json_file(std::string& path, const std::string& help) const {
  return Option(app_->add_option("--json", path, help)->option_text(std::string(json_file_text)));
}

Description Command::describe() const { return description_of(*app_); }

void Command::hide() const { app_->group(""); }

void Command::footer(const std::string& text) const { app_->footer(text); }

void Command::keep_rest() const { app_->prefix_command(); }

std::vector<std::string> Command::rest() const { return app_->remaining(); }

void Command::action(const std::function<int()>& run) const {
  app_->callback([run, app = app_, exit_code = exit_code_] {
    const CLI::Option* const json = app->get_option_no_throw("--json");
    if (json != nullptr && json->count() > 0 && json->get_option_text() == json_text) {
      redirect_output(json->results().front());
    }
    *exit_code = run();
  });
}

// Arguments -----------------------------------------------------------------------------------

Arguments::Arguments(const std::string& name, const std::string& summary,
                     const std::string& version)
    : app_(std::make_unique<CLI::App>(summary)), exit_code_(success) {
  app_->name(name);
  app_->set_help_flag("-h,--help", "show this help");
  app_->set_version_flag("-V,--version", version, "show the version");
  app_->formatter_fn(help_of);
}

Arguments::~Arguments() = default;

Command Arguments::root() { return {app_.get(), &exit_code_}; }

int Arguments::run(const std::vector<std::string>& given) {
  std::vector<std::string> words = given;
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  words = with_json_value(*app_, with_present_names(*app_, std::move(words)));
  try {
    app_->parse(std::vector<std::string>(words.rbegin(),
                                         words.rend()));  // CLI11 expects them in reverse order.
    return exit_code_;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == success) return app_->exit(error);  // --help and --version
    throw Error(ErrorCode::invalid_argument, with_suggestion(*app_, error, words));
  }
}

std::optional<std::uint32_t> read_number(const std::string& text) {
  std::uint32_t number = 0;
  if (!CLI::detail::lexical_cast(text, number)) return {};
  return number;
}

}  // namespace tutti::cli
