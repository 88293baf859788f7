#include "render/volume.hpp"

#include <array>
#include <cstdio>

#include <tutti/schedule/bounds.hpp>
#include <tutti/schedule/figures.hpp>

namespace tutti::render {
namespace {

std::string rounded(std::uint64_t bytes, std::uint64_t data, int digits) {
  std::array<char, 32> text{};
  const double share = static_cast<double>(bytes) / static_cast<double>(data);
  std::snprintf(text.data(), text.size(), "%.*g", digits, share);
  return text.data();
}

/// True if 1.998 would be written as 2.
bool reads_as_whole(std::uint64_t bytes, std::uint64_t data, int digits) {
  return bytes % data != 0 && rounded(bytes, data, digits).find('.') == std::string::npos;
}

}  // namespace

std::string volume_text(const Schedule& schedule) {
  const Contract& contract = schedule.contract;
  if (contract.collective == Collective::barrier) return "";
  // Every bound is a multiple of n/p. So in chunks of p bytes it is a whole number, and is not
  // rounded up. An alltoall numbers the chunks of all ranks; the data is that of one.
  const bool pairs = contract.collective == Collective::alltoall;
  const std::uint64_t data = pairs ? contract.chunks : contract.chunks * contract.ranks;
  const std::uint64_t sent =
      count(schedule, Layout::equal(contract.chunks, contract.ranks)).most_sent;
  const std::uint64_t least = bounds(contract.collective, contract.ranks, data).most_sent;
  const auto misleads = [&](int digits) {
    return (sent != least && rounded(sent, data, digits) == rounded(least, data, digits)) ||
           reads_as_whole(sent, data, digits) || reads_as_whole(least, data, digits);
  };
  constexpr int usual_digits = 3;
  constexpr int most_digits = 15;
  int digits = usual_digits;
  while (digits < most_digits && misleads(digits)) ++digits;
  return "no rank sends more than " + rounded(sent, data, digits) + " times the data (" +
         rounded(least, data, digits) + " is the least possible)";
}

}  // namespace tutti::render
