#include "cli/bench/sizes.hpp"

#include <algorithm>

#include <tutti/error.hpp>

#include "core/quantity.hpp"
#include "core/reject.hpp"

namespace tutti::cli {
namespace {

constexpr std::size_t most_sizes = 100'000;

}  // namespace

std::vector<std::uint64_t> BenchSizes::all() const {
  if (!listed.empty()) return listed;
  if (least > most) {
    reject("-b " + format_bytes(least) + " is above -e " + format_bytes(most) +
           "; -b is the smallest size and -e the largest");
  }
  if (step && *step == 0) reject("-i 0 never reaches the largest size; write for example -i 1M");
  std::vector<std::uint64_t> found;
  for (std::uint64_t size = least; size <= most;) {
    found.push_back(size);
    if (found.size() > most_sizes) {
      reject("-i " + format_bytes(*step) + " makes more than " + std::to_string(most_sizes) +
             " sizes; take larger steps");
    }
    // Zero times a factor would stay zero. A sum or product that overflows ends the list.
    const std::uint64_t next = step ? size + *step : std::max<std::uint64_t>(size, 1) * factor;
    if (next <= size) break;
    size = next;
  }
  return found;
}

std::string BenchSizes::step_text() const {
  if (!listed.empty()) return "0(list)";
  return step ? std::to_string(*step) + "(bytes)" : std::to_string(factor) + "(factor)";
}

}  // namespace tutti::cli
