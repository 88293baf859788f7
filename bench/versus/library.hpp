#pragma once

#include <string_view>

namespace tutti::cli {

/// A library that `tutti bench --vs` can start.
enum class Library { tutti, openmpi, mpich, intelmpi, gloo, oneccl, direct };

/// "openmpi": the name on the command line, and of the program in bench/peers.
[[nodiscard]] std::string_view name(Library library);

}  // namespace tutti::cli
