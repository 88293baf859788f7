#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tutti/collective.hpp>
#include <tutti/dtype.hpp>
#include <tutti/op.hpp>

namespace tutti {

/// The kind of a call: a collective, with the same number as in Collective, or point-to-point.
enum class FlightKind : std::uint8_t {
  broadcast,
  scatter,
  gather,
  allgather,
  reduce,
  allreduce,
  reduce_scatter,
  alltoall,
  barrier,
  send,
  receive,
  send_receive,
};

[[nodiscard]] constexpr FlightKind flight_kind(Collective collective) {
  return static_cast<FlightKind>(collective);
}
/// None for point-to-point.
[[nodiscard]] std::optional<Collective> collective_of(FlightKind kind);
[[nodiscard]] std::string_view name(FlightKind kind);
/// The inverse of name(); none if there is no such kind.
[[nodiscard]] std::optional<FlightKind> find_flight_kind(std::string_view text);

/// The arguments of a call: 40 bytes without padding, so that it can be copied as words.
struct FlightCall {
  /// Value of `count` if each rank has its own count.
  static constexpr std::uint64_t with_counts = ~std::uint64_t{0};

  FlightKind kind = FlightKind::barrier;
  DType dtype = DType::u8;
  Op op = Op::sum;
  bool is_custom = false;  ///< The caller's function is used instead of `op`.
  /// A hash of the arguments that must agree on all ranks. Equal for ranks in the same call.
  std::uint32_t signature = 0;
  std::uint32_t root = 0;   ///< Point-to-point: the rank that is sent to.
  std::uint32_t from = 0;   ///< Point-to-point: the rank that is received from.
  std::uint64_t count = 0;  ///< Elements, as in Call. Point-to-point: bytes received.
  std::uint64_t bytes = 0;  ///< Size of the rank's larger buffer. Point-to-point: bytes sent.
  /// Zero-terminated, and never freed: see lasting_text().
  const char* algorithm = "";
};

/// The caller's short name for the place of a call. Truncated if it is too long.
class FlightSite {
 public:
  static constexpr std::size_t most_bytes = 31;

  FlightSite() = default;
  explicit FlightSite(std::string_view text);

  [[nodiscard]] std::string_view text() const {
    return {bytes_.data(), static_cast<std::size_t>(bytes_.back())};
  }

 private:
  std::array<char, most_bytes + 1> bytes_{};  // The last is the length.
};

/// The record of one call on one rank.
struct FlightRecord {
  enum class State : std::uint8_t { running, done, failed };

  /// A long wait for another rank.
  struct Wait {
    std::uint32_t rank = 0;
    std::uint32_t round = 0;
    std::uint64_t bytes_done = 0;  ///< Bytes of the call done by then.

    friend bool operator==(const Wait&, const Wait&) = default;
  };

  /// Collectives: the same on all ranks of the communicator. Messages have separate numbers, which
  /// differ between ranks.
  std::uint64_t number = 0;
  FlightCall call{};
  FlightSite site{};
  std::uint64_t begun_ns = 0;  ///< By the steady clock.
  std::uint64_t ended_ns = 0;  ///< By the steady clock; 0 while it runs.
  State state = State::running;
  std::optional<Wait> wait{};
};

[[nodiscard]] std::string_view name(FlightRecord::State state);

/// "allreduce of 1048576 f32 by sum (allreduce/ring), at 'step 12'".
[[nodiscard]] std::string call_words(const FlightRecord& record);
/// "call 17, allreduce of 1048576 f32 by sum (allreduce/ring), at 'step 12'"; for point-to-point,
/// "message 17, send of 8 bytes to rank 1".
[[nodiscard]] std::string words(const FlightRecord& record);

}  // namespace tutti
