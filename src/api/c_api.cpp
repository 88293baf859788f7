#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>

#include <tutti/memory.hpp>
#include <tutti/tutti.h>
#include <tutti/version.hpp>

#include "api/c_handles.hpp"
#include "api/unique_id.hpp"

static_assert(TUTTI_MAJOR == tutti::version_major && TUTTI_MINOR == tutti::version_minor &&
                  TUTTI_PATCH == tutti::version_patch,
              "tutti.h names another version than CMakeLists.txt");
static_assert(tutti::UniqueId::longest < TUTTI_UNIQUE_ID_BYTES);

namespace tutti {
namespace {

thread_local std::string last_error;

tuttiResult_t result_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument:
      return tuttiInvalidArgument;
    case ErrorCode::unsupported:
      return tuttiUnsupported;
    case ErrorCode::mismatch:
      return tuttiMismatch;
    case ErrorCode::timed_out:
      return tuttiTimedOut;
    case ErrorCode::peer_lost:
      return tuttiPeerLost;
    case ErrorCode::aborted:
      return tuttiAborted;
    case ErrorCode::internal:
      break;
  }
  return tuttiInternal;
}

std::string text_of(const tuttiUniqueId& id) {
  return {std::begin(id.internal), std::find(std::begin(id.internal), std::end(id.internal), '\0')};
}

/// Where a new communicator goes; null until it is there.
tuttiComm_t& place_for(tuttiComm_t* comm, const char* name) {
  return pointed_to(comm, name) = nullptr;
}

std::string door_from(const char* at) {
  if (at != nullptr) return at;
  throw Error(ErrorCode::invalid_argument,
              "at is NULL: say where newcomers knock, such as 127.0.0.1:29600");
}

tuttiComm_t handle_of(Communicator communicator) {
  return new tuttiComm{.communicator = std::move(communicator)};
}

}  // namespace

tuttiResult_t record(const char* function, ErrorCode code, const char* message) noexcept {
  try {
    last_error = std::string(function) + ": " + message;
  } catch (...) {
    last_error = "out of memory";  // Short enough to need none.
  }
  return result_of(code);
}

std::uint32_t rank_from(int rank, const char* name) {
  if (rank >= 0) return static_cast<std::uint32_t>(rank);
  throw Error(ErrorCode::invalid_argument,
              std::string(name) + " is " + std::to_string(rank) + ": it cannot be negative");
}

}  // namespace tutti

using namespace tutti;

// Results -------------------------------------------------------------------------------------

tuttiResult_t tuttiGetVersion(int* number) {
  return guarded(__func__, [&] { pointed_to(number, "version") = TUTTI_VERSION_CODE; });
}

const char* tuttiGetErrorString(tuttiResult_t result) {
  switch (result) {
    case tuttiSuccess:
      return "success";
    case tuttiInvalidArgument:
      return "invalid argument: correct the call; nothing was done";
    case tuttiUnsupported:
      return "unsupported: ask for something else";
    case tuttiMismatch:
      return "mismatch: the ranks disagree about the call";
    case tuttiTimedOut:
      return "timed out: somebody is late";
    case tuttiPeerLost:
      return "peer lost: go on without it, or start again";
    case tuttiAborted:
      return "aborted: the communicator was given up; make a new one";
    case tuttiInternal:
      return "internal: a defect of tutti";
    case tuttiInProgress:
      return "in progress: not done yet";
    case tuttiResultLimit:
      break;
  }
  return "unknown result";
}

const char* tuttiGetLastError(tuttiComm_t /*comm*/) { return last_error.c_str(); }

// Operations ----------------------------------------------------------------------------------

tuttiResult_t tuttiRedOpCreate(tuttiOp_t* op, tuttiCombine_t combine, void* context,
                               size_t element_bytes) {
  return guarded(__func__, [&] {
    tuttiOp_t& place = pointed_to(op, "op");
    place = nullptr;
    if (combine == nullptr) throw Error(ErrorCode::invalid_argument, "combine is NULL");
    if (element_bytes == 0 || element_bytes > 64 || (element_bytes & (element_bytes - 1)) != 0) {
      throw Error(ErrorCode::invalid_argument,
                  "elements must have 1, 2, 4, 8, 16, 32 or 64 bytes, not " +
                      std::to_string(element_bytes) + ": pad them");
    }
    const auto with_context = [combine, context](void* accumulator, const void* contribution,
                                                 std::size_t count) {
      combine(accumulator, contribution, count, context);
    };
    place = new tuttiOp{.reduction = Reduction(Reduction::Combine(with_context)),
                        .element_bytes = element_bytes};
  });
}

tuttiResult_t tuttiRedOpDestroy(tuttiOp_t op) {
  return guarded(__func__, [&] { delete &pointed_to(op, "op"); });
}

// Communicators -------------------------------------------------------------------------------

tuttiResult_t tuttiGetUniqueId(tuttiUniqueId* id) {
  return guarded(__func__, [&] {
    tuttiUniqueId& place = pointed_to(id, "id");
    place = {};
    const std::string text = UniqueId::make().text();
    std::copy(text.begin(), text.end(), std::begin(place.internal));
  });
}

tuttiResult_t tuttiCommInitRank(tuttiComm_t* comm, int nranks, tuttiUniqueId id, int rank) {
  return guarded(__func__, [&] {
    tuttiComm_t& place = place_for(comm, "comm");
    place = handle_of(Communicator::create(UniqueId(text_of(id)), rank_from(rank, "rank"),
                                           rank_from(nranks, "nranks")));
  });
}

tuttiResult_t tuttiCommInitFromEnvironment(tuttiComm_t* comm) {
  return guarded(__func__, [&] {
    tuttiComm_t& place = place_for(comm, "comm");
    place = handle_of(Communicator::from_environment());
  });
}

tuttiResult_t tuttiCommDestroy(tuttiComm_t comm) {
  return guarded(__func__, [&] { delete &pointed_to(comm, "comm"); });
}

tuttiResult_t tuttiCommAbort(tuttiComm_t comm, const char* reason) {
  return guarded(__func__, [&] {
    communicator_of(comm).abort(reason == nullptr ? "no reason was given" : reason);
  });
}

tuttiResult_t tuttiCommCount(tuttiComm_t comm, int* count) {
  return guarded(__func__, [&] {
    pointed_to(count, "count") = static_cast<int>(communicator_of(comm).size());
  });
}

tuttiResult_t tuttiCommUserRank(tuttiComm_t comm, int* rank) {
  return guarded(
      __func__, [&] { pointed_to(rank, "rank") = static_cast<int>(communicator_of(comm).rank()); });
}

tuttiResult_t tuttiCommSplit(tuttiComm_t comm, int color, int key, tuttiComm_t* newcomm) {
  return guarded(__func__, [&] {
    Communicator& parent = communicator_of(comm);
    const bool colored = color != TUTTI_SPLIT_NOCOLOR;
    if (colored || newcomm != nullptr) place_for(newcomm, "newcomm");
    std::optional<std::uint32_t> asked;
    if (colored) asked = rank_from(color, "color");
    // Keys may be negative; this keeps their order.
    constexpr std::uint32_t middle = std::uint32_t{1} << 31;
    std::optional<Communicator> part =
        parent.split(asked, static_cast<std::uint32_t>(key) ^ middle);
    if (part) *newcomm = handle_of(*std::move(part));
  });
}

tuttiResult_t tuttiCommDuplicate(tuttiComm_t comm, tuttiComm_t* newcomm) {
  return guarded(__func__, [&] {
    tuttiComm_t& place = place_for(newcomm, "newcomm");
    place = handle_of(communicator_of(comm).duplicate());
  });
}

tuttiResult_t tuttiCommShrink(tuttiComm_t comm, tuttiComm_t* newcomm) {
  return guarded(__func__, [&] {
    Communicator& parent = communicator_of(comm);
    tuttiComm_t& place = place_for(newcomm, "newcomm");
    place = handle_of(*parent.shrink().communicator);
  });
}

tuttiResult_t tuttiCommGrow(tuttiComm_t comm, const char* at, tuttiComm_t* newcomm) {
  return guarded(__func__, [&] {
    Communicator& parent = communicator_of(comm);
    const std::string door = door_from(at);
    tuttiComm_t& place = place_for(newcomm, "newcomm");
    std::optional<Communicator> grown = parent.grow({.at = door});
    if (grown) place = handle_of(*std::move(grown));
  });
}

tuttiResult_t tuttiCommJoin(const char* at, int64_t timeout_ms, tuttiComm_t* newcomm) {
  return guarded(__func__, [&] {
    const std::string door = door_from(at);
    if (timeout_ms <= 0) throw Error(ErrorCode::invalid_argument, "timeout_ms is not above 0");
    tuttiComm_t& place = place_for(newcomm, "newcomm");
    place = handle_of(Communicator::join(door, std::chrono::milliseconds(timeout_ms)));
  });
}

tuttiResult_t tuttiCommCounters(tuttiComm_t comm, tuttiCounters_t* counters) {
  return guarded(__func__, [&] {
    const Communicator& communicator = communicator_of(comm);
    tuttiCounters_t& sum = pointed_to(counters, "counters") = {};
    for (const Collective collective : collectives()) {
      const Counters each = communicator.counters(collective);
      const PeerCounters total = each.total();
      sum.calls += each.calls;
      sum.bytes_sent += total.bytes_sent;
      sum.bytes_received += total.bytes_received;
      sum.messages_sent += total.messages_sent;
      sum.messages_received += total.messages_received;
    }
  });
}

// Memory --------------------------------------------------------------------------------------

tuttiResult_t tuttiMemAlloc(void** memory, size_t bytes) {
  return guarded(__func__, [&] {
    void*& place = pointed_to(memory, "memory");
    place = nullptr;
    place = allocate(bytes);
  });
}

tuttiResult_t tuttiMemFree(void* memory) {
  return guarded(__func__, [&] { deallocate(memory); });
}

// Work ----------------------------------------------------------------------------------------

tuttiResult_t tuttiWorkTest(tuttiWork_t work, int* done) {
  return guarded(__func__, [&] {
    const Work& asked = pointed_to(work, "work").work;
    pointed_to(done, "done") = asked.test() ? 1 : 0;
  });
}

tuttiResult_t tuttiWorkWait(tuttiWork_t work, int64_t timeout_ms) {
  return guarded(__func__, [&] {
    const Work& awaited = pointed_to(work, "work").work;
    if (timeout_ms < 0) {
      awaited.wait();
      return tuttiSuccess;
    }
    // More would not fit into a clock.
    constexpr std::int64_t four_months = 10'000'000'000;
    const std::chrono::milliseconds time(std::min<std::int64_t>(timeout_ms, four_months));
    return awaited.wait_for(time) ? tuttiSuccess : tuttiInProgress;
  });
}

tuttiResult_t tuttiWorkDestroy(tuttiWork_t work) {
  return guarded(__func__, [&] { delete &pointed_to(work, "work"); });
}
