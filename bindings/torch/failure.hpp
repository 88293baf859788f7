#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <tutti/tutti.h>

namespace tutti_torch {

/// Throws the error of a call of the C API as an exception that torch converts to Python:
/// ValueError for wrong arguments, NotImplementedError for what tutti lacks, DistBackendError for
/// the rest. The words for timeouts are those that torch's programs search for.
/// `timeout` is the one that the call had.
void require_success(tuttiResult_t result, std::string_view call,
                     std::chrono::milliseconds timeout = std::chrono::milliseconds(0));

/// Throws a ValueError that begins with the call.
[[noreturn]] void refuse(std::string_view call, const std::string& reason);

/// Throws a DistBackendError that begins with the call.
[[noreturn]] void fail(std::string_view call, const std::string& reason);

}  // namespace tutti_torch
