#pragma once

#include <string>

#include "support/random.hpp"

namespace tutti::test {

/// One slip of the pen or of a wire at a random place. Requires: not empty.
void spoil(std::string& text, Random& random);

}  // namespace tutti::test
