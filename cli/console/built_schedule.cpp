#include "cli/console/built_schedule.hpp"

#include <unistd.h>

#include <tutti/error.hpp>
#include <tutti/schedule/closed_form.hpp>

#include "core/quantity.hpp"

namespace tutti::cli {
namespace {

/// The least memory of the two steps of a message.
constexpr std::uint64_t least_message_bytes = 40;

std::uint64_t machine_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return ~std::uint64_t{0};
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
}

}  // namespace

Schedule built_schedule(const Algorithm& algorithm, const Problem& problem) {
  const Contract contract = algorithm.contract(problem);
  const std::uint64_t messages =
      closed_form(algorithm.name).figures(problem, contract.chunks).messages;
  if (messages > machine_memory() / least_message_bytes) {
    throw Error(ErrorCode::unsupported, std::string(algorithm.name) + " on " +
                                            with_commas(problem.ranks) + " ranks has " +
                                            with_commas(messages) +
                                            " messages, which do not fit into the memory of this "
                                            "machine; ask for fewer ranks");
  }
  return algorithm.schedule(problem);
}

}  // namespace tutti::cli
