#pragma once

#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <tutti/error.hpp>

namespace tutti {

/// Starts a thread that runs f. Throws unsupported that names the limit if the system refuses.
template <class F>
[[nodiscard]] std::thread start_thread(F&& f) {
  try {
    return std::thread(std::forward<F>(f));
  } catch (const std::system_error& error) {
    throw Error(ErrorCode::unsupported, "cannot start a thread: " + error.code().message() +
                                            ": raise the limit (ulimit -u or -v, or that of "
                                            "the container)");
  }
}

}  // namespace tutti
