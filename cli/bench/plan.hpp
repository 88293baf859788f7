#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "cli/bench/case.hpp"
#include "cli/bench/memory.hpp"
#include "cli/bench/timing.hpp"

namespace tutti::cli {

/// What the user has asked `tutti bench` for, word by word.
struct BenchWishes {
  std::string collective{};
  std::string least = "8";
  std::string most = "64M";
  std::uint64_t factor = 4;
  std::string step{};                ///< Empty: by the factor.
  std::vector<std::string> sizes{};  ///< Just these, if there are any.
  std::string op = "sum";
  std::string dtype = "float";
  std::uint32_t root = 0;
  std::vector<std::string> algorithms{};  ///< None: tutti's choice, unless there are schedules.
  std::vector<std::string> schedules{};   ///< Files.
  std::string reproducible = "run";
  BenchPace pace{};
  bool check = true;
  bool limit = false;
  bool private_buffers = false;
};

/// The same understood: what all ranks do, one case after the other, all sizes of one algorithm
/// before the next.
struct BenchPlan {
  Collective collective = Collective::allreduce;
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  std::string step{};  ///< "4(factor)", "1024(bytes)", "0(list)"
  std::vector<BenchCase> cases{};
  BenchPace pace{};
  bool check = true;
  bool limit = false;  ///< Measure what the machine does at best.
  BenchMemory::Kind memory = BenchMemory::Kind::shared;
  std::FILE* table = stdout;  ///< Where the table goes.
};

/// Throws invalid_argument, or unsupported, for what cannot be done with so many ranks.
[[nodiscard]] BenchPlan plan_bench(const BenchWishes& wishes, std::uint32_t ranks);

}  // namespace tutti::cli
