#include "rendezvous/framed_channel.hpp"

#include <vector>

#include "fuzz/finding.hpp"
#include "fuzz/line.hpp"
#include "fuzz/tape.hpp"
#include "fuzz/target.hpp"

namespace tutti::test {
namespace {

/// Reference decoder: a length of four bytes in little-endian order, a letter for the kind, a body.
std::vector<Frame> frames_of(std::string_view wire) {
  std::vector<Frame> frames;
  while (wire.size() >= 5) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      length += std::size_t{static_cast<unsigned char>(wire[i])} << (8 * i);
    }
    const bool is_frame = std::string_view("jwcxgldo").find(wire[4]) != std::string_view::npos;
    if (!is_frame || length > Frame::most_bytes || wire.size() < 5 + length) return frames;
    frames.push_back(
        {.kind = static_cast<Frame::Kind>(wire[4]), .body = std::string(wire.substr(5, length))});
    wire.remove_prefix(5 + length);
  }
  return frames;
}

}  // namespace

void try_framed_channel(std::string_view input) {
  Tape tape(input);
  Line line;
  FramedChannel channel(Channel(std::move(line.near)));
  std::string wire;
  std::vector<Frame> received;
  for (int idle = 0; idle < 3; ++idle) {
    const std::string_view sent = tape.take(1 + tape.byte() % 64);
    if (!sent.empty()) {
      wire.append(sent.substr(0, put(line.far, sent)));
      idle = 0;
    }
    if (tape.at_end()) line.far = Socket();
    channel.advance();
    while (auto frame = channel.next()) {
      received.push_back(*std::move(frame));
      channel.advance();
      idle = 0;
    }
  }
  require(!channel.lost().empty(), "the end of a connection is not reported");
  const std::vector<Frame> expected = frames_of(wire);
  require(received.size() == expected.size(), "frames are lost or invented");
  for (std::size_t i = 0; i < received.size(); ++i) {
    require(received[i].kind == expected[i].kind && received[i].body == expected[i].body,
            "a frame differs from what was sent");
  }
}

}  // namespace tutti::test
