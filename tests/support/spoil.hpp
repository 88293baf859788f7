#pragma once

#include <string>

#include "support/random.hpp"

namespace tutti::test {

/// Makes one random change to the text. Requires: not empty.
void spoil(std::string& text, Random& random);

}  // namespace tutti::test
