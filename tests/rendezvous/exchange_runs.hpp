#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tutti/error.hpp>

#include "rendezvous/tcp_member.hpp"
#include "rendezvous/tcp_root.hpp"

/// Runs of a rendezvous over TCP, each rank in a thread of the test.
namespace tutti::test {

using namespace std::chrono_literals;

inline const Secret secret{"a secret of the tests"};

inline Socket listen_here(const std::string& at = "127.0.0.1:0") {
  return listen_on(Endpoint::parse(at), {});
}

inline TcpMember::Finder at(const Endpoint& endpoint) {
  return [endpoint] { return std::vector<Endpoint>{endpoint}; };
}

inline Clock::time_point in(Clock::duration time) { return Clock::now() + time; }

inline Group group(std::uint32_t rank, std::uint32_t size, const std::string& job = "job",
                   const Secret& known = secret) {
  return {.rank = Rank(rank), .size = size, .job = job, .secret = known};
}

/// The same, with TLS.
inline Group private_group(std::uint32_t rank, std::uint32_t size) {
  Group made = group(rank, size);
  made.secret = made.secret.encrypting();
  return made;
}

inline std::vector<Group> private_groups(std::uint32_t size) {
  std::vector<Group> all;
  for (std::uint32_t r = 0; r < size; ++r) all.push_back(private_group(r, size));
  return all;
}

/// The outcome of one rank.
struct Result {
  std::vector<std::vector<std::string>> rounds;
  std::string error;
  ErrorCode code = ErrorCode::internal;
};

inline Result play(const std::function<std::unique_ptr<Exchange>()>& open, std::uint32_t rank,
                   int rounds) {
  Result result;
  try {
    const auto exchange = open();
    for (int round = 0; round < rounds; ++round) {
      result.rounds.push_back(
          exchange->all_gather("from " + std::to_string(rank) + " in " + std::to_string(round)));
    }
  } catch (const Error& error) {
    result.error = error.what();
    result.code = error.code();
  }
  return result;
}

/// Runs the ranks of `who` at `listener`, each in a thread. The first is rank 0.
inline std::vector<Result> meet(std::uint32_t size, Socket listener, int rounds = 1,
                                Clock::duration time = 20s, std::vector<Group> who = {}) {
  const Endpoint endpoint = bound_to(listener);
  if (who.empty()) {
    for (std::uint32_t r = 0; r < size; ++r) who.push_back(group(r, size));
  }
  std::vector<Result> results(who.size());
  std::vector<std::thread> threads;
  const Clock::time_point deadline = in(time);
  for (std::size_t i = 0; i < who.size(); ++i) {
    threads.emplace_back([&, i] {
      const auto open = [&]() -> std::unique_ptr<Exchange> {
        if (i == 0) return std::make_unique<TcpRoot>(who[0], std::move(listener), deadline);
        return std::make_unique<TcpMember>(who[i], at(endpoint), deadline);
      };
      results[i] = play(open, who[i].rank, rounds);
    });
  }
  for (std::thread& each : threads) each.join();
  return results;
}

inline void expect_all_met(const std::vector<Result>& results, int rounds = 1) {
  for (const Result& result : results) {
    ASSERT_EQ(result.error, "");
    ASSERT_EQ(result.rounds.size(), static_cast<std::size_t>(rounds));
    for (std::size_t round = 0; round < result.rounds.size(); ++round) {
      ASSERT_EQ(result.rounds[round].size(), results.size());
      for (std::size_t r = 0; r < results.size(); ++r) {
        ASSERT_EQ(result.rounds[round][r],
                  "from " + std::to_string(r) + " in " + std::to_string(round));
      }
    }
  }
}

}  // namespace tutti::test
