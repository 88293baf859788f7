#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "backend.hpp"
#include "collective_call.hpp"
#include "failure.hpp"

// The barrier, and the one that tells which ranks are missing.

namespace tutti_torch {

Backend::WorkPointer Backend::barrier(const c10d::BarrierOptions& opts) {
  Launch launch = launch_of(c10d::OpType::BARRIER, "tutti:barrier", opts);
  const tuttiCall_t call = collective_call(tuttiCollBarrier, launch.timeout);
  return start(std::move(launch), [call](tuttiComm_t comm) { run(call, comm, "barrier"); });
}

/// Goes through the store: a rank that does not come must not make the communicator fail, and rank
/// 0 can tell which ranks have come.
void Backend::monitoredBarrier(const c10d::BarrierOptions& opts, bool wait_all_ranks) {
  const auto timeout = opts.timeout.count() < 0 ? timeout_of(opts.timeout) : opts.timeout;
  const std::string prefix = "tutti/monitored/" + std::to_string(++monitored_) + "/";
  const std::string verdict = prefix + "verdict";
  if (rank_ == 0) {
    std::string outcome = "failed";
    try {
      monitor(prefix, timeout, wait_all_ranks);
      outcome = "passed";
    } catch (...) {
      store_->set(verdict, outcome);
      throw;
    }
    store_->set(verdict, outcome);
    return;
  }
  const std::string own = "Rank " + std::to_string(rank_);
  std::string reason = "it did not pass the barrier";
  try {
    store_->set(prefix + std::to_string(rank_), "here");
    // Rank 0 may begin to wait for this rank as late as this one began to wait for it.
    store_->wait({verdict}, 2 * timeout + std::chrono::milliseconds(100));
    if (store_->get_to_str(verdict) == "passed") return;
  } catch (const std::exception& error) {
    reason = error.what();
  }
  fail("monitored_barrier", own +
                                " successfully reached monitoredBarrier, but received errors while "
                                "waiting for send/recv from rank 0. Please check rank 0 logs for "
                                "faulty rank. Original error: " +
                                reason);
}

void Backend::monitor(const std::string& prefix, std::chrono::milliseconds timeout,
                      bool wait_all_ranks) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  const std::string limit = std::to_string(timeout.count()) + " ms";
  if (timeout.count() <= 0) {
    fail("monitored_barrier", "Rank 0 timed out in monitoredBarrier after " + limit);
  }
  std::string missing;
  int count = 0;
  for (int rank = 1; rank < size_; ++rank) {
    const std::string key = prefix + std::to_string(rank);
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    try {
      store_->wait({key}, std::max(left, std::chrono::milliseconds(1)));
    } catch (const std::exception&) {
      if (!wait_all_ranks) {
        fail("monitored_barrier", "[Rank 0]: Rank " + std::to_string(rank) +
                                      " failed to pass monitoredBarrier in " + limit);
      }
      missing += (count++ == 0 ? "" : ", ") + std::to_string(rank);
    }
  }
  if (count == 0) return;
  fail("monitored_barrier",
       "[Rank 0]: Ranks " + missing + " failed to pass monitoredBarrier in " + limit);
}

}  // namespace tutti_torch
