#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "render/caption.hpp"

namespace tutti::render {

/// What ranks, or other actors, did over time: rows of spans, and messages between them.
struct Recording {
  struct Span {
    std::size_t row = 0;
    std::string name{};
    std::string kind{};  ///< Spans of one kind have one colour.
    double begin = 0;    ///< In seconds after the beginning of the trace.
    double end = 0;
  };
  struct Arrow {
    std::size_t from_row = 0;
    double from = 0;
    std::size_t to_row = 0;
    double to = 0;
  };

  Caption caption{};
  std::vector<std::string> rows{};  ///< The names.
  std::vector<Span> spans{};
  std::vector<Arrow> arrows{};
};

/// Reads the trace event format of Chrome, as JSON: complete events ("X") are spans, flow events
/// ("s", "f") arrows, and metadata ("M") names rows. Other events are ignored. Rows are threads,
/// ordered by process and thread. The title and the lines below it are otherData.title and
/// otherData.notes.
/// Throws invalid_argument that names the event if it is another text, or has no spans.
[[nodiscard]] Recording parse_recording(std::string_view text);

}  // namespace tutti::render
