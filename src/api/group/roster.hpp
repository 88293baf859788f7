#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <tutti/exchange.hpp>
#include <tutti/shape.hpp>

#include "api/group/rank_descriptor.hpp"
#include "transport/table.hpp"
#include "transport/transport.hpp"

namespace tutti {

/// Where each member of a fabric runs: the descriptors that all members have exchanged.
class Roster {
 public:
  /// The ranks of a host, and the cores that they may run on.
  struct HostLoad {
    std::size_t ranks = 0;
    std::set<int> cores{};

    [[nodiscard]] bool is_crowded() const { return ranks > std::max<std::size_t>(cores.size(), 1); }
  };

  /// Exchanges descriptors. Throws on all ranks alike: mismatch if the ranks were given different
  /// transports, unsupported if one of them cannot take part.
  Roster(Exchange& exchange, std::uint32_t self, std::uint32_t ranks,
         const FabricSettings& settings);

  [[nodiscard]] std::uint32_t self() const { return self_; }
  [[nodiscard]] std::uint32_t size() const {
    return static_cast<std::uint32_t>(descriptors_.size());
  }
  [[nodiscard]] const RankDescriptor& operator[](std::uint32_t member) const {
    return descriptors_[member];
  }
  [[nodiscard]] const RankDescriptor& own() const { return descriptors_[self_]; }
  [[nodiscard]] const std::vector<Whereabouts>& members() const { return members_; }

  /// Whether all members reach each other by the loopback interface.
  [[nodiscard]] bool is_one_network() const { return is_one_network_; }
  /// Whether all members are threads of one process.
  [[nodiscard]] bool is_one_process() const { return is_one_process_; }
  /// Whether this member's host has a core for each of its members.
  [[nodiscard]] bool is_roomy() const;

  /// All members.
  [[nodiscard]] Membership everyone() const;
  /// By host.
  [[nodiscard]] std::map<std::string, HostLoad> hosts_of(const Membership& membership) const;
  /// Ranks per host x hosts. Empty if the hosts do not have equally many consecutive ranks.
  [[nodiscard]] Shape shape_of_hosts(const Membership& membership) const;

 private:
  void require_no_trouble() const;

  std::uint32_t self_;
  std::vector<RankDescriptor> descriptors_;
  std::vector<Whereabouts> members_;
  bool is_one_network_ = true;
  bool is_one_process_ = false;
};

}  // namespace tutti
