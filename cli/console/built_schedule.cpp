#include "cli/console/built_schedule.hpp"

#include <unistd.h>

#include <algorithm>

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

/// By formula. Without one it is estimated: no rank sends more messages than some of these.
std::uint64_t message_count(const Algorithm& algorithm, const Problem& problem,
                            std::uint64_t chunks) {
  if (const ClosedForm* const form = find_closed_form(algorithm.name)) {
    return form->figures(algorithm.completed(problem), chunks).messages;
  }
  std::uint64_t most = 0;
  for (const std::uint32_t r : {0U, problem.ranks / 2, problem.ranks - 1}) {
    std::uint64_t sent = 0;
    for (const Step step : algorithm.program(problem, r)) {
      if (step.kind == Step::Kind::send) sent += step.peers.size();
    }
    most = std::max(most, sent);
  }
  return most * problem.ranks;
}

}  // namespace

Schedule built_schedule(const Algorithm& algorithm, const Problem& problem) {
  const Contract contract = algorithm.contract(problem);
  const std::uint64_t messages = message_count(algorithm, problem, contract.chunks);
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
