#include <algorithm>
#include <cstdio>

#include <tutti/communicator.hpp>

#include "api/communicator_impl.hpp"
#include "api/communicator_options.hpp"
#include "api/group/unique_id.hpp"
#include "api/settings.hpp"
#include "rendezvous/rendezvous.hpp"

/// New groups: of ranks that a launcher started, that share an Exchange, or that know a UniqueId.
namespace tutti {
namespace {

void require_rank(std::uint32_t rank, std::uint32_t ranks) {
  if (rank < ranks) return;
  throw Error(ErrorCode::invalid_argument, "rank " + std::to_string(rank) + " of " +
                                               std::to_string(ranks) +
                                               ": a rank must be below the number of ranks");
}

/// The same ranks, numbered in another order.
Communicator in_order(Communicator& all, const std::vector<Rank>& order) {
  const auto place = std::find(order.begin(), order.end(), all.rank());
  return std::move(*all.split(0, static_cast<std::uint32_t>(place - order.begin())));
}

}  // namespace

Communicator Communicator::from_environment(const CommunicatorOptions& options) {
  Launch launch = read_environment(environment_variable);
  CommunicatorSettings settings = settings_of(options, launch.size);
  if (options.secret.empty()) settings.fabric.secret = launch.secret;
  launch.secret = settings.fabric.secret;
  if (options.timeout.count() > 0) launch.timeout = settings.fabric.start_timeout;
  // Only rank 0: the other ranks most likely have the same variables.
  if (launch.rank == Rank{0}) std::fputs(unknown_variables().c_str(), stderr);
  const std::vector<Rank> order = order_from_environment(settings, launch.size);
  const auto exchange = open_exchange(launch, Clock::now() + launch.timeout);
  Communicator all(std::make_unique<Impl>(*exchange, launch.rank, launch.size, settings));
  return order.empty() ? std::move(all) : in_order(all, order);
}

Communicator Communicator::create(Exchange& exchange, std::uint32_t rank, std::uint32_t ranks,
                                  const CommunicatorOptions& options) {
  require_rank(rank, ranks);
  CommunicatorSettings settings = settings_of(options, ranks);
  settings.fabric.trusts_exchange = true;
  return Communicator(std::make_unique<Impl>(exchange, rank, ranks, settings));
}

Communicator Communicator::create(const UniqueId& id, std::uint32_t rank, std::uint32_t ranks,
                                  const CommunicatorOptions& options) {
  CommunicatorSettings settings = settings_of(options, ranks);
  const Clock::duration timeout = settings.timeout;
  return tutti::join(id, rank, ranks, std::move(settings), {.timeout = timeout});
}

}  // namespace tutti
