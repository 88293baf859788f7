#include "select/forecast_cache.hpp"

#include "select/profile.hpp"

namespace tutti {
namespace {

/// Keeps the profile alive for as long as the forecast, which refers to it.
struct KeptForecast {
  std::shared_ptr<const Profile> profile;
  Forecast forecast;
};

}  // namespace

ForecastCache::ForecastCache(std::shared_ptr<const Profile> profile)
    : profile_(std::move(profile)) {
  if (!profile_) profile_ = {std::shared_ptr<const Profile>(), &built_in_profile()};
}

std::shared_ptr<const Forecast> ForecastCache::get(const Party& party) {
  const std::lock_guard lock(mutex_);
  std::erase_if(made_, [](const auto& each) { return each.expired(); });
  for (const auto& each : made_) {
    std::shared_ptr<const Forecast> found = each.lock();
    if (found && found->party() == party) return found;
  }
  const std::shared_ptr<const KeptForecast> kept(
      new KeptForecast{.profile = profile_, .forecast = Forecast(*profile_, party)});
  std::shared_ptr<const Forecast> made(kept, &kept->forecast);
  made_.push_back(made);
  return made;
}

}  // namespace tutti
