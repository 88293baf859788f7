#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "select/forecast.hpp"

namespace tutti {

/// Forecasts of one profile, for communicators derived from one another. Many of them have the same
/// party, and a forecast is expensive to build. Thread-safe.
class ForecastCache {
 public:
  /// `profile`: null for the built-in profile.
  explicit ForecastCache(std::shared_ptr<const Profile> profile);

  /// The cache holds weak references: a forecast lives as long as the caller keeps it.
  [[nodiscard]] std::shared_ptr<const Forecast> get(const Party& party);

 private:
  std::shared_ptr<const Profile> profile_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<const Forecast>> made_;
};

}  // namespace tutti
