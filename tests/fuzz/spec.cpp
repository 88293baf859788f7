#include <charconv>

#include <tutti/network/generator.hpp>

#include "fuzz/finding.hpp"
#include "fuzz/network_judge.hpp"
#include "fuzz/target.hpp"

namespace tutti::test {
namespace {

/// True if the counts in a spec are small enough for a small network. Rates and times, which have
/// units, do not matter.
bool is_small(std::string_view spec) {
  constexpr std::uint64_t most_count = 24;
  constexpr std::uint64_t most_product = 3000;
  std::uint64_t product = 1;
  for (std::size_t at = 0; at < spec.size();) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(spec.data() + at, spec.data() + spec.size(), number);
    if (error == std::errc::result_out_of_range) return false;
    if (error != std::errc{}) {
      ++at;
      continue;
    }
    at = static_cast<std::size_t>(end - spec.data());
    const bool counts = at == spec.size() || spec[at] == ',' || spec[at] == 'x';
    if (!counts) continue;
    if (number > most_count) return false;
    product *= std::max<std::uint64_t>(number, 1);
    if (product > most_product) return false;
  }
  return !spec.starts_with("hypercube") || product <= most_count / 2;
}

}  // namespace

void try_spec(std::string_view input) {
  if (!is_small(input)) return;
  if (const auto network = attempt([&] { return generate(input); })) judge(*network);
}

}  // namespace tutti::test
