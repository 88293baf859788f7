#pragma once

#include <cstddef>
#include <exception>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tutti/communicator.hpp>
#include <tutti/schedule/proved_schedule.hpp>
#include <tutti/tutti.h>

// The structs behind the handles of the C API, and its error handling.

struct tuttiComm {
  tutti::Communicator communicator;
  /// The level of its reductions.
  tutti::Reproducible reproducible = tutti::Reproducible::run;
  /// Memory to which tuttiCommVerdict and tuttiCommGone return pointers.
  std::string verdict_reason{};
  std::vector<int> verdict_ranks{};
  std::vector<int> gone{};
};

struct tuttiWork {
  tutti::Work work;
};

struct tuttiOp {
  tutti::Reduction reduction;
  std::size_t element_bytes;
};

struct tuttiSchedule {
  tutti::ProvedSchedule schedule;
};

namespace tutti {

[[nodiscard]] tuttiResult_t result_of(ErrorCode code) noexcept;

/// Stores the message for tuttiGetLastError() and returns the code in C.
tuttiResult_t record(const char* function, ErrorCode code, const char* message) noexcept;

/// Calls f and converts exceptions to results: no exception may leave a function of the C API.
/// Returns the result of f, or tuttiSuccess if f returns void.
template <class F>
tuttiResult_t guarded(const char* function, F&& f) noexcept {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<F>>) {
      std::forward<F>(f)();
      return tuttiSuccess;
    } else {
      return std::forward<F>(f)();
    }
  } catch (const Error& error) {
    return record(function, error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return record(function, ErrorCode::unsupported, "there is not enough memory");
  } catch (const std::exception& error) {
    return record(function, ErrorCode::internal, error.what());
  } catch (...) {
    return record(function, ErrorCode::internal, "an exception of unknown type was thrown");
  }
}

/// Dereferences a handle or pointer. Throws invalid_argument that names it if it is null.
template <class T>
T& pointed_to(T* pointer, const char* name) {
  if (pointer != nullptr) return *pointer;
  throw Error(ErrorCode::invalid_argument, std::string(name) + " is NULL");
}

inline Communicator& communicator_of(tuttiComm_t comm) {
  return pointed_to(comm, "comm").communicator;
}

/// Converts a rank or another number from int. Throws invalid_argument if it is negative.
std::uint32_t rank_from(int rank, const char* name);

}  // namespace tutti
