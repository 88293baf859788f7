#pragma once

#include <array>
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

namespace tutti {

inline constexpr std::size_t collective_count = 9;

[[nodiscard]] constexpr std::array<std::size_t, collective_count> usual_direct_from() {
  std::array<std::size_t, collective_count> bytes{};
  bytes.fill(2048);
  return bytes;
}

/// What was measured between so many ranks that reach each other in one way.
struct ReachProfile {
  Reach reach{};
  std::uint32_t ranks = 2;
  LinkCost link{};   ///< Of a message from one rank to another, nobody else talking.
  double gamma = 0;  ///< Seconds for a byte added.
  /// How large the pieces are that data travels in.
  std::size_t slice_bytes = std::size_t{1} << 16;
  /// By collective: messages of so many bytes and more are best read where they stand.
  std::array<std::size_t, collective_count> direct_from = usual_direct_from();
  Model model{};  ///< Of collectives in which everyone waits for everyone.
  /// Of those with a root, which need not wait for those it sends to, nor they for each other:
  /// calls that follow each other overlap.
  Model rooted_model{};

  [[nodiscard]] const Model& model_for(Collective collective) const {
    return has_root(collective) ? rooted_model : model;
  }

  friend bool operator==(const ReachProfile&, const ReachProfile&) = default;
};

/// How long one algorithm, or one schedule, took with so many ranks, by the size of the larger
/// buffer.
struct Measurement {
  struct Point {
    std::uint64_t bytes = 0;
    double seconds = 0;

    friend bool operator==(const Point&, const Point&) = default;
  };

  std::string algorithm{};                   ///< "allreduce/ring", or "file:PATH" of a schedule,
  std::optional<ProvedSchedule> schedule{};  ///< which is this.
  Reach reach{};
  std::uint32_t ranks = 0;
  std::uint32_t cores = 0;
  std::vector<Point> points{};  ///< In order of size.

  /// What was measured. Throws invalid_argument if there is no algorithm of that name.
  [[nodiscard]] Method method() const;
  [[nodiscard]] Problem problem() const;

  friend bool operator==(const Measurement&, const Measurement&) = default;
};

/// What is known of a machine: enough to say how long a collective takes by each algorithm.
///
/// A value, kept as a JSON file: see docs/choosing.md.
struct Profile {
  std::string machine{};  ///< For people.
  std::string date{};     ///< Likewise, in ISO 8601.
  std::vector<ReachProfile> reaches{};
  std::vector<Measurement> measurements{};

  /// What is known of so many ranks with this reach, or else of what is most like it. Requires:
  /// there is one.
  [[nodiscard]] const ReachProfile& at(const Reach& reach, std::uint32_t ranks) const;

  /// Puts what `other` says in place of what this says of the same, and keeps the rest.
  void merge(const Profile& other);
  /// Takes in further measurements of the same: of each time what is typical, over those who have
  /// it.
  void take_in(std::span<const Profile> others);
  /// Makes the models anew of what was measured.
  void fit_models();

  [[nodiscard]] std::string json() const;
  /// The inverse of json(). Paths of schedules begin in `folder`. Throws invalid_argument that
  /// names what is wrong, and where.
  [[nodiscard]] static Profile parse(std::string_view text, const std::string& folder = {});
  /// A number that differs between profiles that differ.
  [[nodiscard]] std::uint64_t digest() const;

  friend bool operator==(const Profile&, const Profile&) = default;
};

/// The profile that tutti was built with, measured on a machine of two cores.
[[nodiscard]] const Profile& built_in_profile();

/// A profile and where it came from.
struct FoundProfile {
  Profile profile;
  std::string
      origin;  ///< "the built-in profile, since there is no /home/…; `tutti tune` makes one"
};

/// The file that TUTTI_PROFILE names; else that of default_profile_path(), if there is one; else
/// the built-in profile. Throws invalid_argument if a file cannot be understood, or was named and
/// cannot be read.
[[nodiscard]] FoundProfile find_profile();

/// tutti/profile.json in the user's folder for settings; empty if the user has none.
[[nodiscard]] std::string default_profile_path();

/// Writes the whole file or leaves it as it was. Makes its folder. Throws invalid_argument.
void save_profile(const Profile& profile, const std::string& path);

}  // namespace tutti
