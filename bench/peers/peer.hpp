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
  /// The same as `output` for a call in place, where the conventions are MPI's: an allgather's own
  /// block stands at its place in the output, a reduce_scatter's result at the beginning of its
  /// input.
  std::byte* input{};
  std::byte* output{};

  [[nodiscard]] bool in_place() const { return input == output; }
};

/// A library of collectives, seen from one rank of a group.
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

  /// Whether the library can do this at all, in place or not.
  [[nodiscard]] virtual bool supports(const Case& c, bool in_place) const = 0;

  /// What runs the call, again and again; whatever needs doing once has been done before. The
  /// buffers outlive it. Requires: supports(call.what, call.in_place()), on all ranks alike.
  [[nodiscard]] virtual std::function<void()> prepare(const Call& call) = 0;

  /// How the library does this call, in its own words; empty if it does not tell.
  [[nodiscard]] virtual std::string algorithm(const Call& /*call*/) const { return {}; }

  /// Whole pages of memory for a buffer. The library may have better than the usual.
  [[nodiscard]] virtual std::shared_ptr<std::byte> allocate(std::size_t bytes) {
    constexpr std::size_t page = 4096;
    void* const memory = std::aligned_alloc(page, (bytes / page + 1) * page);
    if (memory == nullptr) throw std::bad_alloc();
    return {static_cast<std::byte*>(memory), [](std::byte* each) { std::free(each); }};
  }

  /// For the measuring itself, never measured: a barrier, the maximum of each number over all ranks
  /// (on all ranks), and rank 0's bytes to all.
  virtual void barrier() = 0;
  virtual void maximum(std::span<double> numbers) = 0;
  virtual void share(std::span<char> bytes) = 0;
};

}  // namespace peers
