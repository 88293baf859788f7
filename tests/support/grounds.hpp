#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include <tutti/communicator.hpp>

#include "support/processes.hpp"

namespace tutti::test {

/// Ranks are threads, processes that share memory, or processes connected by TCP.
enum class Ground { threads, memory, tcp };

inline auto every_ground() {
  return ::testing::Values(Ground::threads, Ground::memory, Ground::tcp);
}

inline std::string name_of_ground(const ::testing::TestParamInfo<Ground>& each) {
  return each.param == Ground::threads  ? "Threads"
         : each.param == Ground::memory ? "Memory"
                                        : "Tcp";
}

/// Expects that all ranks run it without an error.
inline void run_ranks(std::uint32_t ranks, Ground ground,
                      const std::function<void(Communicator&)>& f) {
  if (ground == Ground::threads) {
    run_threads(ranks, f);
    return;
  }
  const Way way = ground == Ground::memory ? Way::memory : Way::tcp;
  EXPECT_EQ(run_processes(ranks, way,
                          [&](Communicator& comm) -> std::string {
                            try {
                              f(comm);
                            } catch (const std::exception& error) {
                              return error.what();
                            }
                            return ::testing::Test::HasFailure() ? "an expectation failed" : "";
                          }),
            "");
}

}  // namespace tutti::test
