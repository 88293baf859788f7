#include "support/port_group.hpp"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

#include "net/socket.hpp"
#include "rendezvous/thread_exchange.hpp"
#include "support/erratic/open.hpp"
#include "transport/memory/shared_heap.hpp"
#include "transport/mixed_port.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

const TransportRow& row_named(const std::string& name) {
  if (name == erratic::row().name) return erratic::row();
  const std::span<const TransportRow> all = transports();
  return *std::find_if(all.begin(), all.end(), [&](const auto& row) { return row.name == name; });
}

/// Exchanges the addresses of listening sockets on the loopback interface.
TransportRequest::Door open_door(Exchange& exchange) {
  TransportRequest::Door door{.secret = {"open sesame"}, .group = "test"};
  door.listener = listen_on(Endpoint::parse("127.0.0.1:0"), {});
  for (const std::string& text : exchange.all_gather(bound_to(door.listener).text())) {
    door.contacts.push_back({.host = "here", .endpoints = {Endpoint::parse(text)}});
  }
  return door;
}

}  // namespace

struct PortGroup::End {
  std::vector<Whereabouts> members{};
  std::shared_ptr<Doorbells> doorbells{};
  std::vector<std::unique_ptr<Transport>> transports{};
  std::vector<std::uint8_t> ways{};  // By rank: which transport reaches it.
  std::unique_ptr<Port> port{};
};

PortGroup::PortGroup(const std::string& kind, std::uint32_t ranks) {
  for (std::uint32_t r = 0; r < ranks; ++r) ends_.push_back(std::make_unique<End>());
  ThreadGather gather(ranks);
  const std::uint64_t context = ++contexts_;
  all([&](std::uint32_t rank) {
    ThreadExchange exchange(gather, rank, Clock::now() + 60s);
    open_transports(rank, kind, exchange);
    ends_[rank]->port = open_port(rank, exchange, context);
  });
}

/// At the same time: one that closes may wait for the others.
PortGroup::~PortGroup() {
  all([&](std::uint32_t rank) { ends_[rank].reset(); });
}

Port& PortGroup::port(std::uint32_t rank) { return *ends_[rank]->port; }

std::vector<std::unique_ptr<Port>> PortGroup::another() {
  std::vector<std::unique_ptr<Port>> ports(ends_.size());
  ThreadGather gather(size());
  const std::uint64_t context = ++contexts_;
  all([&](std::uint32_t rank) {
    ThreadExchange exchange(gather, rank, Clock::now() + 60s);
    ports[rank] = open_port(rank, exchange, context);
  });
  return ports;
}

void PortGroup::open_transports(std::uint32_t rank, const std::string& kind, Exchange& exchange) {
  End& end = *ends_[rank];
  const SharedHeap& heap = SharedHeap::own();
  end.members.assign(size(), {.host = "here",
                              .network = "here",
                              .name = "here",
                              .pid = getpid(),
                              .heap_fd = heap.fd(),
                              .heap_file = heap.file(),
                              .is_one_process = true});
  const bool is_mixed = kind == "mixed";
  if (is_mixed) end.doorbells = std::make_shared<Doorbells>();
  std::vector<std::string> rows{kind};
  if (is_mixed) rows = {"shm", "tcp"};
  const auto is_near = [&](std::uint32_t other) {
    return (other < size() / 2) == (rank < size() / 2);
  };
  end.ways.resize(size());
  for (std::uint8_t i = 0; i < rows.size(); ++i) {
    const TransportRow& row = row_named(rows[i]);
    TransportRequest request{.exchange = exchange,
                             .self = rank,
                             .members = end.members,
                             .group = {},
                             .patience = {.spins = 10, .yields = 50},
                             .doorbells = end.doorbells,
                             .has_ended = [](std::uint32_t) { return false; },
                             .open_door = [&] { return open_door(exchange); },
                             .closing_timeout = 2s};
    for (std::uint32_t other = 0; other < size(); ++other) {
      const bool is_mine = !is_mixed || other == rank || is_near(other) == row.shares_memory;
      if (!is_mine) continue;
      request.group.push_back(other);
      if (other != rank) end.ways[other] = i;
    }
    std::string trouble;
    end.transports.push_back(row.open(request, trouble));
    if (!trouble.empty()) throw std::runtime_error(trouble);
  }
}

std::unique_ptr<Port> PortGroup::open_port(std::uint32_t rank, Exchange& exchange,
                                           std::uint64_t context) {
  End& end = *ends_[rank];
  Membership membership{.context = context, .self = rank, .members = {}};
  for (std::uint32_t r = 0; r < size(); ++r) membership.members.push_back(r);
  std::vector<std::unique_ptr<Port>> ports;
  for (const auto& transport : end.transports) {
    // A rank that is alone on its host needs none there, but the others exchange their offers.
    std::vector<std::uint64_t> offers;
    const std::string own = std::to_string(transport ? transport->offer(membership) : 0);
    for (const std::string& text : exchange.all_gather(own)) offers.push_back(std::stoull(text));
    if (transport) ports.push_back(transport->open(membership, offers));
  }
  if (ports.size() == 1) return std::move(ports.front());
  return std::make_unique<MixedPort>(std::move(ports), end.ways);
}

void PortGroup::all(const std::function<void(std::uint32_t)>& work) const {
  std::vector<std::thread> threads;
  std::exception_ptr failure;
  std::mutex mutex;
  for (std::uint32_t rank = 0; rank < ends_.size(); ++rank) {
    threads.emplace_back([&, rank] {
      try {
        work(rank);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

std::vector<std::string> port_group_kinds() {
  std::vector<std::string> kinds;
  for (const TransportRow& row : transports()) kinds.emplace_back(row.name);
  kinds.emplace_back("mixed");
  kinds.emplace_back(erratic::row().name);
  return kinds;
}

}  // namespace tutti::test
