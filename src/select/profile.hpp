#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tutti/schedule/price.hpp>

#include "select/method.hpp"
#include "select/model.hpp"
#include "select/reach.hpp"
#include "select/thresholds.hpp"

namespace tutti {

/// The measurements between `ranks` ranks that reach each other in one way.
struct ReachProfile {
  Reach reach{};
  std::uint32_t ranks = 2;
  LinkCost link{};   ///< Cost of a message between two ranks while all others are idle.
  double gamma = 0;  ///< Seconds per byte reduced.
  Thresholds thresholds{};
  Model model{};  ///< For collectives in which every rank depends on every other.
  /// For collectives with a root: it need not wait for the receivers, nor they for each other.
  Model rooted_model{};

  [[nodiscard]] const Model& model_for(Collective collective) const {
    return has_root(collective) ? rooted_model : model;
  }

  friend bool operator==(const ReachProfile&, const ReachProfile&) = default;
};

/// Measured times of one algorithm or schedule for one number of ranks, by the size of the larger
/// buffer.
struct Measurement {
  struct Point {
    std::uint64_t bytes = 0;
    double seconds = 0;

    friend bool operator==(const Point&, const Point&) = default;
  };

  std::string algorithm{};                   ///< "allreduce/ring", or "file:PATH" of a schedule.
  std::optional<ProvedSchedule> schedule{};  ///< The schedule of "file:PATH".
  Reach reach{};
  std::uint32_t ranks = 0;
  std::uint32_t cores = 0;
  std::vector<Point> points{};  ///< Sorted by size.

  /// The measured method. Throws invalid_argument if there is no algorithm of that name.
  [[nodiscard]] Method method() const;
  [[nodiscard]] Problem problem() const;

  friend bool operator==(const Measurement&, const Measurement&) = default;
};

/// The measurements of a machine, from which the time of a collective by each algorithm is
/// predicted.
///
/// A value, stored as a JSON file: see docs/choosing.md.
struct Profile {
  std::string machine{};  ///< For humans.
  std::string date{};     ///< For humans, in ISO 8601.
  std::vector<ReachProfile> reaches{};
  std::vector<Measurement> measurements{};

  /// The entry for this reach and number of ranks, or the most similar one. Requires: `reaches` is
  /// not empty.
  [[nodiscard]] const ReachProfile& at(const Reach& reach, std::uint32_t ranks) const;

  /// Replaces the entries that `other` also has and keeps the rest.
  void merge(const Profile& other);
  /// Combines with further measurements of the same: each time becomes the typical one over the
  /// profiles that have it.
  void take_in(std::span<const Profile> others);
  /// Fits the models again to the measurements.
  void fit_models();

  [[nodiscard]] std::string json() const;
  /// The inverse of json(). Paths of schedules are relative to `folder`. Throws invalid_argument
  /// that names the error and its position.
  [[nodiscard]] static Profile parse(std::string_view text, const std::string& folder = {});
  /// A hash that differs between different profiles.
  [[nodiscard]] std::uint64_t digest() const;

  friend bool operator==(const Profile&, const Profile&) = default;
};

/// The profile compiled into tutti, measured on a machine with two cores.
[[nodiscard]] const Profile& built_in_profile();

/// A profile and its origin.
struct FoundProfile {
  Profile profile;
  std::string
      origin;  ///< "the built-in profile, since there is no /home/…; `tutti tune` makes one"
};

/// Reads the file named by TUTTI_PROFILE; otherwise default_profile_path() if that file exists;
/// otherwise takes the built-in profile. Throws invalid_argument if a file is not a profile, or if
/// the file named by TUTTI_PROFILE cannot be read.
[[nodiscard]] FoundProfile find_profile();

/// tutti/profile.json in the user's configuration directory; empty if there is none.
[[nodiscard]] std::string default_profile_path();

/// Writes the file atomically and creates its directory. Throws invalid_argument.
void save_profile(const Profile& profile, const std::string& path);

}  // namespace tutti
