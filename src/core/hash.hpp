#pragma once

#include <cstdint>
#include <string_view>

/// Hashes that are the same on every machine and in every run.
namespace tutti {

/// Mixes a word into a hash: the finish of splitmix64 (Steele, Lea and Flood, "Fast splittable
/// pseudorandom number generators", 2014).
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  hash += 0x9E3779B97F4A7C15 + word;
  hash = (hash ^ (hash >> 30)) * 0xBF58476D1CE4E5B9;
  hash = (hash ^ (hash >> 27)) * 0x94D049BB133111EB;
  return hash ^ (hash >> 31);
}

/// The next number of splitmix64.
[[nodiscard]] constexpr std::uint64_t next_random(std::uint64_t& state) {
  const std::uint64_t number = mixed(state, 0);
  state += 0x9E3779B97F4A7C15;
  return number;
}

/// FNV-1a.
[[nodiscard]] constexpr std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char each : text) hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001B3;
  return hash;
}

}  // namespace tutti
