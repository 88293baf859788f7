#include "cli/choice/tune_run.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <map>
#include <numeric>
#include <optional>

#include "cli/choice/arena.hpp"
#include "cli/console/progress.hpp"
#include "kernels/fold.hpp"

namespace tutti::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// What it takes to add a byte to another, in caches.
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

/// One rank's part in tuning.
class Tuning {
 public:
  Tuning(Communicator& communicator, const TuneWishes& wishes)
      : wishes_(wishes),
        arena_(communicator, wishes.most_bytes, BenchMemory::Kind::shared),
        begun_(Clock::now()) {}

  Profile run() {
    if (arena_.leads()) progress_.emplace("tuning " + std::string(name(wishes_.reach.pairs)), 100);
    reach_ = find_profile().profile.at(wishes_.reach, arena_.ranks());
    if (!wishes_.refine) {
      reach_.reach = wishes_.reach;
      reach_.ranks = arena_.ranks();
      measure_link();
      measure_slice();
      if (in_memory(wishes_.reach)) measure_direct();
    }
    measure_algorithms();
    progress_.reset();
    Profile profile{.reaches = {reach_}};
    for (auto& [algorithm, measurement] : measurements_) {
      profile.measurements.push_back(std::move(measurement));
    }
    return profile;
  }

 private:
  void measure_link() {
    constexpr std::uint64_t small = 8;
    const std::uint64_t large = std::min<std::uint64_t>(wishes_.most_bytes, 4 << 20);
    reach_.link.alpha = arena_.message_seconds(small, 200);
    const double long_one = arena_.message_seconds(large, 10);
    reach_.link.beta = std::max(long_one - reach_.link.alpha, 1e-3 * long_one) /
                       static_cast<double>(large - small);
    reach_.gamma = measure_gamma();
  }

  /// A ring, since there every slice is passed on while the next comes in. The usual size stays
  /// unless another is better by more than chance.
  void measure_slice() {
    constexpr double clearly = 0.93;
    const BenchCase ring =
        allreduce("allreduce/ring", std::min<std::uint64_t>(wishes_.most_bytes, 4 << 20));
    const std::size_t usual = reach_.slice_bytes;
    std::array<std::size_t, 4> sizes{usual, usual / 4, usual / 2, usual * 2};
    std::array<std::vector<double>, 4> times;
    for (int round = 0; round < 3; ++round) {
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        times[i].push_back(arena_.seconds(ring, pace_for(1e-3, 0.01), {.slice_bytes = sizes[i]}));
      }
    }
    double best = median_of(times[0]) * clearly;
    for (std::size_t i = 1; i < sizes.size(); ++i) {
      if (median_of(times[i]) >= best) continue;
      best = median_of(times[i]);
      reach_.slice_bytes = sizes[i];
    }
  }

  /// From which size of messages on reading in place beats copying. It depends on the collective:
  /// who copies for a broadcast need not wait for its readers.
  void measure_direct() {
    constexpr std::array representatives{"broadcast/flat", "scatter/flat",
                                         "gather/flat",    "allgather/mesh",
                                         "reduce/flat",    "allreduce/mesh_two_shot",
                                         "alltoall/mesh",  "reduce_scatter/mesh"};
    for (const char* const each : representatives) {
      const Algorithm& used = algorithm(each);
      reach_.direct_from[static_cast<std::size_t>(used.collective)] = direct_from(used);
    }
  }

  [[nodiscard]] std::size_t direct_from(const Algorithm& used) {
    constexpr double clearly = 0.97;
    constexpr std::size_t always_copied = ~std::size_t{0};
    std::size_t least = std::size_t{1} << 20;  // What is longer is never worth a copy.
    for (std::size_t message = least / 2; message >= 512; message /= 4) {
      // Whole data goes in one message, or one block of it for each rank.
      const bool whole =
          used.collective == Collective::broadcast || used.collective == Collective::reduce;
      const std::uint64_t bytes = message * (whole ? 1 : arena_.ranks());
      if (bytes > wishes_.most_bytes) continue;
      BenchCase what{.collective = used.collective, .algorithm = std::string(used.name)};
      what.count = count_for(used.collective, what.dtype, bytes, arena_.ranks());
      std::vector<double> copied;
      std::vector<double> direct;
      for (int round = 0; round < 3; ++round) {
        const BenchPace pace = pace_for(1e-6, 0.002);
        copied.push_back(arena_.seconds(what, pace, {.direct_from = always_copied}));
        direct.push_back(arena_.seconds(what, pace, {.direct_from = 1}));
      }
      if (median_of(direct) >= clearly * median_of(copied)) break;
      least = message;
    }
    return least;
  }

  void measure_algorithms() {
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t bytes = 8; bytes <= wishes_.most_bytes; bytes *= 8) sizes.push_back(bytes);
    if (sizes.back() < wishes_.most_bytes) sizes.push_back(wishes_.most_bytes);
    for (const std::uint64_t bytes : sizes) {
      for (const Collective collective : collectives()) {
        if (collective == Collective::barrier && bytes > sizes.front()) continue;
        if (arena_.ask_leader(seconds_since(begun_) > wishes_.seconds)) return;
        measure(collective, bytes);
        show_progress();
      }
    }
  }

  /// First all of them briefly, but for those that were hopeless on less data; then the best again.
  void measure(Collective collective, std::uint64_t bytes) {
    std::vector<BenchCase> cases;
    for (const Algorithm& each : algorithms(collective)) {
      if (each.needs_shape() || !each.refusal({.ranks = arena_.ranks()}).empty()) continue;
      if (is_hopeless(each, bytes)) continue;
      BenchCase what{.collective = collective, .algorithm = std::string(each.name)};
      what.count = count_for(collective, what.dtype, bytes, arena_.ranks());
      cases.push_back(std::move(what));
    }
    std::vector<double> times;
    times.reserve(cases.size());
    for (const BenchCase& each : cases) {
      times.push_back(
          arena_.seconds(each, pace_for(expected(each, bytes), short_slot), pace_of(collective)));
    }
    std::vector<std::size_t> places(cases.size());
    std::iota(places.begin(), places.end(), 0);
    std::sort(places.begin(), places.end(),
              [&](std::size_t a, std::size_t b) { return times[a] < times[b]; });
    const double best = times[places.front()];
    std::vector<Arena::Runner> close;
    for (const std::size_t i : places) {
      if (times[i] > 1.3 * best || close.size() == most_finalists) break;
      close.push_back(
          {.what = cases[i], .pace = pace_for(best, long_slot), .options = pace_of(collective)});
    }
    if (close.size() > 1) {
      const std::vector<double> again = arena_.race(close, best > 2e-3 ? 1 : 2, 2);
      for (std::size_t k = 0; k < close.size(); ++k) times[places[k]] = again[k];
    }
    const double fastest = *std::min_element(times.begin(), times.end());
    for (std::size_t i = 0; i < cases.size(); ++i) note(cases[i], bytes, times[i], fastest);
  }

  /// As calls will be made with the profile.
  [[nodiscard]] CallOptions pace_of(Collective collective) const {
    return {.direct_from = reach_.direct_from[static_cast<std::size_t>(collective)],
            .slice_bytes = reach_.slice_bytes};
  }

  void note(const BenchCase& what, std::uint64_t bytes, double seconds, double fastest) {
    const Algorithm* const used = &algorithm(what.algorithm);
    Measurement& measurement = measurements_[used];
    measurement.algorithm = what.algorithm;
    measurement.reach = wishes_.reach;
    measurement.ranks = arena_.ranks();
    measurement.cores = wishes_.cores;
    const std::uint64_t real =
        what.collective == Collective::barrier ? 0 : larger_bytes(what, arena_.ranks());
    if (!measurement.points.empty() && measurement.points.back().bytes >= real) return;
    measurement.points.push_back({.bytes = real, .seconds = seconds});
    behind_[used] = {.bytes = bytes, .factor = seconds / fastest};
  }

  /// What is far behind with eight times less data will not be first now; what is long must be
  /// nearer than what is short.
  [[nodiscard]] bool is_hopeless(const Algorithm& each, std::uint64_t bytes) const {
    const auto found = behind_.find(&each);
    if (found == behind_.end()) return false;
    const bool stopped_long_ago = found->second.bytes * 64 <= bytes;
    return stopped_long_ago || found->second.factor > (bytes > (1 << 20) ? 2 : 5);
  }

  [[nodiscard]] double expected(const BenchCase& what, std::uint64_t bytes) const {
    const auto found = measurements_.find(&algorithm(what.algorithm));
    if (found == measurements_.end() || found->second.points.empty()) return 0;
    const Measurement::Point& last = found->second.points.back();
    const double growth = bytes < (1 << 16)
                              ? 1
                              : static_cast<double>(bytes) /
                                    static_cast<double>(std::max<std::uint64_t>(last.bytes, 1));
    return last.seconds * growth;
  }

  [[nodiscard]] BenchCase allreduce(const std::string& algorithm, std::uint64_t bytes) const {
    return {.collective = Collective::allreduce,
            .count = std::max<std::uint64_t>(bytes / sizeof(float), 1),
            .algorithm = algorithm};
  }

  void show_progress() {
    if (!progress_) return;
    const auto done =
        static_cast<std::size_t>(std::min(100.0, 100 * seconds_since(begun_) / wishes_.seconds));
    while (shown_ < done) {
      progress_->advance();
      ++shown_;
    }
  }

  static constexpr double short_slot = 0.0015;
  static constexpr double long_slot = 0.006;
  static constexpr std::size_t most_finalists = 4;

  /// How an algorithm did at the last size at which it took part.
  struct Behind {
    std::uint64_t bytes = 0;
    double factor = 1;
  };

  TuneWishes wishes_;
  ReachProfile reach_;
  Arena arena_;
  Clock::time_point begun_;
  std::map<const Algorithm*, Measurement> measurements_;
  std::map<const Algorithm*, Behind> behind_;
  std::optional<Progress> progress_;
  std::size_t shown_ = 0;
};

}  // namespace

Profile tune(Communicator& communicator, const TuneWishes& wishes) {
  return Tuning(communicator, wishes).run();
}

}  // namespace tutti::cli
