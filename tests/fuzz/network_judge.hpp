#pragma once

#include <tutti/network/network.hpp>

namespace tutti::test {

/// Checks the invariants of a valid network: it round-trips through JSON, and its routes lead to
/// their destinations.
void judge(const Network& network);

}  // namespace tutti::test
