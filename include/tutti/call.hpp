#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <tutti/collective.hpp>
#include <tutti/dtype.hpp>
#include <tutti/rank.hpp>
#include <tutti/reduction.hpp>
#include <tutti/reproducible.hpp>
#include <tutti/shape.hpp>

namespace tutti {

class ProvedSchedule;

/// Options of one call.
struct CallOptions {
  /// "allreduce/ring"; empty: tutti chooses. Must be the same on all ranks.
  std::string_view algorithm{};
  /// A schedule to run in place of an algorithm: see prove(). It must be for this collective,
  /// number of ranks and root. All ranks must pass the same content. It must stay valid until the
  /// call returns, also an asynchronous one.
  const ProvedSchedule* schedule = nullptr;
  /// How the ranks are grouped into nodes, for algorithms that use a shape. Empty: by host.
  Shape shape{};
  /// How long to wait for the other ranks. Zero: the timeout of the communicator.
  std::chrono::milliseconds timeout{0};
  /// The place in the program, for error messages and the flight recorder: "step 12". The first 31
  /// bytes are kept.
  std::string_view site{};
  /// If the call fails, the input is unchanged, also in place. Costs a copy for a call in place.
  bool keep_input = false;
  /// How reproducible the bits of a reduction are. Must be the same on all ranks.
  Reproducible reproducible = Reproducible::run;
  /// How the data of a call travels: changes its time, never its result. Zero: the value of the
  /// profile. Ranks may use different values.
  struct Tuning {
    /// Between ranks that share memory: messages of at least this many bytes are read directly from
    /// the sender's buffer, if the reader can map it (see allocate()). The sender copies shorter
    /// messages and need not wait for their readers.
    std::size_t direct_from = 0;
    /// Between processes of a host: messages of at least this many bytes, and of at least
    /// direct_from, that are not in memory from allocate() are copied once, by the kernel, where
    /// the system permits it. Others are copied twice, by the sender and by the receiver.
    std::size_t single_copy_from = 0;
    /// The size of the slices in which data travels.
    std::size_t slice_bytes = 0;

    friend bool operator==(const Tuning&, const Tuning&) = default;
  };
  Tuning tuning{};
};

/// The options of calls for which none are given.
inline const CallOptions usual_options{};

/// A collective on raw memory. Members that the collective does not use are ignored.
///
/// A call may be in place: input equals output or, for collectives on blocks (scatter, gather,
/// allgather, reduce_scatter), the smaller buffer is this rank's block of the larger one. Otherwise
/// the buffers must not overlap.
struct Call {
  Collective collective = Collective::barrier;
  const void* input = nullptr;
  void* output = nullptr;
  /// In place of the input of a reduction: any number of contributions of this rank, each as long
  /// as the input would be. Ranks may pass different numbers of shards, but all must pass shards.
  /// The result does not depend on how shards are distributed over ranks, so the level must be
  /// exact, unless the operation is exact in any order. avg divides by the number of shards. For a
  /// call in place, one shard may be the memory that the input would be.
  std::optional<std::span<const void* const>> shards{};
  /// Elements of the whole buffer for broadcast, reduce and allreduce; of one block for the others.
  std::uint64_t count = 0;
  /// Blocks of different lengths: the number of elements of each rank's block, the same on all
  /// ranks. For alltoall: the number of elements that go to each rank.
  std::span<const std::uint64_t> counts{};
  /// For alltoall with counts: the number of elements that come from each rank.
  std::span<const std::uint64_t> output_counts{};
  DType dtype = DType::u8;
  /// Zero: the size of the dtype. Elements of any other size can be moved, and reduced by a
  /// user-defined function, which gets them aligned as in an array, to 8 bytes at most.
  std::size_t element_bytes = 0;
  Reduction reduction{};
  Rank root = 0;
  CallOptions options{};
};

}  // namespace tutti
