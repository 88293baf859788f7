#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <tutti/communicator.hpp>
#include <tutti/tutti.h>

namespace tutti {

/// What a collective of the C API was given.
struct Request {
  Collective collective;
  const void* send = nullptr;
  void* recv = nullptr;
  std::size_t count = 0;
  tuttiDataType_t type = tuttiUint8;
  tuttiRedOp_t op = tuttiSum;
  int root = 0;
  /// Operations of the caller's, which replace type and op; counts, which replace the count.
  enum class Kind { plain, custom, counted } kind = Kind::plain;
  tuttiOp_t custom = nullptr;
  const std::size_t* counts = nullptr;
  const std::size_t* recv_counts = nullptr;
};

/// What a send, a receive or both were given.
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
  /// A receive may be from any rank, of any tag, and of a shorter message.
  bool takes_any = false;
};

/// Types and operations in C++. Throw invalid_argument that lists those that there are.
[[nodiscard]] DType dtype_of(tuttiDataType_t type);
[[nodiscard]] Op op_of(tuttiRedOp_t op);

/// The same in C++. Throws invalid_argument for what has no counterpart there.
[[nodiscard]] Call call_of(const Request& request, const Communicator& communicator);

/// The same of a call that says everything itself.
[[nodiscard]] Call call_of(const tuttiCall_t& call, const Communicator& communicator);

/// What goes out, and what comes in: one of each at most.
struct PairOfMessages {
  std::vector<Outgoing> out{};
  std::vector<Incoming> in{};
};
/// A rank or a tag of a receive, or any; and what was received.
[[nodiscard]] std::uint32_t peer_or_any(int peer);
[[nodiscard]] std::uint32_t tag_or_any(int tag);
[[nodiscard]] tuttiEnvelope_t envelope_of(const Envelope& envelope);

[[nodiscard]] PairOfMessages messages_of(const PairRequest& request);

}  // namespace tutti
