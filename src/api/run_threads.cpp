#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include <tutti/communicator.hpp>

#include "api/communicator_impl.hpp"
#include "api/settings.hpp"
#include "rendezvous/thread_exchange.hpp"

namespace tutti {

void run_threads(std::uint32_t ranks, const std::function<void(Communicator&)>& f) {
  if (ranks == 0) throw Error(ErrorCode::invalid_argument, "run_threads needs at least one rank");
  const CommunicatorSettings settings = settings_from_environment();
  ThreadTable table(ranks);
  std::exception_ptr failure;
  std::mutex mutex;
  const auto be = [&](std::uint32_t rank) {
    try {
      ThreadExchange exchange(table, Rank{rank}, Clock::now() + settings.timeout);
      Communicator communicator(
          std::make_unique<Communicator::Impl>(exchange, Rank{rank}, ranks, settings));
      f(communicator);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 1; rank < ranks; ++rank) threads.emplace_back(be, rank);
  be(0);
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tutti
