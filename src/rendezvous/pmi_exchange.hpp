#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <tutti/exchange.hpp>
#include <tutti/rank.hpp>

#include "core/clock.hpp"
#include "core/process_origin.hpp"

namespace tutti {

/// A session with the launcher in PMI-1, the protocol of MPICH's Hydra and related launchers: lines
/// of text over a socket that the launcher left open.
///
/// A process has one session in its life: the launcher accepts no second one, and ends the job if
/// the session breaks off.
class PmiSession {
 public:
  /// Begins the session on this socket, which remains the caller's. Throws unsupported if the
  /// launcher speaks another protocol, timed_out or peer_lost.
  PmiSession(int fd, Rank rank, std::uint32_t size, Clock::time_point deadline);
  /// Ends the session; not in a forked child, since it is the parent's.
  ~PmiSession();
  PmiSession(const PmiSession&) = delete;
  PmiSession& operator=(const PmiSession&) = delete;

  [[nodiscard]] Rank rank() const { return rank_; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  /// A number for the next all_gather(), unique in this process.
  [[nodiscard]] std::uint64_t next_round() { return rounds_++; }

  /// Stores a text of any length under a key. Other ranks can get() it after the next barrier.
  void put(const std::string& key, const std::string& text, Clock::time_point deadline);
  [[nodiscard]] std::string get(const std::string& key, Clock::time_point deadline);
  void barrier(Clock::time_point deadline);

 private:
  using Fields = std::map<std::string, std::string>;

  /// Sends a line and waits for the reply. Throws unsupported if the reply is not `answer` with
  /// success.
  Fields ask(const std::string& line, const std::string& answer, Clock::time_point deadline);
  void send(const std::string& line);
  [[nodiscard]] std::string receive(const std::string& asked, Clock::time_point deadline);
  [[nodiscard]] std::size_t most_value_bytes(const Fields& maxes) const;

  int fd_;
  ProcessOrigin origin_{};
  Rank rank_;
  std::uint32_t size_;
  std::string space_;  // The launcher's kvsname.
  std::size_t most_value_ = 0;
  std::uint64_t rounds_ = 0;
  std::string unread_;
};

/// A rendezvous through the launcher's key-value space.
class PmiExchange : public Exchange {
 public:
  /// The first all_gather() may take until `deadline`, each later one as long as that was.
  PmiExchange(std::shared_ptr<PmiSession> session, Clock::time_point deadline);

  /// PMI does not tell which ranks are missing, so neither does timed_out.
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& contribution) override;

 private:
  std::shared_ptr<PmiSession> session_;
  Clock::duration patience_;
  Clock::time_point deadline_;
  bool first_ = true;
};

}  // namespace tutti
