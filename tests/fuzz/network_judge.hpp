#pragma once

#include <tutti/network/network.hpp>

namespace tutti::test {

/// Requires what is true of every network that tutti takes: it is the same when it is written and
/// read again, and its routes lead where they should.
void judge(const Network& network);

}  // namespace tutti::test
