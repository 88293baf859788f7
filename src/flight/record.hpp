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

/// What is called: a collective, under its own number, or something between two ranks.
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
/// None between two ranks.
[[nodiscard]] std::optional<Collective> collective_of(FlightKind kind);
[[nodiscard]] std::string_view name(FlightKind kind);
/// The inverse of name(); none if there is no such kind.
[[nodiscard]] std::optional<FlightKind> find_flight_kind(std::string_view text);

/// What does not change when a call is made again: 40 bytes without a gap, to be copied as words.
struct FlightCall {
  /// As `count`, where each rank has a count of its own.
  static constexpr std::uint64_t with_counts = ~std::uint64_t{0};

  FlightKind kind = FlightKind::barrier;
  DType dtype = DType::u8;
  Op op = Op::sum;
  bool is_custom = false;  ///< A function of the caller's takes the place of the op.
  /// Of what all ranks must agree on: those in the same call have the same.
  std::uint32_t signature = 0;
  std::uint32_t root = 0;   ///< Between two ranks: to whom is sent,
  std::uint32_t from = 0;   ///< and from whom is received.
  std::uint64_t count = 0;  ///< Elements, as Call has them. Between two: the bytes received.
  std::uint64_t bytes = 0;  ///< Of the rank's larger buffer. Between two: the bytes sent.
  /// Ends with a zero, and is there as long as the program.
  const char* algorithm = "";
};

/// A short text by which the caller knows a call again; what is too long is cut.
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

/// What one rank did in one call.
struct FlightRecord {
  enum class State : std::uint8_t { running, done, failed };

  /// Whom it had to wait for so long that it was worth a note.
  struct Wait {
    std::uint32_t rank = 0;
    std::uint32_t round = 0;
    std::uint64_t bytes_done = 0;  ///< Of the call, until then.

    friend bool operator==(const Wait&, const Wait&) = default;
  };

  /// The same on all ranks of the communicator. Messages between two ranks have numbers of their
  /// own, which differ between ranks.
  std::uint64_t number = 0;
  FlightCall call{};
  FlightSite site{};
  std::uint64_t begun_ns = 0;  ///< By the steady clock,
  std::uint64_t ended_ns = 0;  ///< and zero while it runs.
  State state = State::running;
  std::optional<Wait> wait{};
};

[[nodiscard]] std::string_view name(FlightRecord::State state);

/// "allreduce of 1048576 f32 by sum (allreduce/ring), at 'step 12'".
[[nodiscard]] std::string call_words(const FlightRecord& record);
/// "call 17, allreduce of 1048576 f32 by sum (allreduce/ring), at 'step 12'"; between two ranks,
/// "message 17, send of 8 bytes to rank 1".
[[nodiscard]] std::string words(const FlightRecord& record);

}  // namespace tutti
