#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::cli {

/// What `tutti buckets --measure` measures on this host.
struct FusionMeasurement {
  std::uint32_t ranks = 2;
  std::uint64_t tensors = 0;
  std::uint64_t tensor = 0;  ///< Bytes, a multiple of 4.
  std::vector<std::uint64_t> buckets;
  std::string algorithm;  ///< Empty: tutti's choice.
  std::string transport;  ///< "shm" or "tcp".
  bool json = false;
};

/// Starts ranks, reduces the tensors by single calls and by a Bucketer for each size of bucket, and
/// prints the times. `words` are those of the command line, to start the same command as ranks.
[[nodiscard]] int measure_fusion(const FusionMeasurement& request, std::vector<std::string> words);

}  // namespace tutti::cli
