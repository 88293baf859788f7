#include "support/erratic/open.hpp"

#include <mutex>
#include <utility>

#include "core/named_objects.hpp"
#include "support/erratic/erratic_port.hpp"

namespace tutti::test::erratic {
namespace {

std::mutex mutex;
Temper temper;

class ErraticTransport final : public Transport {
 public:
  ErraticTransport(std::shared_ptr<Network> network, const Temper& its_temper)
      : network_(std::move(network)), temper_(its_temper) {}

  std::uint64_t offer(const Membership& /*membership*/) override { return 0; }
  std::unique_ptr<Port> open(const Membership& membership,
                             std::span<const std::uint64_t> /*offers*/) override {
    return std::make_unique<ErraticPort>(network_, membership, temper_);
  }

 private:
  std::shared_ptr<Network> network_;
  Temper temper_;
};

bool reaches(const Whereabouts& a, const Whereabouts& b) {
  return a.is_one_process && b.is_one_process;
}

std::unique_ptr<Transport> open(const TransportRequest& request, std::string& trouble) {
  std::shared_ptr<Network> network;
  std::string own;
  if (request.self == request.group.front()) {
    network = std::make_shared<Network>(static_cast<std::uint32_t>(request.members.size()));
    own = NamedObjects<Network>::publish(network);
  }
  const std::string name = request.exchange.all_gather(own)[request.group.front()];
  if (!network) network = NamedObjects<Network>::find(name);
  // The first rank keeps it until all have found it.
  (void)request.exchange.all_gather("");
  if (!network) {
    trouble = "the first rank has gone";
    return nullptr;
  }
  const std::lock_guard lock(mutex);
  return std::make_unique<ErraticTransport>(std::move(network), temper);
}

}  // namespace

void set_temper(const Temper& wanted) {
  const std::lock_guard lock(mutex);
  temper = wanted;
}

const TransportRow& row() {
  static constexpr TransportRow row{.name = "erratic",
                                    .choice = "erratic",
                                    .medium = "an erratic network",
                                    .shares_memory = false,
                                    .roomy = {},
                                    .crowded = {},
                                    .reaches = reaches,
                                    .open = open};
  return row;
}

}  // namespace tutti::test::erratic
