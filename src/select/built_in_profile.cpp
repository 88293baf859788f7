#include "select/profile.hpp"

namespace tutti {

// Generated from built_in_profile.json by the build.
extern const std::string_view built_in_profile_json;

const Profile& built_in_profile() {
  static const Profile profile = Profile::parse(built_in_profile_json);
  return profile;
}

}  // namespace tutti
