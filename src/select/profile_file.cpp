#include <cstdlib>
#include <filesystem>

#include <tutti/error.hpp>

#include "core/bounded_file.hpp"
#include "core/system_reason.hpp"
#include "core/whole_file.hpp"
#include "select/profile.hpp"

namespace tutti {
namespace {

std::string variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

Profile read(const std::string& path) {
  const std::string text = read_file(path, most_settings_bytes);
  try {
    return Profile::parse(text, std::filesystem::path(path).parent_path().string());
  } catch (const Error& error) {
    throw Error(error.code(), path + ": " + error.what());
  }
}

}  // namespace

std::string default_profile_path() {
  if (const std::string folder = variable("XDG_CONFIG_HOME"); !folder.empty()) {
    return folder + "/tutti/profile.json";
  }
  const std::string home = variable("HOME");
  return home.empty() ? "" : home + "/.config/tutti/profile.json";
}

FoundProfile find_profile() {
  if (const std::string named = variable("TUTTI_PROFILE"); !named.empty()) {
    try {
      return {.profile = read(named), .origin = named + ", which TUTTI_PROFILE names"};
    } catch (const Error& error) {
      throw Error(error.code(), std::string("TUTTI_PROFILE: ") + error.what());
    }
  }
  const std::string usual = default_profile_path();
  std::error_code ignored;
  if (!usual.empty() && std::filesystem::exists(usual, ignored)) {
    return {.profile = read(usual), .origin = usual};
  }
  const std::string why =
      usual.empty() ? "neither HOME nor TUTTI_PROFILE is set" : "there is no " + usual;
  return {.profile = built_in_profile(),
          .origin = "the built-in profile, since " + why + "; `tutti tune` makes one"};
}

void save_profile(const Profile& profile, const std::string& path) {
  namespace fs = std::filesystem;
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::invalid_argument, "cannot write the profile '" + path + "': " + why);
  };
  std::error_code error;
  const fs::path folder = fs::path(path).parent_path();
  if (!folder.empty()) fs::create_directories(folder, error);
  if (error) refuse(error.message());
  const int failure = write_whole_file(path, profile.json());
  if (failure != 0) refuse(system_reason(failure));
}

}  // namespace tutti
