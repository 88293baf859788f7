#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <tutti/collective.hpp>
#include <tutti/dtype.hpp>
#include <tutti/reduction.hpp>
#include <tutti/reproducible.hpp>
#include <tutti/shape.hpp>

namespace tutti {

class ProvedSchedule;

/// What a caller may say about one call besides its data.
struct CallOptions {
  /// "allreduce/ring"; empty lets tutti choose. All ranks must say the same.
  std::string_view algorithm{};
  /// A schedule to run in place of an algorithm: see prove(). It must be for this collective,
  /// number of ranks and root, and all ranks must give one of the same content. Read until the
  /// call, or the start of it, returns.
  const ProvedSchedule* schedule = nullptr;
  /// How the ranks stand in nodes, for algorithms that heed it; empty is as the hosts have them.
  Shape shape{};
  /// Between ranks that share memory: messages of so many bytes and more are read where they stand,
  /// if others can see them there (see allocate()); shorter ones are copied by the sender, who then
  /// need not wait for their readers. Zero is as the profile has it. Ranks may say different
  /// things.
  std::size_t direct_from = 0;
  /// How large the pieces are in which data travels; zero is as the profile has it. Ranks may say
  /// different things.
  std::size_t slice_bytes = 0;
  /// How long to wait for the others; zero is what the communicator was told.
  std::chrono::milliseconds timeout{0};
  /// Where in the program this is, for messages and the flight recorder: "step 12". Up to 31 bytes
  /// of it are kept.
  std::string_view site{};
  /// Should the call fail, the input is what it was before, also where input and output are the
  /// same memory; that takes a copy.
  bool keep_input = false;
  /// What the bits of a reduction may depend on. All ranks must say the same.
  Reproducible reproducible = Reproducible::run;
};

/// A collective on raw memory, as one rank asks for it. What it does not heed is left as it is.
///
/// Input and output may be the same memory: for blocks (scatter, gather, allgather, reduce_scatter)
/// the rank's own block within the larger buffer. Otherwise they must not overlap.
struct Call {
  Collective collective = Collective::barrier;
  const void* input = nullptr;
  void* output = nullptr;
  /// Several contributions of this rank to a reduction instead of the input, each as long as the
  /// input would be; or none at all. Ranks may bring different numbers of them, but all must give
  /// shards. The result is the same however contributions are spread over ranks, so the level must
  /// be exact, unless the order does not matter anyway; avg divides by their number. One of them
  /// may stand where the input would in place.
  std::optional<std::span<const void* const>> shards{};
  /// Elements: of the whole data for broadcast, reduce and allreduce; of one block for the others.
  std::uint64_t count = 0;
  /// Blocks of different lengths: the elements of each rank's block, the same on all ranks; for
  /// alltoall, of what goes to each rank.
  std::span<const std::uint64_t> counts{};
  /// For alltoall with counts: the elements of what comes from each rank.
  std::span<const std::uint64_t> output_counts{};
  DType dtype = DType::u8;
  /// Zero is the size of the dtype. Only a reduction of the caller's can have other elements, of 1,
  /// 2, 4, 8, 16, 32 or 64 bytes.
  std::size_t element_bytes = 0;
  Reduction reduction{};
  std::uint32_t root = 0;
  CallOptions options{};
};

}  // namespace tutti
