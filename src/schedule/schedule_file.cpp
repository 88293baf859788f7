#include <filesystem>
#include <fstream>
#include <sstream>

#include <tutti/error.hpp>
#include <tutti/schedule/msccl.hpp>
#include <tutti/schedule/schedule_file.hpp>
#include <tutti/schedule/schedule_json.hpp>

#include "core/quantity.hpp"

namespace tutti {
namespace {

/// Parsing takes about ten times as much memory.
constexpr std::uintmax_t most_bytes = std::uintmax_t{256} << 20;

std::string contents(const std::string& path) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::invalid_argument, "cannot read the schedule '" + path + "': " + why);
  };
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) refuse("there is no such file");
  if (!std::filesystem::is_regular_file(status)) refuse("it is not a file");
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (!error && bytes > most_bytes) {
    refuse("it is too large: " + in_plural(bytes, "byte") + "; the limit is " +
           format_bytes(most_bytes));
  }
  const std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file.is_open()) text << file.rdbuf();
  if (!file.is_open() || (bytes > 0 && !text)) refuse("it cannot be opened");
  return text.str();
}

}  // namespace

Schedule schedule_from_text(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool is_xml = first != std::string_view::npos && text[first] == '<';
  return is_xml ? schedule_from_msccl(text) : schedule_from_json(text);
}

Schedule load_schedule(const std::string& path) {
  const std::string text = contents(path);
  try {
    return schedule_from_text(text);
  } catch (const Error& error) {
    throw Error(error.code(), path + ": " + error.what());
  }
}

}  // namespace tutti
