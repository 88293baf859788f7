#include <tutti/communicator.hpp>

#include "api/communicator_impl.hpp"
#include "api/settings.hpp"
#include "rendezvous/rendezvous.hpp"

namespace tutti {

Communicator Communicator::from_environment() {
  CommunicatorSettings settings = settings_from_environment();
  const Launch launch = read_environment(environment_variable);
  settings.fabric.secret = launch.secret;
  const auto exchange = open_exchange(launch, Clock::now() + launch.timeout);
  return Communicator(std::make_unique<Impl>(*exchange, launch.rank, launch.size, settings));
}

}  // namespace tutti
