#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tutti/collective.hpp>
#include <tutti/dtype.hpp>
#include <tutti/op.hpp>
#include <tutti/reproducible.hpp>
#include <tutti/schedule/algorithm.hpp>
#include <tutti/schedule/proved_schedule.hpp>

#include "cli/bench/sizes.hpp"
#include "cli/bench/transport.hpp"
#include "cli/console/arguments.hpp"
#include "cli/measure/buffer_pair.hpp"
#include "cli/measure/pace.hpp"

namespace tutti::cli {

/// One value of --algo.
struct AlgorithmWish {
  enum class Kind { automatic, all, one };

  Kind kind = Kind::automatic;
  const Algorithm* algorithm = nullptr;  ///< Of kind one.
};

/// One value of --schedule.
struct ScheduleFile {
  std::string path{};
  ProvedSchedule schedule;
};

/// What `tutti bench` measures, as the command line asks for it.
struct BenchRequest {
  std::optional<Collective> collective{};  ///< None only with --regret.
  std::uint32_t ranks = 0;                 ///< 0: as many as the launcher has started.
  BenchTransport transport = BenchTransport::automatic;
  BenchSizes sizes{};
  std::vector<Op> ops{Op::sum};
  std::vector<DType> dtypes{DType::f32};
  std::uint32_t root = 0;
  std::vector<AlgorithmWish> algorithms{};  ///< Empty: tutti's choice, unless there are schedules.
  std::vector<ScheduleFile> schedules{};
  Reproducible reproducible = Reproducible::run;
  measure::Pace pace{};
  bool check = true;
  bool limit = false;
  measure::BufferPair::Kind memory = measure::BufferPair::Kind::shared;
  bool prepared = false;
};

/// The options of `tutti bench` that make up a BenchRequest. They live until the command line was
/// read; request() then parses all values at once.
class BenchOptions {
 public:
  /// This must outlive the command line.
  void add(Command command);

  /// Throws invalid_argument for the first value that has no meaning.
  [[nodiscard]] BenchRequest request() const;

 private:
  void add_sizes(Command command);
  void add_kinds(Command command);
  void add_repetitions(Command command);
  [[nodiscard]] BenchSizes sizes() const;
  [[nodiscard]] std::vector<AlgorithmWish> algorithms(std::optional<Collective> collective) const;
  [[nodiscard]] std::vector<ScheduleFile> schedules() const;

  BenchRequest parsed_{};  // The values that need no parsing here.
  std::string collective_;
  std::string least_ = "8";
  std::string most_ = "64M";
  std::string step_;                // Empty: by the factor.
  std::vector<std::string> sizes_;  // Empty: from least to most.
  std::string op_ = "sum";
  std::string dtype_ = "float";
  std::vector<std::string> algorithms_;
  std::vector<std::string> schedules_;
  std::string reproducible_ = "run";
  bool private_buffers_ = false;
};

}  // namespace tutti::cli
