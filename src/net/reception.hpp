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

/// Where lower ranks of the group knock: a listening socket, and those who have not yet proved who
/// they are. How many these are and how long they may take is bounded, so that strangers can
/// neither fill the memory nor keep others out for long. Who is sent away is told to stderr.
class Reception {
 public:
  struct Guest {
    std::uint32_t rank;
    Channel channel;
  };

  static constexpr std::size_t most_strangers = 64;

  /// Which ranks of the group are let in. A higher one does not come to stay: it asks to be called.
  enum class Callers : std::uint8_t { lower, all };

  /// The watch and the secret must outlive this.
  Reception(Socket listener, Watch& watch, const Secret& secret, std::string group, Rank self,
            Callers callers = Callers::lower);
  ~Reception();
  Reception(const Reception&) = delete;
  Reception& operator=(const Reception&) = delete;

  /// Lets in who knocks, as far as there are places.
  void open_door(Clock::time_point now);
  /// Whether somebody may still be waiting outside: let open_door() be called again in a while,
  /// though nothing has happened.
  [[nodiscard]] bool is_shut() const { return is_shut_; }
  /// Of descriptors for those who knock.
  [[nodiscard]] const DescriptorShortage& shortage() const { return shortage_; }
  /// Goes on with the stranger at this place, who may turn out to be a rank.
  [[nodiscard]] std::optional<Guest> advance(std::uint32_t place);
  /// Sends away who has taken too long.
  void close_late(Clock::time_point now);

  [[nodiscard]] std::size_t strangers() const { return strangers_; }
  /// Why somebody was last sent away; empty if nobody was.
  [[nodiscard]] const std::string& last_refusal() const { return last_refusal_; }

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
  void turn_away(Place& place, const std::string& why);

  Socket listener_;
  Watch& watch_;
  const Secret& secret_;
  std::string group_;
  Rank self_;
  Callers callers_;
  std::vector<Place> places_;
  std::size_t strangers_ = 0;
  bool is_shut_ = false;
  DescriptorShortage shortage_;
  std::string last_refusal_;
  RejectionLog log_;
};

}  // namespace tutti
