#pragma once

#include <string>
#include <vector>

namespace tutti::render {

/// What stands over a drawing: its name, and what is worth knowing about it.
struct Caption {
  std::string title;
  std::vector<std::string> lines{};
};

}  // namespace tutti::render
