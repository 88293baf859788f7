#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/descriptor_shortage.hpp"
#include "net/handshake.hpp"
#include "rendezvous/framed_channel.hpp"
#include "rendezvous/group.hpp"

namespace tutti {

/// Seeks rank 0 at all addresses that it may have, over and over, until one answers that knows the
/// secret.
class Dialer {
 public:
  using Finder = std::function<std::vector<Endpoint>()>;

  Dialer(const Group& group, Finder find_root);

  /// A connection to rank 0, which has yet to be told that this is the one. Throws timed_out, or
  /// mismatch if it has another secret or only one of the two encrypts. Call it again if that
  /// connection proves to be no good: `why` is then part of the story.
  [[nodiscard]] FramedChannel dial(Clock::time_point deadline);
  void was_no_good(const std::string& why);

 private:
  /// One address and how it went there.
  struct Attempt {
    Endpoint at{};
    Channel channel{};
    std::optional<Handshake> handshake{};
    bool wants_to_write = false;
    Clock::time_point next{};
    Clock::duration pause{};
    std::string failure = "not tried yet";
    int final_refusals = 0;
  };

  void find();
  void begin(Attempt& attempt);
  /// Whether this is it.
  [[nodiscard]] bool go_on(Attempt& attempt);
  void give_up(Attempt& attempt, const std::string& why);
  void wait(Clock::time_point deadline) const;
  [[noreturn]] void fail_late() const;

  const Group& group_;
  Finder find_root_;
  std::vector<Attempt> attempts_;
  Clock::time_point begun_;
  Clock::time_point next_find_{};
  std::string not_found_;
  std::size_t chosen_ = 0;
  DescriptorShortage shortage_;
};

}  // namespace tutti
