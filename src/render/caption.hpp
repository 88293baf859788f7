#pragma once

#include <string>
#include <vector>

namespace tutti::render {

/// The title of a drawing and the lines below it.
struct Caption {
  std::string title;
  std::vector<std::string> lines{};
};

}  // namespace tutti::render
