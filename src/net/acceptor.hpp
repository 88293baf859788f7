#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tutti/rank.hpp>

#include "core/clock.hpp"
#include "core/descriptor_shortage.hpp"
#include "net/channel.hpp"
#include "net/handshake.hpp"
#include "net/rejection_log.hpp"
#include "net/watch.hpp"

namespace tutti {

/// Accepts connections from ranks of the group: a listening socket and the peers that have not yet
/// authenticated. Their number and time are bounded, so that unauthenticated peers can neither
/// exhaust memory nor keep ranks out for long. Rejections are logged to stderr.
class Acceptor {
 public:
  /// A rank that has authenticated.
  struct Peer {
    std::uint32_t rank;
    Channel channel;
  };

  /// Unauthenticated peers at a time, besides one for each rank.
  static constexpr std::size_t spare_places = 64;

  /// For a group of so many ranks: all of them may connect at once. The watch and the secret must
  /// outlive the acceptor.
  Acceptor(Socket listener, Watch& watch, const Secret& secret, std::string group, Rank self,
           std::uint32_t ranks);
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  /// Accepts pending connections while there are free places.
  void accept_pending(Clock::time_point now);
  /// True if connections may still be pending: call accept_pending() again later, even without an
  /// event.
  [[nodiscard]] bool may_be_pending() const { return may_be_pending_; }
  /// Shortage of descriptors for accepting.
  [[nodiscard]] const DescriptorShortage& shortage() const { return shortage_; }
  /// Continues the handshake of the peer at this place. Returns it once it has authenticated.
  [[nodiscard]] std::optional<Peer> advance(std::uint32_t place);
  /// Rejects peers that have taken too long.
  void close_late(Clock::time_point now);

  /// Number of unauthenticated peers.
  [[nodiscard]] std::size_t unauthenticated() const { return unauthenticated_; }
  /// The reason of the last rejection; empty if there was none.
  [[nodiscard]] const std::string& last_refusal() const { return last_refusal_; }
  /// Counts the rejections of peers whose secret or TLS setting differs from that of this rank.
  [[nodiscard]] std::uint64_t final_refusals() const { return final_refusals_; }

 private:
  struct Place {
    Channel channel;
    std::string from;
    std::optional<Handshake> handshake;
    Clock::time_point since;
  };

  [[nodiscard]] Place* next_place(Clock::time_point now);
  [[nodiscard]] Watch::Tag tag(const Place& place) const;
  Channel leave(Place& place);
  void reject(Place& place, const std::string& why);

  Socket listener_;
  Watch& watch_;
  const Secret& secret_;
  std::string group_;
  Rank self_;
  std::uint32_t ranks_;
  std::vector<Place> places_;
  std::size_t unauthenticated_ = 0;
  bool may_be_pending_ = false;
  DescriptorShortage shortage_;
  std::string last_refusal_;
  std::uint64_t final_refusals_ = 0;
  RejectionLog log_;
};

}  // namespace tutti
