#pragma once

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string>

#include "peers/cases.hpp"

namespace peers {

/// A collective on this rank's buffers.
struct Call {
  Case what{};
  /// The same as `output` for a call in place, with MPI's conventions: an allgather's own block is
  /// at its place in the output, a reduce_scatter's result at the beginning of its input.
  std::byte* input{};
  std::byte* output{};

  [[nodiscard]] bool in_place() const { return input == output; }
};

/// A library of collectives, on one rank of a group.
class Peer {
 public:
  Peer() = default;
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  virtual ~Peer() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int ranks() const = 0;
  [[nodiscard]] virtual std::string library() const = 0;
  [[nodiscard]] virtual std::string version() const = 0;

  /// Whether the library supports this call, in place or not.
  [[nodiscard]] virtual bool supports(const Case& c, bool in_place) const = 0;

  /// Prepares the call and returns a function that runs it repeatedly. The buffers must outlive it.
  /// Requires: supports(call.what, call.in_place()), the same on all ranks.
  [[nodiscard]] virtual std::function<void()> prepare(const Call& call) = 0;

  /// The library's name for the algorithm of this call; empty if unknown.
  [[nodiscard]] virtual std::string algorithm(const Call& /*call*/) const { return {}; }

  /// Whole pages of memory for a buffer. A library may have its own allocator.
  [[nodiscard]] virtual std::shared_ptr<std::byte> allocate(std::size_t bytes) {
    constexpr std::size_t page = 4096;
    void* const memory = std::aligned_alloc(page, (bytes / page + 1) * page);
    if (memory == nullptr) throw std::bad_alloc();
    return {static_cast<std::byte*>(memory), [](std::byte* each) { std::free(each); }};
  }

  /// For the measurement itself, never measured: a barrier, the maximum of each number over all
  /// ranks, and a broadcast from rank 0.
  virtual void barrier() = 0;
  virtual void maximum(std::span<double> numbers) = 0;
  virtual void share(std::span<char> bytes) = 0;
};

}  // namespace peers
