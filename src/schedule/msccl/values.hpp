#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tutti/schedule/contract.hpp>

/// An algorithm of MSCCL as values: every step that writes a place makes a new value, so that
/// places no longer matter.
namespace tutti::msccl {

using ValueId = std::uint32_t;
inline constexpr ValueId no_value = UINT32_MAX;

/// Moments of a round, in order: messages read, then they write, then local steps run in turn.
struct Moment {
  std::int64_t round = -1;
  std::uint32_t phase = 0;  ///< 0: messages read. 1: messages write. From 2 on: local steps.

  friend auto operator<=>(const Moment&, const Moment&) = default;
};

/// What one step writes to one place.
struct Value {
  std::uint32_t gpu = 0;
  std::uint64_t chunk = 0;
  std::uint32_t first = 0;  ///< The lowest rank whose contribution it holds.
  Moment made{};
  Moment last_read{};
  std::uint16_t variant = 0;
};

/// One chunk of a message.
struct Part {
  ValueId sent = no_value;
  ValueId own = no_value;  ///< What the receiver adds, if anything.
  ValueId made = no_value;
};

struct FileMessage {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t round = 0;
  std::vector<Part> parts{};
};

/// A copy, or a sum of two values.
struct LocalPart {
  ValueId made = no_value;
  ValueId source = no_value;
  ValueId other = no_value;
};

struct FileLocal {
  std::uint32_t gpu = 0;
  std::uint32_t round = 0;
  std::uint32_t phase = 2;
  std::vector<LocalPart> parts{};
};

struct Values {
  Contract contract{};
  std::vector<Value> values{};
  std::vector<FileMessage> messages{};  ///< In an order in which they can be received.
  std::vector<FileLocal> locals{};      ///< In the order in which they run.
  /// For each GPU and output chunk, in order, the value that it ends with.
  std::vector<std::vector<ValueId>> outputs{};
  /// For each GPU and input chunk, in order.
  std::vector<std::vector<ValueId>> inputs{};
};

struct AlgorithmFile;

/// Runs the algorithm on symbols. Throws invalid_argument, naming the line, if steps wait for each
/// other, if sends and receives do not match, if a step reads what no step has written or adds
/// different chunks, if two steps that nothing orders touch the same place and one of them writes,
/// or if an output place ends with another chunk.
[[nodiscard]] Values values_of(const AlgorithmFile& file);

}  // namespace tutti::msccl
