#include "select/profile.hpp"

#include "fuzz/finding.hpp"
#include "fuzz/target.hpp"

namespace tutti::test {

void try_profile(std::string_view input) {
  const auto profile = attempt([&] { return Profile::parse(input); });
  if (!profile) return;
  const Profile again = Profile::parse(profile->json());
  require(again == *profile, "a profile does not round-trip");
  require(again.digest() == profile->digest(), "equal profiles have different digests");
  Profile merged = *profile;
  merged.merge(*profile);
  require(!merged.reaches.empty(), "a merged profile is empty");
  require(!merged.at({}, 4).model.rates.empty(), "a model has no rates");
}

}  // namespace tutti::test
