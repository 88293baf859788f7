#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "select/forecast.hpp"

namespace tutti {

/// Forecasts of one profile, for communicators that come from one another: many are of the same
/// party, and what a profile says about it takes a while to work out. Thread-safe.
class ForecastCache {
 public:
  /// Null: the built-in profile.
  explicit ForecastCache(std::shared_ptr<const Profile> profile);

  /// Kept as long as somebody has it.
  [[nodiscard]] std::shared_ptr<const Forecast> get(const Party& party);

 private:
  std::shared_ptr<const Profile> profile_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<const Forecast>> made_;
};

}  // namespace tutti
