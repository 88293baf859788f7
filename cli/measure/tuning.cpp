#include "cli/measure/tuning.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

#include <tutti/schedule/schedule_hash.hpp>

#include "cli/measure/arena.hpp"
#include "cli/measure/quantile.hpp"
#include "kernels/fold.hpp"

namespace tutti::measure {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// The seconds to add one byte to another, with data in the caches.
double measure_gamma() {
  constexpr std::size_t count = std::size_t{1} << 14;
  const std::vector<float> one(count, 1);
  const std::vector<float> other(count, 2);
  std::vector<float> sum(count);
  const std::array<const void*, 2> operands{one.data(), other.data()};
  const Fold add = fold(DType::f32, Op::sum);
  double best = 1;
  for (int i = 0; i < 50; ++i) {
    const Clock::time_point begin = Clock::now();
    add(sum.data(), nullptr, operands.data(), operands.size(), count);
    best = std::min(best, seconds_since(begin));
  }
  return best / (count * sizeof(float));
}

/// A method to measure, and the names that the profile has for it. Among few ranks many algorithms
/// are the same: among two, every tree is.
struct Contestant {
  std::vector<std::string> names;
  Method method;
};

/// Removes those whose schedules are equal to earlier ones, which get their names.
std::vector<Contestant> merged(std::vector<Contestant> all, std::uint32_t ranks) {
  constexpr std::uint32_t most_ranks =
      64;  // Among more, few are the same, and building takes long.
  if (ranks > most_ranks) return all;
  std::vector<Contestant> found;
  std::map<std::uint64_t, std::size_t> seen;
  for (Contestant& each : all) {
    const Schedule schedule = each.method.build({.ranks = ranks});
    const auto [place, is_new] = seen.emplace(content_hash(schedule), found.size());
    if (is_new) {
      found.push_back(std::move(each));
    } else {
      std::ranges::move(each.names, std::back_inserter(found[place->second].names));
    }
  }
  return found;
}

/// The algorithms in the order of the table, then the schedules.
std::vector<Contestant> contestants(const TuningTask& task, std::uint32_t ranks) {
  std::vector<Contestant> found;
  for (const Algorithm& each : algorithms()) {
    if (each.needs_shape() || !each.refusal({.ranks = ranks}).empty()) continue;
    for (const Algorithm* variant : variants(each)) {
      found.push_back({.names = {std::string(variant->name)}, .method = *variant});
    }
  }
  found = merged(std::move(found), ranks);
  for (const NamedSchedule& each : task.schedules) {
    if (each.schedule.contract().ranks != ranks) continue;
    found.push_back({.names = {each.name}, .method = each.schedule});
  }
  return found;
}

/// An algorithm that stands for those of its collective.
struct Representative {
  const char* name;
  bool sends_all;  ///< One message holds all the data, otherwise one block per rank.
};
/// One for short and one for long messages.
struct Representatives {
  Representative for_short;
  Representative for_long;
};

constexpr Representatives same_for_all(Representative each) { return {each, each}; }

/// Longer buffers may be adopted: TUTTI_ADOPT.
constexpr std::uint64_t ordinary_below = std::uint64_t{16} << 10;

/// The part of one rank.
class Tuning {
 public:
  Tuning(Communicator& communicator, const TuningTask& task, const Progress& progress)
      : task_(task),
        progress_(progress),
        contestants_(contestants(task, communicator.size())),
        arena_(communicator, task.most_bytes, BufferPair::Kind::shared),
        ordinary_(communicator, ordinary_below, BufferPair::Kind::private_to_process),
        begun_(Clock::now()) {}

  Profile run() {
    known_ = find_profile().profile;
    reach_ = known_.at(task_.reach, arena_.ranks());
    if (task_.refine) {
      measure_sizes(&Tuning::measure_again);
    } else {
      reach_.reach = task_.reach;
      reach_.ranks = arena_.ranks();
      reach_.thresholds.segment_bytes = Thresholds::usual(task_.reach).segment_bytes;
      reach_.thresholds.in_order_to = Thresholds::usual(task_.reach).in_order_to;
      measure_link();
      measure_slice();
      if (in_memory(task_.reach) && has_time(0.4)) measure_direct();
      if (task_.reach.pairs == Pairs::host && has_time(0.4)) measure_single_copy();
      measure_sizes(&Tuning::measure_all);
    }
    Profile profile{.reaches = {reach_}};
    for (const auto& [contestant, measurement] : measurements_) {
      for (const std::string& name : contestants_[contestant].names) {
        profile.measurements.push_back(measurement);
        profile.measurements.back().algorithm = name;
      }
    }
    return profile;
  }

 private:
  void measure_link() {
    constexpr std::uint64_t small = 8;
    const std::uint64_t large = std::min<std::uint64_t>(task_.most_bytes, 4 << 20);
    reach_.link.alpha = arena_.message_seconds(small, 200);
    const double long_one = arena_.message_seconds(large, 10);
    reach_.link.beta = std::max(long_one - reach_.link.alpha, 1e-3 * long_one) /
                       static_cast<double>(large - small);
    reach_.gamma = measure_gamma();
  }

  /// By a ring: there every slice is forwarded while the next arrives. Keeps the usual size unless
  /// another is clearly faster.
  void measure_slice() {
    constexpr double clearly = 0.93;
    const Case ring =
        allreduce("allreduce/ring", std::min<std::uint64_t>(task_.most_bytes, 4 << 20));
    const std::size_t usual = reach_.thresholds.slice_bytes;
    std::array<std::size_t, 4> sizes{usual, usual / 4, usual / 2, usual * 2};
    std::array<std::vector<double>, 4> times;
    for (int round = 0; round < 3; ++round) {
      if (!has_time(0.2)) return;
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        times[i].push_back(
            arena_.seconds(ring, {.seconds = 0.01, .expected = 1e-3}, {.slice_bytes = sizes[i]}));
      }
    }
    double best = median_of(times[0]) * clearly;
    for (std::size_t i = 1; i < sizes.size(); ++i) {
      if (median_of(times[i]) >= best) continue;
      best = median_of(times[i]);
      reach_.thresholds.slice_bytes = sizes[i];
    }
  }

  /// Most programs have their data in ordinary memory. Long buffers there are as fast as shared
  /// memory once they are adopted; short ones are never adopted.
  [[nodiscard]] Arena& arena_for(std::uint64_t bytes) {
    return bytes < ordinary_below ? ordinary_ : arena_;
  }

  /// True if less than this share of the time is spent.
  [[nodiscard]] bool has_time(double share = 1) {
    return arena_.ask_leader(seconds_since(begun_) < share * task_.seconds);
  }

  /// Measures from which message size on reading in place is faster than copying. It depends on the
  /// collective: a root that copies for a broadcast does not wait for its readers. It depends on
  /// the algorithm as well, and long reductions are made by others than short ones.
  void measure_direct() {
    constexpr std::array all{
        same_for_all({"broadcast/flat", true}),
        same_for_all({"scatter/flat", false}),
        same_for_all({"gather/flat", false}),
        same_for_all({"allgather/mesh", false}),
        Representatives{{"reduce/flat", true}, {"reduce/mesh_two_shot", false}},
        Representatives{{"allreduce/mesh", true}, {"allreduce/ring", false}},
        same_for_all({"alltoall/mesh", false}),
        same_for_all({"reduce_scatter/mesh", false}),
    };
    for (const Representatives& each : all) {
      if (!has_time(0.4)) return;
      const Collective collective = algorithm(each.for_short.name).collective;
      reach_.thresholds.direct_from[static_cast<std::size_t>(collective)] = direct_from(each);
    }
  }

  [[nodiscard]] std::size_t direct_from(const Representatives& those) {
    constexpr std::size_t always_copied = ~std::size_t{0};
    constexpr std::size_t long_from = std::size_t{1} << 15;
    constexpr std::size_t longest = std::size_t{1} << 19;
    std::vector<Protocols> found;
    for (std::size_t message = 512; message <= longest; message *= 4) {
      const Representative& used = message < long_from ? those.for_short : those.for_long;
      const std::uint64_t bytes = message * (used.sends_all ? 1 : arena_.ranks());
      if (bytes > task_.most_bytes) break;
      found.push_back(
          compare(arena_, sized(algorithm(used.name), bytes), message,
                  {.copied = {.direct_from = always_copied}, .direct = {.direct_from = 1}}));
    }
    return best_direct_from(found);
  }

  /// Measures from which message size on one copy by the kernel is faster than two, for the
  /// collectives whose messages are read once and not added up.
  void measure_single_copy() {
    Communicator copying = arena_.communicator().duplicate({.adopt = "off"});
    Arena ordinary(copying, task_.most_bytes, BufferPair::Kind::private_to_process);
    for (const char* const name : {"scatter/flat", "allgather/mesh", "alltoall/mesh"}) {
      if (!has_time(0.4)) return;
      const Algorithm& used = algorithm(name);
      std::vector<Protocols> found;
      for (std::size_t message = 1 << 15; message <= 1 << 21; message *= 4) {
        const std::uint64_t bytes = message * arena_.ranks();
        if (bytes > task_.most_bytes) break;
        found.push_back(compare(ordinary, sized(used, bytes), message,
                                {.copied = {.single_copy_from = Thresholds::never},
                                 .direct = {.single_copy_from = 1}}));
      }
      reach_.thresholds.single_copy_from[static_cast<std::size_t>(used.collective)] =
          best_direct_from(found, Thresholds::never);
    }
  }

  /// The tuning of a call for two protocols.
  struct Options {
    CallOptions::Tuning copied{};
    CallOptions::Tuning direct{};
  };
  [[nodiscard]] static Protocols compare(Arena& arena, const Case& what, std::size_t message,
                                         const Options& options) {
    std::vector<double> copied;
    std::vector<double> direct;
    for (int round = 0; round < 3; ++round) {
      const Pace pace{.seconds = 0, .expected = copied.empty() ? 0 : copied.back()};
      copied.push_back(arena.seconds(what, pace, options.copied));
      direct.push_back(arena.seconds(what, pace, options.direct));
    }
    return {.message = message,
            .copied = median_of(std::move(copied)),
            .direct = median_of(std::move(direct))};
  }

  /// Calls `measure` for each collective and size until the time is up.
  void measure_sizes(void (Tuning::*measure)(Collective, std::uint64_t)) {
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t bytes = 8; bytes <= task_.most_bytes; bytes *= 8) {
      sizes.push_back(bytes);
      // Between this size and the next, data in memory changes the way that it travels, and the
      // order of the algorithms changes with it.
      if (bytes == 4096 && in_memory(task_.reach)) sizes.push_back(2 * bytes);
    }
    if (sizes.back() < task_.most_bytes) sizes.push_back(task_.most_bytes);
    for (const std::uint64_t bytes : sizes) {
      for (const Collective collective : collectives()) {
        if (collective == Collective::barrier && bytes > sizes.front()) continue;
        if (!has_time()) return;
        (this->*measure)(collective, bytes);
        show_progress();
      }
    }
  }

  /// Measures all methods briefly, except those that were hopeless for less data, then the best of
  /// them again. If there is not enough time for all, none is noted: one without a time would count
  /// as given up.
  void measure_all(Collective collective, std::uint64_t bytes) {
    std::vector<Result> results;
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < contestants_.size(); ++i) {
      const Method& each = contestants_[i].method;
      if (each.collective() != collective || is_hopeless(i, bytes)) continue;
      const double guess = expected(i, bytes);
      constexpr double hopeless = 4;
      const bool fits = seconds_since(begun_) + 2 * guess < task_.seconds;
      // The first case of all is measured in any case: a profile without any would be useless.
      if (!arena_.ask_leader(fits || measurements_.empty())) return;
      const Pace pace{.seconds = 0, .expected = guess, .give_up = hopeless * best};
      results.push_back(
          {.contestant = i,
           .seconds = arena_for(bytes).seconds(sized(each, bytes), pace, tuning_for(collective))});
      best = std::min(best, results.back().seconds);
    }
    measure_best(results, bytes);
    const double fastest = std::min_element(results.begin(), results.end(), is_faster)->seconds;
    for (const Result& each : results) {
      note(each, bytes);
      behind_[each.contestant] = {.bytes = bytes, .factor = each.seconds / fastest};
    }
  }

  /// Measures again the methods that were best according to the profile.
  void measure_again(Collective collective, std::uint64_t bytes) {
    std::vector<Result> results;
    for (const Measurement& known : known_.measurements) {
      const auto used = std::ranges::find(contestants_, known.method(), &Contestant::method);
      if (used == contestants_.end() || used->method.collective() != collective ||
          known.reach != task_.reach || known.ranks != arena_.ranks()) {
        continue;
      }
      const std::uint64_t real = real_bytes(sized(used->method, bytes));
      const auto point =
          std::find_if(known.points.begin(), known.points.end(),
                       [&](const Measurement::Point& each) { return each.bytes == real; });
      if (point != known.points.end()) {
        results.push_back({.contestant = static_cast<std::size_t>(used - contestants_.begin()),
                           .seconds = point->seconds});
      }
    }
    if (results.empty()) return;
    for (const Result& each : measure_best(results, bytes)) note(each, bytes);
  }

  /// The seconds of a call by one of the contestants.
  struct Result {
    std::size_t contestant = 0;
    double seconds = 0;
  };
  static bool is_faster(const Result& a, const Result& b) { return a.seconds < b.seconds; }

  /// Sorts the results and measures the first, the second and all near ones again, in turns.
  /// Returns those.
  std::span<const Result> measure_best(std::vector<Result>& results, std::uint64_t bytes) {
    constexpr std::size_t most = 5;
    constexpr double hopeless = 1.3;
    std::sort(results.begin(), results.end(), is_faster);
    // The time of a short call varies by half between runs.
    const bool is_long = results.front().seconds > 2e-3;
    const double near = is_long ? 1.3 : 1.6;
    std::vector<Arena::Runner> close;
    for (const Result& each : results) {
      const bool is_near = each.seconds <= near * results.front().seconds;
      if (close.size() >= (is_near ? most : 2)) break;
      const Method& method = contestants_[each.contestant].method;
      close.push_back({.what = sized(method, bytes),
                       .pace = {.seconds = 0, .expected = each.seconds},
                       .tuning = tuning_for(method.collective())});
    }
    const std::vector<double> again = arena_for(bytes).race(
        close, {.rounds = is_long ? std::size_t{1} : std::size_t{3},
                .hopeless = hopeless,
                .seconds = std::max(0.0, task_.seconds - seconds_since(begun_))});
    for (std::size_t i = 0; i < close.size(); ++i) {
      if (std::isfinite(again[i])) results[i].seconds = again[i];
    }
    return std::span(results).first(close.size());
  }

  /// What calls will get from the profile.
  [[nodiscard]] CallOptions::Tuning tuning_for(Collective collective) const {
    return {.direct_from = reach_.thresholds.direct_from[static_cast<std::size_t>(collective)],
            .slice_bytes = reach_.thresholds.slice_bytes};
  }

  [[nodiscard]] Case sized(const Method& used, std::uint64_t bytes) const {
    Case what = case_of(used);
    what.count = count_for(what.collective, what.dtype, bytes, arena_.ranks());
    return what;
  }

  [[nodiscard]] std::uint64_t real_bytes(const Case& what) const {
    return what.collective == Collective::barrier ? 0 : larger_bytes(what, arena_.ranks());
  }

  void note(const Result& result, std::uint64_t bytes) {
    const Contestant& used = contestants_[result.contestant];
    Measurement& measurement = measurements_[result.contestant];
    measurement.algorithm = used.names.front();
    if (used.method.schedule() != nullptr) measurement.schedule = *used.method.schedule();
    measurement.reach = task_.reach;
    measurement.ranks = arena_.ranks();
    measurement.cores = task_.cores;
    const std::uint64_t real = real_bytes(sized(used.method, bytes));
    if (!measurement.points.empty() && measurement.points.back().bytes >= real) return;
    measurement.points.push_back({.bytes = real, .seconds = result.seconds});
  }

  /// True if the method was so far behind with less data that it cannot win now. For long calls the
  /// limit is tighter. Beyond eight times the size of its last result it gets another chance: it
  /// may move fewer bytes although it needs more messages.
  [[nodiscard]] bool is_hopeless(std::size_t contestant, std::uint64_t bytes) const {
    constexpr std::uint64_t is_long = std::uint64_t{1} << 20;
    const auto found = behind_.find(contestant);
    if (found == behind_.end()) return false;
    const bool is_next = bytes <= found->second.bytes * 8;
    if (bytes > is_long) return found->second.factor > (is_next ? 2 : 4);
    return is_next && found->second.factor > 4;
  }

  [[nodiscard]] double expected(std::size_t contestant, std::uint64_t bytes) const {
    const auto found = measurements_.find(contestant);
    if (found == measurements_.end() || found->second.points.empty()) return 0;
    const Measurement::Point& last = found->second.points.back();
    const double growth = bytes < (1 << 16)
                              ? 1
                              : static_cast<double>(bytes) /
                                    static_cast<double>(std::max<std::uint64_t>(last.bytes, 1));
    return last.seconds * growth;
  }

  [[nodiscard]] Case allreduce(const std::string& algorithm, std::uint64_t bytes) const {
    return {.collective = Collective::allreduce,
            .count = std::max<std::uint64_t>(bytes / sizeof(float), 1),
            .algorithm = algorithm};
  }

  void show_progress() {
    if (progress_ && arena_.leads())
      progress_(std::min(1.0, seconds_since(begun_) / task_.seconds));
  }

  /// The time of a method relative to the fastest, at the last size for which it was measured.
  struct Behind {
    std::uint64_t bytes = 0;
    double factor = 1;
  };

  TuningTask task_;
  const Progress& progress_;
  std::vector<Contestant> contestants_;
  Profile known_;
  ReachProfile reach_;
  Arena arena_;     // In shared memory.
  Arena ordinary_;  // For short calls.
  Clock::time_point begun_;
  std::map<std::size_t, Measurement> measurements_;  // By contestant.
  std::map<std::size_t, Behind> behind_;             // By contestant.
};

}  // namespace

std::size_t best_direct_from(std::span<const Protocols> found, std::size_t never) {
  std::size_t best = never;
  double least = std::numeric_limits<double>::infinity();
  // Of equal ones the greatest: copying does not make the sender wait.
  for (std::size_t first = found.size() + 1; first-- > 0;) {
    double loss = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const double ratio = found[i].copied / found[i].direct;
      loss += std::log(std::max(1.0, i < first ? ratio : 1 / ratio));
    }
    if (loss >= least) continue;
    least = loss;
    best = first < found.size() ? found[first].message : never;
  }
  return best;
}

Profile tune(Communicator& communicator, const TuningTask& task, const Progress& progress) {
  return Tuning(communicator, task, progress).run();
}

}  // namespace tutti::measure
