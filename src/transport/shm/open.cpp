#include "transport/shm/open.hpp"

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>

#include <tutti/error.hpp>

#include "transport/memory/memory_transport.hpp"
#include "transport/shm/heap_view.hpp"
#include "transport/shm/segment.hpp"

namespace tutti::shm {
namespace {

std::uint32_t place_of(const TransportRequest& request) {
  const auto found = std::find(request.group.begin(), request.group.end(), request.self);
  return static_cast<std::uint32_t>(found - request.group.begin());
}

std::vector<HeapView::Neighbour> heaps_of(const TransportRequest& request) {
  std::vector<HeapView::Neighbour> heaps;
  for (const std::uint32_t member : request.group) {
    const Whereabouts& where = request.members[member];
    heaps.push_back({.pid = where.pid, .heap_fd = where.heap_fd, .heap_file = where.heap_file});
  }
  return heaps;
}

/// A memory transport together with the segment and heaps that it uses.
class SegmentTransport final : public Transport {
 public:
  SegmentTransport(Segment segment, std::size_t stripe_bytes, const TransportRequest& request)
      : segment_(std::move(segment)),
        view_(heaps_of(request), place_of(request)),
        transport_({.base = segment_.data(),
                    .stripe_bytes = stripe_bytes,
                    .self = place_of(request),
                    .locals = request.group,
                    .view = &view_,
                    .patience = request.patience,
                    .doorbells = request.doorbells.get(),
                    .has_ended = request.has_ended}),
        doorbells_(request.doorbells) {}

  std::uint64_t offer(const Membership& membership) override {
    return transport_.offer(membership);
  }
  std::unique_ptr<Port> open(const Membership& membership,
                             std::span<const std::uint64_t> offers) override {
    return transport_.open(membership, offers);
  }
  void withdraw(std::uint64_t offer) override { transport_.withdraw(offer); }

  void close_door() { segment_.close_door(); }
  void permit_fetching() { view_.permit_fetching(); }

 private:
  Segment segment_;
  HeapView view_;
  MemoryTransport transport_;
  std::shared_ptr<Doorbells> doorbells_;
};

/// The segment that the first rank of a host offers to the others, and each rank's doorbell and
/// beacon.
struct Offer {
  Segment::Address segment{};
  std::size_t stripe_bytes = 0;
  Doorbells::Address doorbell{};
  CrossMemory::Beacon::Sight beacon{};

  [[nodiscard]] std::string text() const {
    std::ostringstream out;
    out << segment.pid << ' ' << segment.fd << ' ' << segment.bytes << ' ' << stripe_bytes << ' '
        << doorbell.pid << ' ' << doorbell.fd << ' ' << beacon.address << ' ' << beacon.value << ' '
        << segment.token;
    return out.str();
  }
  [[nodiscard]] static Offer read(const std::string& text) {
    Offer offer;
    std::istringstream in(text);
    in >> offer.segment.pid >> offer.segment.fd >> offer.segment.bytes >> offer.stripe_bytes >>
        offer.doorbell.pid >> offer.doorbell.fd >> offer.beacon.address >> offer.beacon.value >>
        offer.segment.token;
    return offer;
  }
};

/// How the opening went on one rank.
struct Outcome {
  bool can_fetch = false;  ///< It can read the private memory of the next rank of its host.
  std::string trouble{};   ///< Empty if it has opened the transport.

  [[nodiscard]] std::string text() const { return (can_fetch ? "+" : "-") + trouble; }
  [[nodiscard]] static Outcome read(const std::string& text) {
    return {.can_fetch = text.starts_with('+'),
            .trouble = text.substr(std::min<std::size_t>(1, text.size()))};
  }
};

/// After this all ranks have mapped the segment, so it can be closed to others. If one rank failed,
/// no rank uses it.
std::unique_ptr<Transport> agreed(const TransportRequest& request,
                                  std::unique_ptr<SegmentTransport> transport,
                                  std::span<const Offer> offers, std::string& trouble) {
  Outcome outcome{.trouble = trouble};
  if (request.group.size() > 1) {
    const std::uint32_t next = request.group[(place_of(request) + 1) % request.group.size()];
    outcome.can_fetch = CrossMemory::can_see(request.members[next].pid, offers[next].beacon);
  }
  std::vector<Outcome> outcomes;
  for (const std::string& text : request.exchange.all_gather(outcome.text())) {
    outcomes.push_back(Outcome::read(text));
  }
  if (transport) transport->close_door();
  const auto failed = std::find_if(outcomes.begin(), outcomes.end(),
                                   [](const Outcome& each) { return !each.trouble.empty(); });
  if (failed != outcomes.end()) {
    trouble = failed->trouble;
    return nullptr;
  }
  const bool all_can =
      std::all_of(request.group.begin(), request.group.end(),
                  [&](std::uint32_t member) { return outcomes[member].can_fetch; });
  if (transport && all_can) transport->permit_fetching();
  return transport;
}

}  // namespace

bool reaches(const Whereabouts& a, const Whereabouts& b) {
  return a.host == b.host && a.heap_fd >= 0 && b.heap_fd >= 0;
}

/// The first rank of each host creates the segment, and the other ranks there map it.
std::unique_ptr<Transport> open(const TransportRequest& request, std::string& trouble) {
  const bool shares = request.group.size() > 1;
  const bool makes = shares && request.group.front() == request.self;
  const CrossMemory::Beacon beacon;
  Offer own{.beacon = beacon.sight()};
  std::optional<Segment> segment;
  const auto attempt = [&](auto&& f) {
    if (!trouble.empty() || !shares) return;
    try {
      f();
    } catch (const Error& error) {
      trouble = error.what();
    }
  };
  attempt([&] {
    if (request.doorbells) own.doorbell = request.doorbells->address();
    if (!makes) return;
    const auto ranks = static_cast<std::uint32_t>(request.group.size());
    segment.emplace(Arena::make_stripes(ranks, [&](std::size_t stripe_bytes) {
      own.stripe_bytes = stripe_bytes;
      return Segment::create(Arena::size(stripe_bytes, ranks));
    }));
    own.segment = segment->address();
  });
  std::vector<Offer> offers;
  for (const std::string& text : request.exchange.all_gather(own.text())) {
    offers.push_back(Offer::read(text));
  }
  std::unique_ptr<SegmentTransport> transport;
  attempt([&] {
    const Offer& offer = offers[request.group.front()];
    if (offer.segment.token.empty()) {
      throw Error(ErrorCode::unsupported, "the first rank of this host offers no shared memory");
    }
    if (!segment) segment.emplace(Segment::open(offer.segment));
    transport =
        std::make_unique<SegmentTransport>(std::move(*segment), offer.stripe_bytes, request);
    if (!request.doorbells) return;
    std::vector<Doorbells::Address> doorbells;
    for (const std::uint32_t member : request.group) doorbells.push_back(offers[member].doorbell);
    request.doorbells->set_addresses(std::move(doorbells));
  });
  return agreed(request, std::move(transport), offers, trouble);
}

}  // namespace tutti::shm
