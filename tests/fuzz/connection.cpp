#include "transport/tcp/connection.hpp"

#include <cstring>
#include <vector>

#include "fuzz/finding.hpp"
#include "fuzz/line.hpp"
#include "fuzz/tape.hpp"
#include "fuzz/target.hpp"

namespace tutti::test {
namespace {

constexpr std::uint32_t call = 7;
constexpr std::uint64_t own_context = 77;
constexpr std::size_t cache_line = 64;

/// The data that is sent. Nearby positions have different bytes.
std::string_view pattern() {
  static const std::string bytes = [] {
    std::string all(std::size_t{1} << 20, ' ');
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = static_cast<char>((i * 2654435761U) >> 13);
    return all;
  }();
  return bytes;
}

/// Frames on the wire, and where their data ends.
struct Recording {
  std::string wire{};
  std::vector<std::size_t> ends{};  ///< End of each frame within the data of all frames.

  [[nodiscard]] std::size_t size() const { return ends.empty() ? 0 : ends.back(); }

  void add(std::size_t length) {
    const std::size_t begin = size();
    add_frame(own_context, pattern().substr(begin, length));
    ends.push_back(begin + length);
  }
  /// A frame for another communicator, which does not read.
  void add_foreign(std::size_t length) { add_frame(own_context + 1, pattern().substr(0, length)); }
  void add_grant(std::uint32_t bytes) {
    add_header({.kind = FrameHeader::Kind::grant, .bytes = bytes, .context = own_context});
  }

 private:
  void add_frame(std::uint64_t context, std::string_view data) {
    const FrameHeader header{
        .bytes = static_cast<std::uint32_t>(data.size()), .call = call, .context = context};
    add_header(header);
    wire += data;
    wire.append(header.padding(), '\0');
  }
  void add_header(const FrameHeader& header) {
    const auto raw = header.encode();
    wire.append(reinterpret_cast<const char*>(raw.data()), raw.size());
  }
};

Recording record(Tape& tape) {
  constexpr std::size_t most_frames = 12;
  constexpr std::size_t longest = 300000;  // Larger than the block into which frames are read.
  Recording stream;
  for (std::size_t count = 1 + tape.byte() % most_frames; count > 0; --count) {
    const std::size_t length = 1 + tape.word() % 1024;
    const bool is_long = tape.byte() % 16 == 15 && stream.size() < longest;
    stream.add(is_long ? length * (longest / 1024) : length);
    const std::uint32_t between = tape.byte();
    if (between % 4 == 1) stream.add_foreign(1 + between);
    if (between % 4 == 2) stream.add_grant(1 + between);
  }
  return stream;
}

/// A listener that ignores notifications: the test polls.
class NullListener final : public StreamListener {
  void notify() override {}
};

/// Receives in all possible ways and compares with what was sent.
class Listener {
 public:
  Listener(Connection& connection, const Recording& stream)
      : connection_(connection),
        own_(connection.open(own_context, null_listener_)),
        stream_(stream) {}

  [[nodiscard]] Stream& own() { return *own_; }

  [[nodiscard]] bool has_all() const { return received_ == stream_.size(); }

  void look(std::size_t most) {
    const std::span<const std::byte> seen = connection_.buffered(*own_, call);
    if (seen.empty()) {
      (void)connection_.pump(*own_);
      return;
    }
    const auto address = reinterpret_cast<std::uintptr_t>(seen.data());
    require((address - in_frame()) % 8 == 0, "an element is shown at a misaligned address");
    require(is_whole(seen.size()), "part of an element is shown");
    compare(seen);
    const std::size_t taken = std::min(most, seen.size());
    connection_.consume(*own_, taken);
    pass(taken);
  }

  void receive(std::size_t most) {
    // Exactly of this size, so that sanitizers detect an overrun.
    std::vector<std::byte> to(most);
    const std::size_t bytes = connection_.receive(*own_, to, call);
    require(bytes <= most, "more bytes are received than the buffer holds");
    require(bytes == most || is_whole(bytes), "part of an element is received");
    compare(std::span(to).first(bytes));
    pass(bytes);
  }

 private:
  [[nodiscard]] std::size_t in_frame() const {
    return frame_ == 0 ? received_ : received_ - stream_.ends[frame_ - 1];
  }
  [[nodiscard]] bool is_whole(std::size_t bytes) const {
    return bytes == 0 || received_ + bytes == stream_.ends.at(frame_) ||
           (in_frame() + bytes) % cache_line == 0;
  }
  void compare(std::span<const std::byte> bytes) const {
    require(bytes.empty() || received_ + bytes.size() <= stream_.ends.at(frame_),
            "more bytes are received than the frame has");
    const std::string_view sent = pattern().substr(received_, bytes.size());
    require(bytes.empty() || std::memcmp(bytes.data(), sent.data(), sent.size()) == 0,
            "the bytes received differ from those sent");
  }
  void pass(std::size_t bytes) {
    received_ += bytes;
    if (frame_ < stream_.ends.size() && received_ == stream_.ends[frame_]) ++frame_;
  }

  NullListener null_listener_;
  Connection& connection_;
  std::shared_ptr<Stream> own_;
  const Recording& stream_;
  std::size_t received_ = 0;
  std::size_t frame_ = 0;
};

/// A peer that follows the protocol: all that it sends arrives, and its end is reported.
void test_valid_peer(Tape& tape) {
  Line line;
  Connection connection(Channel(std::move(line.near)));
  const Recording stream = record(tape);
  Listener listener(connection, stream);
  std::string_view unsent = stream.wire;
  while (!tape.at_end()) {
    const std::uint32_t what = tape.byte();
    const std::size_t bytes = 1 + (what & 4 ? tape.word() * 8 : tape.byte());
    if (what % 4 == 0) {
      unsent.remove_prefix(put(line.far, unsent.substr(0, bytes)));
    } else if (what % 4 == 1) {
      listener.look(bytes);
    } else if (!listener.has_all()) {
      listener.receive(bytes);
    }
  }
  for (int idle = 0; !listener.has_all(); ++idle) {
    constexpr int most_idle = 10000;
    require(idle < most_idle, "data that was sent does not arrive");
    unsent.remove_prefix(put(line.far, unsent));
    listener.receive(100000);
  }
  line.far = Socket();
  while (connection.pump(listener.own())) {
  }
  require(connection.has_ended(), "the end of a connection is not detected");
  const auto more =
      attempt([&] { return connection.buffered(listener.own(), call); }, {ErrorCode::peer_lost});
  require(!more, "the end of a connection is not reported");
}

/// A peer that sends arbitrary bytes: anything but a frame of this call is reported.
void test_arbitrary_peer(Tape& tape) {
  Line line;
  Connection connection(Channel(std::move(line.near)));
  NullListener null_listener;
  const std::shared_ptr<Stream> own = connection.open(own_context, null_listener);
  std::vector<std::byte> memory(4096);
  const auto expected = {ErrorCode::peer_lost, ErrorCode::mismatch};
  for (int turn = 0; turn < 200 && line.far; ++turn) {
    const std::uint32_t what = tape.byte();
    const std::string_view sent = tape.take(what / 4);
    if (!sent.empty()) (void)put(line.far, sent);
    if (tape.at_end()) line.far = Socket();
    (void)attempt(
        [&] {
          if (what % 4 > 1) {
            return connection.receive(*own, std::span(memory).first(1 + what), call);
          }
          const std::size_t here = connection.buffered(*own, call).size();
          require(here <= sent.size() + memory.size() * 16, "more bytes are shown than were sent");
          if (here > 0) connection.consume(*own, what % 4 == 0 ? here : (here + 1) / 2);
          if (here == 0) (void)connection.pump(*own);
          return here;
        },
        expected);
  }
}

}  // namespace

void try_connection(std::string_view input) {
  Tape tape(input);
  if (tape.byte() % 4 != 0) {
    test_valid_peer(tape);
  } else {
    test_arbitrary_peer(tape);
  }
}

}  // namespace tutti::test
