#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <tutti/communicator.hpp>
#include <tutti/tutti.h>

namespace tutti {

/// The arguments of a collective of the C API.
struct Request {
  Collective collective;
  const void* send = nullptr;
  void* recv = nullptr;
  std::size_t count = 0;
  tuttiDataType_t type = tuttiUint8;
  tuttiRedOp_t op = tuttiSum;
  int root = 0;
  /// `custom`: a user-defined operation replaces type and op. `counted`: counts replace count.
  enum class Kind { plain, custom, counted } kind = Kind::plain;
  tuttiOp_t custom = nullptr;
  const std::size_t* counts = nullptr;
  const std::size_t* recv_counts = nullptr;
};

/// The arguments of a send, a receive or both.
struct PairRequest {
  struct Out {
    const void* data = nullptr;
    std::size_t count = 0;
    int peer = 0;
  };
  struct In {
    void* data = nullptr;
    std::size_t count = 0;
    int peer = 0;
  };
  std::optional<Out> out{};
  std::optional<In> in{};
  tuttiDataType_t type = tuttiUint8;
  int tag = 0;
  /// The receive allows TUTTI_ANY_RANK, TUTTI_ANY_TAG and a shorter message.
  bool takes_any = false;
};

/// Convert types, operations, collectives and levels to C++. Throw invalid_argument that lists the
/// valid ones.
[[nodiscard]] DType dtype_of(tuttiDataType_t type);
[[nodiscard]] Op op_of(tuttiRedOp_t op);
[[nodiscard]] Collective collective_of(tuttiCollective_t collective);
[[nodiscard]] Reproducible level_of(tuttiReproducible_t level);

/// Converts a request to C++. Throws invalid_argument if an argument is not valid.
[[nodiscard]] Call call_of(const Request& request, const Communicator& communicator);

/// Converts the argument of tuttiRun and tuttiStart.
[[nodiscard]] Call call_of(const tuttiCall_t& call, const Communicator& communicator);

/// At most one message to send and one to receive.
struct PairOfMessages {
  std::vector<Outgoing> out{};
  std::vector<Incoming> in{};
};
/// Convert the rank, tag and envelope of a receive. The rank and tag may be "any".
[[nodiscard]] std::uint32_t peer_or_any(int peer);
[[nodiscard]] std::uint32_t tag_or_any(int tag);
[[nodiscard]] tuttiEnvelope_t envelope_of(const Envelope& envelope);

[[nodiscard]] PairOfMessages messages_of(const PairRequest& request);

}  // namespace tutti
