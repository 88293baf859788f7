#include "flight/settings.hpp"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include <tutti/error.hpp>

namespace tutti {
namespace {

// About 128 bytes each, for every communicator.
constexpr std::size_t most_records = std::size_t{1} << 20;
// Leaves room for the file name in PathText, which has a fixed size.
constexpr std::size_t most_path_bytes = 900;

std::string_view variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? std::string_view() : text;
}

std::size_t records_from(std::string_view text) {
  if (text.empty()) return FlightRecorder::usual_records;
  std::size_t records = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), records);
  if (failure != std::errc() || end != text.data() + text.size() || records < 1 ||
      records > most_records) {
    throw Error(ErrorCode::invalid_argument, "TUTTI_FLIGHT_RECORDS is \"" + std::string(text) +
                                                 "\"; set it to a number of calls from 1 to " +
                                                 std::to_string(most_records) + ", such as 256");
  }
  return records;
}

/// An absolute path, since the program may change its working directory.
std::string directory_from(std::string_view text) {
  if (text.empty()) return {};
  std::error_code failure;
  const std::filesystem::path path = std::filesystem::absolute(text, failure);
  if (!failure) std::filesystem::create_directories(path, failure);
  std::string why = failure ? failure.message() : "";
  if (why.empty() && access(path.c_str(), W_OK | X_OK) != 0) why = "it is not writable";
  if (why.empty() && path.native().size() > most_path_bytes) why = "its name is too long";
  if (!why.empty()) {
    throw Error(ErrorCode::invalid_argument, "TUTTI_FLIGHT is \"" + std::string(text) +
                                                 "\"; set it to a writable directory: " + why);
  }
  return path;
}

}  // namespace

FlightSettings flight_settings_from_environment() {
  return {.records = records_from(variable("TUTTI_FLIGHT_RECORDS")),
          .directory = directory_from(variable("TUTTI_FLIGHT"))};
}

}  // namespace tutti
