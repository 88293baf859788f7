#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "support/erratic/open.hpp"
#include "support/random.hpp"
#include "transport/transport.hpp"

namespace tutti::test::erratic {

/// What has been sent with one post and is not yet consumed.
struct Delivery {
  std::uint32_t tag = 0;
  const std::byte* data = nullptr;
  std::size_t left = 0;
  std::uint32_t delay = 0;        ///< How many polls do not see it.
  std::vector<std::byte> copy{};  ///< Empty if `data` is the sender's own memory.
};

/// All that the members share.
struct Network {
  /// The stream from one rank of a communicator to another.
  struct Stream {
    std::deque<Delivery> deliveries{};
    bool is_open = false;  ///< The receiver reads the first delivery.
  };
  struct Group {
    explicit Group(std::uint32_t ranks) : streams(ranks * ranks), has_revoked(ranks) {}

    std::vector<Stream> streams;  ///< By sender, then by receiver.
    std::vector<bool> has_revoked;
  };

  explicit Network(std::uint32_t members) : is_dead(members) {}

  std::mutex mutex{};
  std::condition_variable news{};
  std::map<std::uint64_t, std::shared_ptr<Group>> groups{};  ///< By context.
  std::vector<bool> is_dead;                                 ///< By member.
};

class ErraticPort final : public Port {
 public:
  ErraticPort(std::shared_ptr<Network> network, const Membership& membership, const Temper& temper);
  ~ErraticPort() override;
  ErraticPort(const ErraticPort&) = delete;
  ErraticPort& operator=(const ErraticPort&) = delete;

  void begin(std::uint32_t tag, const Terms& /*terms*/) override { tag_ = tag; }
  [[nodiscard]] Posted post(std::span<const Send> sends) override;
  [[nodiscard]] Copies prepare(const Send& send, std::size_t reading, bool may_stage,
                               std::vector<std::byte*>& copies) override;
  [[nodiscard]] std::size_t unreleased(Rank peer) override;
  void copy_unreleased(Rank peer) override;
  [[nodiscard]] std::size_t poll(std::span<const Rank> peers, std::span<std::byte> into,
                                 const void** data, std::span<const Rank> next) override;
  void consume(std::span<const Rank> peers, std::size_t bytes) override;
  [[nodiscard]] bool may_arrive(Rank peer, bool has_ended) override;
  void revoke() override;
  [[nodiscard]] bool has_revoked(Rank peer) const override;
  [[nodiscard]] bool is_exposed(const std::function<bool(Rank)>& is_gone) override;
  void abandon() override;
  [[nodiscard]] Outlook progress(std::uint32_t idle, Clock::time_point deadline) override;
  void arm(WokenBy by) override;
  void sleep(Clock::time_point deadline) override;
  void interrupt() override;

 private:
  using Lock = std::unique_lock<std::mutex>;

  [[nodiscard]] Lock lock() const { return Lock(network_->mutex); }
  [[nodiscard]] Network::Stream& to(Rank peer) const;
  [[nodiscard]] Network::Stream& from(Rank peer) const;
  [[nodiscard]] std::size_t piece_of(std::size_t bytes);
  void age();
  void copy(Network::Stream& stream) const;

  std::shared_ptr<Network> network_;
  std::shared_ptr<Network::Group> group_;
  Membership membership_;
  Random random_;
  std::optional<std::uint32_t> steps_to_live_;
  std::uint32_t tag_ = 0;
  std::vector<std::byte> prepared_{};
  bool is_interrupted_ = false;
};

}  // namespace tutti::test::erratic
