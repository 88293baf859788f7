#include "net/rejection_log.hpp"

#include <cstdio>
#include <utility>

namespace tutti {
namespace {

constexpr std::chrono::seconds pause{1};
constexpr std::size_t most_sources = 1024;

/// Replaces control characters: text from a peer must not control the terminal or forge a line.
std::string printable(std::string text) {
  for (char& each : text) {
    const auto byte = static_cast<unsigned char>(each);
    if (byte < ' ' || byte == 0x7F) each = '?';
  }
  return text;
}

void to_stderr(const std::string& line) { std::fputs(line.c_str(), stderr); }

}  // namespace

RejectionLog::RejectionLog(Rank self, Sink sink)
    : self_(self), sink_(sink ? std::move(sink) : to_stderr) {}

void RejectionLog::note_rejection(const std::string& source, const std::string& why,
                                  Clock::time_point now) {
  if (sources_.size() >= most_sources) {
    std::erase_if(sources_, [&](const auto& each) { return each.second.next <= now; });
    // So many sources at once are a flood: log no more of it.
    if (sources_.size() >= most_sources) return;
  }
  Entry& entry = sources_[source];
  if (now < entry.next) {
    ++entry.unsaid;
    return;
  }
  const std::string others =
      entry.unsaid == 0 ? "" : " (and " + std::to_string(entry.unsaid) + " before it)";
  sink_("tutti: rank " + std::to_string(self_) + " rejected a connection from " +
        printable(source) + others + ": " + printable(why) + "\n");
  entry = {.next = now + pause, .unsaid = 0};
}

}  // namespace tutti
