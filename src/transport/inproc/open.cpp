#include "transport/inproc/open.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <tutti/error.hpp>

#include "core/named_objects.hpp"
#include "transport/inproc/thread_memory.hpp"
#include "transport/inproc/thread_view.hpp"
#include "transport/memory/memory_transport.hpp"

namespace tutti::inproc {
namespace {

/// The memory of an arena with a stripe for each rank.
struct Stripes {
  Stripes(std::size_t stripe_bytes, std::uint32_t ranks)
      : bytes(stripe_bytes), memory(Arena::size(stripe_bytes, ranks)) {}

  std::size_t bytes;
  ThreadMemory memory;
};

/// A memory transport together with the memory that it uses.
class ThreadTransport final : public Transport {
 public:
  ThreadTransport(std::shared_ptr<Stripes> stripes, const TransportRequest& request)
      : stripes_(std::move(stripes)),
        transport_({.base = stripes_->memory.data(),
                    .stripe_bytes = stripes_->bytes,
                    .self = place(request),
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

 private:
  static std::uint32_t place(const TransportRequest& request) {
    const auto found = std::find(request.group.begin(), request.group.end(), request.self);
    return static_cast<std::uint32_t>(found - request.group.begin());
  }

  std::shared_ptr<Stripes> stripes_;
  ThreadView view_;
  MemoryTransport transport_;
  std::shared_ptr<Doorbells> doorbells_;
};

}  // namespace

/// Only if all members are threads of one process: otherwise all share memory through shm.
bool reaches(const Whereabouts& a, const Whereabouts& b) {
  return a.is_one_process && b.is_one_process;
}

std::unique_ptr<Transport> open(const TransportRequest& request, std::string& trouble) {
  std::shared_ptr<Stripes> stripes;
  std::string own;
  if (request.self == request.group.front()) {
    try {
      const auto ranks = static_cast<std::uint32_t>(request.group.size());
      stripes = Arena::make_stripes(
          ranks, [&](std::size_t bytes) { return std::make_shared<Stripes>(bytes, ranks); });
      own = NamedObjects<Stripes>::publish(stripes);
    } catch (const Error& error) {
      trouble = error.what();
    }
  }
  const std::string name = request.exchange.all_gather(own)[request.group.front()];
  if (!stripes) stripes = NamedObjects<Stripes>::find(name);
  if (!stripes) {
    if (trouble.empty()) trouble = "rank 0 could not allocate the shared memory";
    return nullptr;
  }
  return std::make_unique<ThreadTransport>(std::move(stripes), request);
}

}  // namespace tutti::inproc
