#include <cstdio>

#include <tutti/communicator.hpp>

#include "api/communicator_impl.hpp"
#include "api/settings.hpp"
#include "rendezvous/rendezvous.hpp"

namespace tutti {

Communicator Communicator::from_environment() {
  CommunicatorSettings settings = settings_from_environment();
  const Launch launch = read_environment(environment_variable);
  settings.fabric.secret = launch.secret;
  // The others have most likely been told the same.
  if (launch.rank == Rank{0}) std::fputs(unknown_variables().c_str(), stderr);
  const auto exchange = open_exchange(launch, Clock::now() + launch.timeout);
  return Communicator(std::make_unique<Impl>(*exchange, launch.rank, launch.size, settings));
}

}  // namespace tutti
