#pragma once

#include <chrono>
#include <functional>
#include <string>

#include <tutti/communicator.hpp>
#include <tutti/schedule/algorithm.hpp>

namespace tutti::test {

/// A call to be tried with made-up numbers whose result is known.
struct Trial {
  Collective collective = Collective::allreduce;
  std::string algorithm{};  ///< Empty: tutti's choice.
  const ProvedSchedule* schedule = nullptr;
  DType dtype = DType::f32;
  Op op = Op::sum;
  std::uint64_t count = 1;  ///< As in Call.
  std::uint32_t root = 0;
  bool in_place = false;
  bool counted = false;                    ///< Blocks of different lengths, some of them empty.
  bool asynchronous = false;               ///< By start() instead of run().
  std::size_t misaligned = 0;              ///< Bytes by which the buffers miss a good boundary.
  bool shared = false;                     ///< Buffers from tutti::allocate().
  std::chrono::milliseconds timeout{0};    ///< As in CallOptions.
  std::function<void()> before_call = {};  ///< Done once the buffers are filled.
};

[[nodiscard]] std::string words(const Trial& trial);

/// Makes the call on numbers that follow from rank and place, and returns what is wrong with this
/// rank's output, if anything: every byte must be right, and none beside it be touched.
[[nodiscard]] std::string try_call(Communicator& communicator, const Trial& trial);

}  // namespace tutti::test
