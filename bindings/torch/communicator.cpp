#include "communicator.hpp"

#include <algorithm>
#include <iterator>

#include "collective_call.hpp"
#include "failure.hpp"
#include "store_bridge.hpp"

namespace tutti_torch {
namespace {

const char* text_or_none(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

tuttiConfig_t config_of(std::chrono::milliseconds timeout, const CommunicatorChoice& choice) {
  tuttiConfig_t config = TUTTI_CONFIG_INITIALIZER;
  config.timeout_ms = timeout.count();
  config.algorithm = text_or_none(choice.algorithm);
  config.transport = text_or_none(choice.transport);
  config.interfaces = text_or_none(choice.interfaces);
  // The lane makes one call at a time, but not always from the same thread.
  config.threads = 2;
  return config;
}

}  // namespace

std::shared_ptr<Communicator> Communicator::from_store(const c10::intrusive_ptr<c10d::Store>& store,
                                                       int rank, int size,
                                                       std::chrono::milliseconds timeout,
                                                       const CommunicatorChoice& choice) {
  StoreBridge bridge(store, timeout);
  const tuttiStore_t in_c = bridge.in_c();
  const tuttiConfig_t config = config_of(timeout, choice);
  const std::string prefix = StoreBridge::fresh_prefix(*store, "group", rank);
  tuttiComm_t comm = nullptr;
  const tuttiResult_t result =
      tuttiCommInitFromStore(&comm, size, rank, &in_c, prefix.c_str(), &config);
  if (result != tuttiSuccess && !bridge.failure().empty()) {
    fail("init_process_group",
         std::string(tuttiGetLastError(nullptr)) + "; the store said: " + bridge.failure());
  }
  require_success(result, "init_process_group", timeout);
  auto made = std::make_shared<Communicator>(comm);
  // The store may end with this rank: so no rank may need it any more when this returns.
  run(collective_call(tuttiCollBarrier, timeout), comm, "init_process_group");
  return made;
}

std::shared_ptr<Communicator> Communicator::from_id(const std::string& id, int rank, int size,
                                                    std::chrono::milliseconds timeout,
                                                    const CommunicatorChoice& choice) {
  tuttiUniqueId in_c{};
  if (id.size() >= sizeof in_c.internal) {
    refuse("reconfigure", "a handle has " + std::to_string(id.size()) +
                              " bytes: pass what get_reconfigure_handle() returned");
  }
  std::copy(id.begin(), id.end(), std::begin(in_c.internal));
  const tuttiConfig_t config = config_of(timeout, choice);
  tuttiComm_t comm = nullptr;
  require_success(tuttiCommInitRankConfig(&comm, size, in_c, rank, &config), "reconfigure",
                  timeout);
  return std::make_shared<Communicator>(comm);
}

std::string Communicator::make_id() {
  tuttiUniqueId id{};
  require_success(tuttiGetUniqueId(&id), "get_reconfigure_handle");
  return id.internal;
}

int Communicator::rank() const {
  int rank = 0;
  require_success(tuttiCommUserRank(comm_, &rank), "rank");
  return rank;
}

int Communicator::size() const {
  int size = 0;
  require_success(tuttiCommCount(comm_, &size), "size");
  return size;
}

Failure Communicator::failure() const {
  tuttiVerdict_t verdict{};
  require_success(tuttiCommVerdict(comm_, &verdict), "get_error");
  return {.result = verdict.result,
          .reason = verdict.reason,
          .ranks = {verdict.ranks, verdict.ranks + verdict.nranks}};
}

void Communicator::abort(const std::string& reason) const {
  require_success(tuttiCommAbort(comm_, reason.c_str()), "abort");
}

void Communicator::set_reproducible(tuttiReproducible_t level) const {
  require_success(tuttiCommSetReproducible(comm_, level), "options");
}

Communicator::Survivors Communicator::shrink() const {
  tuttiComm_t smaller = nullptr;
  require_success(tuttiCommShrink(comm_, &smaller), "shrink_group");
  Survivors survivors{.communicator = std::make_shared<Communicator>(smaller), .gone = {}};
  const int* ranks = nullptr;
  std::size_t count = 0;
  require_success(tuttiCommGone(smaller, &ranks, &count), "shrink_group");
  survivors.gone.assign(ranks, ranks + count);
  return survivors;
}

}  // namespace tutti_torch
