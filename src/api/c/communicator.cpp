#include <algorithm>
#include <optional>

#include <tutti/network/network_file.hpp>
#include <tutti/store.hpp>
#include <tutti/tutti.h>

#include "api/c/config.hpp"
#include "api/c/handles.hpp"

static_assert(tutti::UniqueId::longest < TUTTI_UNIQUE_ID_BYTES);

namespace tutti {
namespace {

std::string text_of(const tuttiUniqueId& id) {
  return {std::begin(id.internal), std::find(std::begin(id.internal), std::end(id.internal), '\0')};
}

/// Where to store a new communicator. Set to null first, so that it is null after a failure.
tuttiComm_t& place_for(tuttiComm_t* comm, const char* name) {
  return pointed_to(comm, name) = nullptr;
}

std::string address_from(const char* at) {
  if (at != nullptr) return at;
  throw Error(ErrorCode::invalid_argument,
              "at is NULL: pass the address on which rank 0 listens, such as 127.0.0.1:29600");
}

tuttiComm_t handle_of(Communicator communicator) {
  return new tuttiComm{.communicator = std::move(communicator)};
}

std::vector<int> in_c(const std::vector<std::uint32_t>& ranks) {
  return {ranks.begin(), ranks.end()};
}

/// A Store that calls the functions of a tuttiStore_t.
class CallersStore final : public Store {
 public:
  explicit CallersStore(const tuttiStore_t& store) : store_(store) {
    if (store.set != nullptr && store.get != nullptr) return;
    throw Error(ErrorCode::invalid_argument, "store->set or store->get is NULL");
  }

  void set(const std::string& key, const std::string& value) override {
    if (store_.set(store_.context, key.c_str(), value.data(), value.size()) == 0) return;
    throw Error(ErrorCode::aborted, "the store could not set " + key);
  }

  [[nodiscard]] std::string get(const std::string& key) override {
    std::string value(4096, '\0');
    for (int attempt = 0; attempt < 2; ++attempt) {
      std::size_t bytes = 0;
      if (store_.get(store_.context, key.c_str(), value.data(), value.size(), &bytes) != 0) break;
      const bool fits = bytes <= value.size();
      value.resize(bytes);
      if (fits) return value;
    }
    throw Error(ErrorCode::timed_out, "the store could not get " + key +
                                          ": check that all ranks run and use the same prefix");
  }

 private:
  tuttiStore_t store_;
};

void init_rank(tuttiComm_t* comm, int nranks, const tuttiUniqueId& id, int rank,
               const tuttiConfig_t* config) {
  tuttiComm_t& place = place_for(comm, "comm");
  place = handle_of(Communicator::create(UniqueId(text_of(id)), rank_from(rank, "rank"),
                                         rank_from(nranks, "nranks"), options_of(config)));
}

void init_from_environment(tuttiComm_t* comm, const tuttiConfig_t* config) {
  tuttiComm_t& place = place_for(comm, "comm");
  place = handle_of(Communicator::from_environment(options_of(config)));
}

void split(tuttiComm_t comm, int color, int key, tuttiComm_t* newcomm,
           const tuttiConfig_t* config) {
  Communicator& parent = communicator_of(comm);
  const bool colored = color != TUTTI_SPLIT_NOCOLOR;
  if (colored || newcomm != nullptr) place_for(newcomm, "newcomm");
  std::optional<std::uint32_t> asked;
  if (colored) asked = rank_from(color, "color");
  // Keys may be negative; flipping the sign bit keeps their order as unsigned numbers.
  constexpr std::uint32_t middle = std::uint32_t{1} << 31;
  std::optional<Communicator> part =
      parent.split(asked, static_cast<std::uint32_t>(key) ^ middle, options_of(config));
  if (part) *newcomm = handle_of(*std::move(part));
}

void join(const char* at, std::int64_t timeout_ms, tuttiComm_t* newcomm,
          const tuttiConfig_t* config) {
  const std::string address = address_from(at);
  if (timeout_ms <= 0) throw Error(ErrorCode::invalid_argument, "timeout_ms is not above 0");
  tuttiComm_t& place = place_for(newcomm, "newcomm");
  place = handle_of(
      Communicator::join(address, std::chrono::milliseconds(timeout_ms), options_of(config)));
}

}  // namespace
}  // namespace tutti

using namespace tutti;

// Communicators -------------------------------------------------------------------------------

tuttiResult_t tuttiGetUniqueId(tuttiUniqueId* id) {
  return guarded(__func__, [&] {
    tuttiUniqueId& place = pointed_to(id, "id");
    place = {};
    const std::string text = UniqueId::make().text();
    std::copy(text.begin(), text.end(), std::begin(place.internal));
  });
}

tuttiResult_t tuttiCommInitRank(tuttiComm_t* comm, int nranks, tuttiUniqueId id, int rank) {
  return guarded(__func__, [&] { init_rank(comm, nranks, id, rank, nullptr); });
}

tuttiResult_t tuttiCommInitRankConfig(tuttiComm_t* comm, int nranks, tuttiUniqueId id, int rank,
                                      const tuttiConfig_t* config) {
  return guarded(__func__, [&] { init_rank(comm, nranks, id, rank, config); });
}

tuttiResult_t tuttiCommInitFromEnvironment(tuttiComm_t* comm) {
  return guarded(__func__, [&] { init_from_environment(comm, nullptr); });
}

tuttiResult_t tuttiCommInitFromEnvironmentConfig(tuttiComm_t* comm, const tuttiConfig_t* config) {
  return guarded(__func__, [&] { init_from_environment(comm, config); });
}

tuttiResult_t tuttiCommInitFromStore(tuttiComm_t* comm, int nranks, int rank,
                                     const tuttiStore_t* store, const char* prefix,
                                     const tuttiConfig_t* config) {
  return guarded(__func__, [&] {
    tuttiComm_t& place = place_for(comm, "comm");
    const CommunicatorOptions options = options_of(config);
    CallersStore callers(pointed_to(store, "store"));
    const std::uint32_t self = rank_from(rank, "rank");
    const std::uint32_t ranks = rank_from(nranks, "nranks");
    StoreExchange exchange(callers, &pointed_to(prefix, "prefix"), self, ranks);
    place = handle_of(Communicator::create(exchange, self, ranks, options));
  });
}

tuttiResult_t tuttiCommDestroy(tuttiComm_t comm) {
  return guarded(__func__, [&] { delete &pointed_to(comm, "comm"); });
}

tuttiResult_t tuttiCommAbort(tuttiComm_t comm, const char* reason) {
  return guarded(__func__, [&] {
    communicator_of(comm).abort(reason == nullptr ? "no reason was given" : reason);
  });
}

tuttiResult_t tuttiCommCount(tuttiComm_t comm, int* count) {
  return guarded(__func__, [&] {
    pointed_to(count, "count") = static_cast<int>(communicator_of(comm).size());
  });
}

tuttiResult_t tuttiCommUserRank(tuttiComm_t comm, int* rank) {
  return guarded(
      __func__, [&] { pointed_to(rank, "rank") = static_cast<int>(communicator_of(comm).rank()); });
}

tuttiResult_t tuttiCommSplit(tuttiComm_t comm, int color, int key, tuttiComm_t* newcomm) {
  return guarded(__func__, [&] { split(comm, color, key, newcomm, nullptr); });
}

tuttiResult_t tuttiCommSplitConfig(tuttiComm_t comm, int color, int key, tuttiComm_t* newcomm,
                                   const tuttiConfig_t* config) {
  return guarded(__func__, [&] { split(comm, color, key, newcomm, config); });
}

tuttiResult_t tuttiCommDuplicate(tuttiComm_t comm, tuttiComm_t* newcomm) {
  return tuttiCommDuplicateConfig(comm, newcomm, nullptr);
}

tuttiResult_t tuttiCommDuplicateConfig(tuttiComm_t comm, tuttiComm_t* newcomm,
                                       const tuttiConfig_t* config) {
  return guarded(__func__, [&] {
    tuttiComm_t& place = place_for(newcomm, "newcomm");
    place = handle_of(communicator_of(comm).duplicate(options_of(config)));
  });
}

tuttiResult_t tuttiCommVerdict(tuttiComm_t comm, tuttiVerdict_t* verdict) {
  return guarded(__func__, [&] {
    tuttiVerdict_t& place = pointed_to(verdict, "verdict");
    const std::optional<Verdict> found = communicator_of(comm).verdict();
    comm->verdict_reason = found ? found->words : "";
    comm->verdict_ranks = found ? in_c(found->ranks) : std::vector<int>();
    place = {.result = found ? result_of(found->code) : tuttiSuccess,
             .reason = comm->verdict_reason.c_str(),
             .ranks = comm->verdict_ranks.data(),
             .nranks = comm->verdict_ranks.size()};
  });
}

tuttiResult_t tuttiCommGone(tuttiComm_t comm, const int** ranks, size_t* nranks) {
  return guarded(__func__, [&] {
    const std::vector<int>& gone = pointed_to(comm, "comm").gone;
    pointed_to(ranks, "ranks") = gone.data();
    pointed_to(nranks, "nranks") = gone.size();
  });
}

tuttiResult_t tuttiCommShrink(tuttiComm_t comm, tuttiComm_t* newcomm) {
  return guarded(__func__, [&] {
    Communicator& parent = communicator_of(comm);
    tuttiComm_t& place = place_for(newcomm, "newcomm");
    Regrouped shrunk = parent.shrink();
    place = handle_of(*std::move(shrunk.communicator));
    place->gone = in_c(shrunk.gone);
  });
}

tuttiResult_t tuttiCommGrow(tuttiComm_t comm, const char* at, tuttiComm_t* newcomm) {
  return guarded(__func__, [&] {
    Communicator& parent = communicator_of(comm);
    const std::string address = address_from(at);
    tuttiComm_t& place = place_for(newcomm, "newcomm");
    Regrouped grown = parent.grow({.at = address});
    if (grown.communicator) place = handle_of(*std::move(grown.communicator));
  });
}

tuttiResult_t tuttiCommJoin(const char* at, int64_t timeout_ms, tuttiComm_t* newcomm) {
  return guarded(__func__, [&] { join(at, timeout_ms, newcomm, nullptr); });
}

tuttiResult_t tuttiCommJoinConfig(const char* at, int64_t timeout_ms, tuttiComm_t* newcomm,
                                  const tuttiConfig_t* config) {
  return guarded(__func__, [&] { join(at, timeout_ms, newcomm, config); });
}

tuttiResult_t tuttiCommCounters(tuttiComm_t comm, tuttiCounters_t* counters) {
  return guarded(__func__, [&] {
    const Communicator& communicator = communicator_of(comm);
    tuttiCounters_t& sum = pointed_to(counters, "counters") = {};
    for (const Collective collective : collectives()) {
      const Counters each = communicator.counters(collective);
      const PeerCounters total = each.total();
      sum.calls += each.calls;
      sum.bytes_sent += total.bytes_sent;
      sum.bytes_received += total.bytes_received;
      sum.messages_sent += total.messages_sent;
      sum.messages_received += total.messages_received;
    }
  });
}
