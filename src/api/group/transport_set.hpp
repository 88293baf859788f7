#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/group/fabric_settings.hpp"
#include "api/group/roster.hpp"
#include "transport/table.hpp"
#include "transport/transport.hpp"

namespace tutti {

/// The open transports of a member, and which of them reaches which other member.
///
/// Each pair of members uses the first transport of the table that reaches both. All members open
/// the same transports in the same order, so that their exchanges match. A transport that fails on
/// one member is used by none, and the next one of the table takes its place.
class TransportSet {
 public:
  struct Opening {
    Exchange& exchange;
    std::string choice{};  ///< As FabricSettings::transport.
    std::function<bool(std::uint32_t member)> has_ended;
    std::function<TransportRequest::Door()> listen;
    Clock::duration closing_timeout{};
  };

  /// Throws unsupported if the ranks must share memory and cannot. The roster must outlive this.
  TransportSet(const Roster& roster, const Opening& opening);

  [[nodiscard]] std::size_t size() const { return open_.size(); }
  [[nodiscard]] Transport& transport(std::size_t index) const { return *open_[index].transport; }

  /// The index of the transport by which this member reaches another one.
  [[nodiscard]] std::size_t index_for(std::uint32_t member) const { return by_member_[member]; }
  /// Whether this member needs the transport in that communicator.
  [[nodiscard]] bool serves(std::size_t index, const Membership& membership) const;

  /// Whether this member reaches others of the communicator by their shared heaps.
  [[nodiscard]] bool maps_heaps(const Membership& membership) const;

  /// By what data travels between ranks of the communicator that share memory, or that do not;
  /// none if there is no such pair. The same on all ranks.
  [[nodiscard]] std::optional<std::string> medium_in(const Membership& membership,
                                                     bool shares_memory) const;

 private:
  using Rows = std::span<const TransportRow* const>;
  struct Open {
    const TransportRow* row;
    std::unique_ptr<Transport> transport;
  };

  [[nodiscard]] bool try_to_open(const Opening& opening, std::vector<const TransportRow*>& rows,
                                 std::string& trouble);
  [[nodiscard]] std::vector<bool> used_rows(Rows rows, const std::string& trouble) const;
  [[nodiscard]] std::optional<std::size_t> row_between(Rows rows, std::uint32_t a,
                                                       std::uint32_t b) const;
  [[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> kinds_of_pairs(
      std::span<const std::uint32_t> members) const;

  const Roster& roster_;
  std::vector<Open> open_;
  std::vector<std::size_t> by_member_;  // Indices of open_.
};

}  // namespace tutti
