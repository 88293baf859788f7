#pragma once

#include <chrono>
#include <functional>
#include <string>

#include <tutti/communicator.hpp>
#include <tutti/schedule/algorithm.hpp>

namespace tutti::test {

/// A call on generated numbers with a known result.
struct Trial {
  Collective collective = Collective::allreduce;
  std::string algorithm{};  ///< Empty: tutti's choice.
  const ProvedSchedule* schedule = nullptr;
  DType dtype = DType::f32;
  Op op = Op::sum;
  std::uint64_t count = 1;  ///< As in Call.
  std::uint32_t root = 0;
  bool in_place = false;
  bool counted = false;        ///< Blocks of different lengths, some of them empty.
  bool asynchronous = false;   ///< By start() instead of run().
  std::size_t misaligned = 0;  ///< Offset of the buffers from an aligned address, in bytes.
  bool shared = false;         ///< Buffers from tutti::allocate().
  bool single_copy = false;    ///< As many messages as possible are copied once, by the kernel.
  std::chrono::milliseconds timeout{0};    ///< As in CallOptions.
  std::function<void()> before_call = {};  ///< Runs when the buffers are filled.
};

[[nodiscard]] std::string words(const Trial& trial);

/// Makes the call and says what is wrong with this rank's output, if anything. Every byte must be
/// right, and no byte outside may change.
[[nodiscard]] std::string try_call(Communicator& communicator, const Trial& trial);

}  // namespace tutti::test
