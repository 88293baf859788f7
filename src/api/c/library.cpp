#include <algorithm>
#include <memory>

#include <tutti/memory.hpp>
#include <tutti/tutti.h>
#include <tutti/version.hpp>

#include "api/c/handles.hpp"
#include "api/c/request.hpp"

static_assert(TUTTI_MAJOR == tutti::version_major && TUTTI_MINOR == tutti::version_minor &&
                  TUTTI_PATCH == tutti::version_patch,
              "the versions in tutti.h and CMakeLists.txt differ");

namespace tutti {
namespace {

thread_local std::string last_error;

}  // namespace

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

tuttiResult_t record(const char* function, ErrorCode code, const char* message) noexcept {
  try {
    last_error = std::string(function) + ": " + message;
  } catch (...) {
    last_error = "out of memory";  // Short enough to need no allocation.
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
      return "unsupported: this combination is not implemented; use another";
    case tuttiMismatch:
      return "mismatch: the ranks made different calls";
    case tuttiTimedOut:
      return "timed out: a rank is late";
    case tuttiPeerLost:
      return "peer lost: continue without it, or start again";
    case tuttiAborted:
      return "aborted: the communicator was aborted; make a new one";
    case tuttiInternal:
      return "internal: a bug in tutti; report it";
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
    if (element_bytes == 0) throw Error(ErrorCode::invalid_argument, "element_bytes is 0");
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

// Memory --------------------------------------------------------------------------------------

tuttiResult_t tuttiMemAlloc(void** memory, size_t bytes) {
  return guarded(__func__, [&] {
    void*& place = pointed_to(memory, "memory");
    place = nullptr;
    place = allocate(bytes);
  });
}

tuttiResult_t tuttiMemAllocUninitialized(void** memory, size_t bytes) {
  return guarded(__func__, [&] {
    void*& place = pointed_to(memory, "memory");
    place = nullptr;
    place = allocate_uninitialized(bytes);
  });
}

tuttiResult_t tuttiMemFree(void* memory) {
  return guarded(__func__, [&] { deallocate(memory); });
}

tuttiResult_t tuttiMemSize(const void* memory, size_t* bytes) {
  return guarded(__func__, [&] { pointed_to(bytes, "bytes") = allocated_bytes(memory); });
}

tuttiResult_t tuttiMemUse(size_t* in_use, size_t* idle) {
  return guarded(__func__, [&] {
    const MemoryUse use = memory_use();
    pointed_to(in_use, "in_use") = use.in_use;
    pointed_to(idle, "idle") = use.idle;
  });
}

tuttiResult_t tuttiMemTrim(size_t keep) {
  return guarded(__func__, [&] { trim_memory(keep); });
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
    // A longer time would overflow the clock.
    constexpr std::int64_t four_months = 10'000'000'000;
    const std::chrono::milliseconds time(std::min<std::int64_t>(timeout_ms, four_months));
    return awaited.wait_for(time) ? tuttiSuccess : tuttiInProgress;
  });
}

tuttiResult_t tuttiWorkThen(tuttiWork_t work, tuttiCallback_t f, void* context) {
  return guarded(__func__, [&] {
    if (f == nullptr) throw Error(ErrorCode::invalid_argument, "f is NULL");
    pointed_to(work, "work").work.then([f, context](const std::exception_ptr& failure) {
      // guarded() records the error message, if there is one.
      f(failure ? guarded("tuttiWorkThen", [&] { std::rethrow_exception(failure); }) : tuttiSuccess,
        context);
    });
  });
}

tuttiResult_t tuttiWorkEnvelope(tuttiWork_t work, tuttiEnvelope_t* envelope) {
  return guarded(__func__, [&] {
    const Work& asked = pointed_to(work, "work").work;
    pointed_to(envelope, "envelope") = envelope_of(asked.envelope());
  });
}

tuttiResult_t tuttiWorkDestroy(tuttiWork_t work) {
  return guarded(__func__, [&] { delete &pointed_to(work, "work"); });
}
