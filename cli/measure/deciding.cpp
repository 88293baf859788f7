#include "cli/measure/deciding.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string_view>
#include <tuple>

#include <tutti/schedule/closed_form.hpp>

#include "core/quantity.hpp"
#include "select/forecast_cache.hpp"
#include "select/selector.hpp"

namespace tutti::measure {
namespace {

/// The smallest size of each class that the selector tells apart, up to 4 GiB.
std::vector<std::uint64_t> sizes_for(Collective collective) {
  std::vector<std::uint64_t> sizes{0};
  if (collective == Collective::barrier) return sizes;
  for (std::uint64_t each = 1; each < 8; ++each) sizes.push_back(each);
  for (std::uint64_t doubling = 1; doubling <= std::uint64_t{1} << 29; doubling *= 2) {
    for (std::uint64_t eighths = 8; eighths < 16; ++eighths) sizes.push_back(doubling * eighths);
  }
  return sizes;
}

/// The same call with each of the properties that exclude methods.
std::vector<Question> questions_for(Collective collective, std::uint64_t bytes) {
  std::vector<Question> questions{{.collective = collective, .bytes = bytes}};
  if (collective == Collective::alltoall) {
    questions.push_back({.collective = collective, .bytes = bytes, .counted = true});
  }
  if (is_reduction(collective) && collective != Collective::barrier) {
    questions.push_back({.collective = collective, .bytes = bytes, .one_fold = true});
  }
  return questions;
}

bool answers(const Method& method, const Question& question) {
  return !(question.counted && method.needs_counts()) &&
         !(question.one_fold && !method.folds_in_rank_order());
}

std::vector<Party> parties_for(const Reach& reach, const Calls& calls) {
  std::vector<Party> parties;
  for (const std::uint32_t ranks : calls.ranks) {
    Party party{.ranks = ranks, .cores = ranks, .reach = reach, .hosts = {{ranks, 1}}};
    if (!reach.crowded) parties.push_back(party);
    for (const std::uint32_t cores : calls.cores) {
      if (!reach.crowded || cores >= ranks) continue;
      party.cores = cores;
      parties.push_back(party);
    }
  }
  return parties;
}

/// The measurements of one collective between ranks that reach each other in one way. Those of
/// other collectives and other ways do not change its choices.
struct Group {
  Reach reach;
  Collective collective;

  static Group of(const Measurement& each) { return {each.reach, each.method().collective()}; }
  [[nodiscard]] Profile part_of(const Profile& profile) const {
    Profile part{.reaches = profile.reaches};
    std::ranges::copy_if(profile.measurements, std::back_inserter(part.measurements),
                         [&](const Measurement& each) { return of(each) == *this; });
    return part;
  }
  friend bool operator==(const Group&, const Group&) = default;
};

std::vector<Group> groups_of(const Profile& profile) {
  std::vector<Group> groups;
  for (const Measurement& each : profile.measurements) {
    if (std::ranges::find(groups, Group::of(each)) == groups.end())
      groups.push_back(Group::of(each));
  }
  return groups;
}

Selector selector_for(const Profile& profile, const Party& party) {
  return {ForecastCache(std::make_shared<const Profile>(profile)).get(party), {}};
}

/// What the forecast says of a method for one call.
struct Standing {
  bool present = false;  ///< It can be chosen.
  bool given_up = false;
  double seconds = 0;

  [[nodiscard]] bool beats(const Standing& other) const {
    if (!present || !other.present) return present && !other.present;
    return std::tie(given_up, seconds) < std::tie(other.given_up, other.seconds);
  }
};

/// Leaves measurements of one group out, one after another, as long as no choice changes.
///
/// Only the forecast of the measured method can change, and only next to the measured number of
/// ranks, if two things stay: the largest size measured for these ranks, from which other methods
/// count as given up, and that most algorithms were measured, so that no other one is tried.
class Reduction {
 public:
  Reduction(const Profile& profile, const Group& group, const Calls& calls)
      : collective_(group.collective),
        sizes_(sizes_for(group.collective)),
        parties_(parties_for(group.reach, calls)),
        part_(group.part_of(profile)) {
    for (const Algorithm& row : algorithms(group.collective)) {
      if (row.needs_shape()) continue;
      for (const Algorithm* variant : variants(row)) methods_.emplace_back(*variant);
    }
    for (const Method& each : methods_) standings_.push_back(standings_of(each, part_, parties_));
    for (std::size_t call = 0; call < parties_.size() * sizes_.size(); ++call) {
      chosen_.push_back(chosen(call, methods_.size(), {}));
    }
  }

  Profile run() {
    for (const Method& each : methods_) {
      try_without([&](const Measurement& one) { return one.method() == each; });
    }
    const std::vector<Measurement> all = part_.measurements;
    for (const Measurement& each : all) {
      try_without([&](const Measurement& one) { return one == each; });
    }
    return std::move(part_);
  }

 private:
  using Choices = std::vector<std::size_t>;  // By question: a method.

  [[nodiscard]] std::vector<Standing> standings_of(const Method& method, const Profile& profile,
                                                   std::span<const Party> parties) const {
    std::vector<Standing> found;
    for (const Party& party : parties) {
      const Forecast forecast(profile, party);
      const bool present = !forecast.is_untried(method) && !takes_long_to_count(method, party);
      for (const std::uint64_t bytes : sizes_) {
        Standing& own = found.emplace_back();
        if (!present) continue;
        const Expectation expected = forecast.expect(method, {.ranks = party.ranks}, bytes);
        own = {.present = true, .given_up = expected.given_up, .seconds = expected.seconds};
      }
    }
    return found;
  }

  /// As the selector does not choose it then.
  static bool takes_long_to_count(const Method& method, const Party& party) {
    return party.ranks > 32 && find_closed_form(method.name()) == nullptr;
  }

  /// The methods for a call, of equal ones the first in the table, if one of them has this
  /// standing.
  [[nodiscard]] Choices chosen(std::size_t call, std::size_t changed,
                               const Standing& changed_standing) const {
    Choices choices;
    for (const Question& question : questions_for(collective_, sizes_[call % sizes_.size()])) {
      Standing best;
      std::size_t& found = choices.emplace_back(methods_.size());
      for (std::size_t i = 0; i < methods_.size(); ++i) {
        const Standing& own = i == changed ? changed_standing : standings_[i][call];
        if (!own.beats(best) || !answers(methods_[i], question)) continue;
        best = own;
        found = i;
      }
    }
    return choices;
  }

  template <class IsOne>
  void try_without(IsOne is_one) {
    const auto gone = std::ranges::find_if(part_.measurements, is_one);
    if (gone == part_.measurements.end()) return;
    Profile less = part_;
    std::erase_if(less.measurements, is_one);
    if (!keeps_limits(less)) return;
    const auto method =
        static_cast<std::size_t>(std::ranges::find(methods_, gone->method()) - methods_.begin());
    std::vector<Standing> standings;
    for (const Party& party : parties_) {
      for (const Standing& each : standings_of(methods_[method], less, {&party, 1})) {
        const std::size_t call = standings.size();
        standings.push_back(each);
        if (chosen(call, method, each) != chosen_[call]) return;
      }
    }
    standings_[method] = std::move(standings);
    part_ = std::move(less);
  }

  [[nodiscard]] bool keeps_limits(const Profile& less) const {
    std::map<std::uint32_t, std::uint64_t> largest;
    std::set<std::string_view> measured;
    for (const Measurement& each : less.measurements) {
      std::uint64_t& bytes = largest[each.ranks];
      bytes = std::max(bytes, each.points.back().bytes);
      if (each.algorithm.find(':') == std::string::npos) measured.insert(each.algorithm);
    }
    const auto exceeds = [&](const Measurement& each) {
      const auto found = largest.find(each.ranks);
      return found != largest.end() && found->second < each.points.back().bytes;
    };
    const auto measurable = std::ranges::count_if(
        methods_, [](const Method& each) { return each.name() == each.algorithm()->row_name(); });
    return 2 * static_cast<std::ptrdiff_t>(measured.size()) >= measurable &&
           std::ranges::none_of(part_.measurements, exceeds);
  }

  Collective collective_;
  std::vector<std::uint64_t> sizes_;
  std::vector<Party> parties_;
  Profile part_;
  std::vector<Method> methods_;
  std::vector<std::vector<Standing>> standings_;  // By method; then by party and size.
  std::vector<Choices> chosen_;                   // By party and size.
};

}  // namespace

Calls Calls::dense() {
  Calls calls{.ranks = {}, .cores = {1, 2, 8}};
  for (std::uint32_t each = 2; each <= 32; ++each) calls.ranks.push_back(each);
  for (const std::uint32_t each : {40, 48, 64, 96, 128, 256, 1024, 4096}) {
    calls.ranks.push_back(each);
  }
  return calls;
}

Profile deciding(const Profile& profile, const Calls& calls) {
  std::vector<Measurement> kept;
  for (const Group& each : groups_of(profile)) {
    std::ranges::move(Reduction(profile, each, calls).run().measurements, std::back_inserter(kept));
  }
  Profile reduced = profile;
  std::erase_if(reduced.measurements, [&](const Measurement& each) {
    return std::ranges::find(kept, each) == kept.end();
  });
  return reduced;
}

std::string difference_of_choices(const Profile& a, const Profile& b, const Calls& calls) {
  for (const Group& group : groups_of(a)) {
    const Profile one = group.part_of(a);
    const Profile other = group.part_of(b);
    for (const Party& party : parties_for(group.reach, calls)) {
      Selector by_one = selector_for(one, party);
      Selector by_other = selector_for(other, party);
      for (const std::uint64_t bytes : sizes_for(group.collective)) {
        const auto differs = [&](const Question& question) {
          return by_one.choose(question).method != by_other.choose(question).method;
        };
        const auto questions = questions_for(group.collective, bytes);
        const auto found = std::ranges::find_if(questions, differs);
        if (found == questions.end()) continue;
        return std::string(name(group.collective)) + " of " + format_bytes(bytes) + " between " +
               std::to_string(party.ranks) + " ranks of a " + words(party.reach) + " on " +
               std::to_string(party.cores) +
               " cores: " + std::string(by_one.choose(*found).method.name()) + " or " +
               std::string(by_other.choose(*found).method.name());
      }
    }
  }
  return "";
}

}  // namespace tutti::measure
