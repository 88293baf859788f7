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

// What is behind the handles of the C API, and how its functions fail.

struct tuttiComm {
  tutti::Communicator communicator;
  /// Of its reductions.
  tutti::Reproducible reproducible = tutti::Reproducible::run;
  /// What C has pointers to: see tuttiCommVerdict and tuttiCommGone.
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

/// Keeps the message for tuttiGetLastError(), and returns the code in C.
tuttiResult_t record(const char* function, ErrorCode code, const char* message) noexcept;

/// Does f and tells in C how it went: no exception leaves a function of the C API. What f returns
/// is the result, if it returns one.
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
    return record(function, ErrorCode::internal, "something was thrown that is not an error");
  }
}

/// What a handle or pointer points to. Throws invalid_argument that names it if it is null.
template <class T>
T& pointed_to(T* pointer, const char* name) {
  if (pointer != nullptr) return *pointer;
  throw Error(ErrorCode::invalid_argument, std::string(name) + " is NULL");
}

inline Communicator& communicator_of(tuttiComm_t comm) {
  return pointed_to(comm, "comm").communicator;
}

/// A rank as C counts it. Throws invalid_argument for a negative one.
std::uint32_t rank_from(int rank, const char* name);

}  // namespace tutti
