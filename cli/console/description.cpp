#include "cli/console/description.hpp"

#include <algorithm>
#include <cctype>

#include "core/columns.hpp"

namespace tutti::cli {
namespace {

constexpr std::size_t indent = 28;

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char each) { return static_cast<char>(std::toupper(each)); });
  return text;
}

std::string names_of(const DescribedOption& option) {
  if (option.positional) return option.value;
  std::string text;
  for (const std::string& each : option.names) text += (text.empty() ? "" : ", ") + each;
  if (option.value.empty()) return text;
  return text + (option.value.starts_with('[') ? "" : " ") + option.value;
}

std::string line(const std::string& left, const std::string& help, std::size_t columns) {
  std::string text = "  " + pad_right(left, indent - 2);
  if (width(text) > indent || text.back() != ' ') text += "\n" + std::string(indent, ' ');
  return text + wrapped(help, columns, indent) + "\n";
}

std::string options_text(const Description& command, bool positional, std::size_t columns) {
  std::string text;
  for (const DescribedOption& each : command.options) {
    if (each.positional == positional) text += line(names_of(each), each.help, columns);
  }
  return text;
}

/// Text in roff: a backslash and a dash have a meaning there, and a line must not begin with a dot.
std::string roff(const std::string& text) {
  std::string found;
  for (const char each : text) {
    if (each == '\\')
      found += "\\\\";
    else if (each == '-')
      found += "\\-";
    else
      found += each;
  }
  return found.starts_with('.') || found.starts_with('\'') ? "\\&" + found : found;
}

std::string roff_options(const Description& command) {
  std::string text;
  for (const DescribedOption& each : command.options) {
    text += ".TP\n.B " + roff(names_of(each)) + "\n" + roff(each.help) + "\n";
  }
  return text;
}

std::string roff_lines(const std::string& text) {
  std::string found = ".nf\n";
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    found += roff(text.substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return found + ".fi\n";
}

}  // namespace

std::string Description::name() const { return path.substr(path.rfind(' ') + 1); }

const Description* Description::find(const std::string& wanted) const {
  for (const Description& each : commands) {
    if (each.name() == wanted) return &each;
  }
  return nullptr;
}

std::string Description::usage() const {
  std::string text = path;
  const auto is_option = [](const DescribedOption& each) { return !each.positional; };
  if (std::any_of(options.begin(), options.end(), is_option)) text += " [OPTIONS]";
  for (const DescribedOption& each : options) {
    if (!each.positional) continue;
    text += each.required ? " " + each.value : " [" + each.value + "]";
  }
  return commands.empty() ? text : text + " COMMAND";
}

std::string help_text(const Description& command, std::size_t columns) {
  std::string text =
      wrapped(command.summary, columns) + "\nUsage: " + wrapped(command.usage(), columns, 7) + "\n";
  const std::string positionals = options_text(command, true, columns);
  if (!positionals.empty()) text += "\n" + positionals;
  text += "\nOptions:\n" + options_text(command, false, columns);
  if (!command.commands.empty()) {
    text += "\nCommands:\n";
    for (const Description& each : command.commands)
      text += line(each.name(), each.summary, columns);
  }
  if (!command.footer.empty()) text += "\n" + command.footer + "\n";
  return text;
}

std::string manual_page(const Description& command, const std::string& version) {
  std::string title = command.path;
  std::replace(title.begin(), title.end(), ' ', '-');
  std::string text = ".TH " + upper(roff(title)) + " 1 \"\" \"" + version + "\" \"tutti\"\n" +
                     ".SH NAME\n" + roff(title) + " \\- " + roff(command.summary) + "\n" +
                     ".SH SYNOPSIS\n.B " + roff(command.usage()) + "\n";
  if (!command.options.empty()) text += ".SH OPTIONS\n" + roff_options(command);
  if (!command.commands.empty()) text += ".SH COMMANDS\n";
  for (const Description& each : command.commands) {
    text += ".TP\n.B " + roff(each.usage()) + "\n" + roff(each.summary) + "\n";
    if (command.path == "tutti") continue;
    text += ".RS\n" + roff_options(each) + ".RE\n";
  }
  if (!command.footer.empty()) text += ".SH NOTES\n" + roff_lines(command.footer);
  if (command.path != "tutti") text += ".SH SEE ALSO\n.BR tutti (1)\n";
  return text;
}

}  // namespace tutti::cli
