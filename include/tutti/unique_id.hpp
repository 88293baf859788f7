#pragma once

#include <cstddef>
#include <string>

#include <tutti/communicator_options.hpp>
#include <tutti/export.hpp>

namespace tutti {

/// Where the ranks of a new group meet, and the key by which they know each other. The process that
/// will be rank 0 makes it and hands its text to the others by any means; Communicator::create()
/// takes it. An id makes one group.
///
/// Whoever knows the text can join: keep it to the ranks.
class TUTTI_API UniqueId {
 public:
  static constexpr std::size_t longest = 127;

  /// Begins to listen, on the addresses of this host (see CommunicatorOptions::interfaces), for
  /// those who will use it.
  [[nodiscard]] static UniqueId make(const CommunicatorOptions& options = {});
  /// An id that another process has made. create() says if it cannot be one.
  explicit UniqueId(std::string text) : text_(std::move(text)) {}

  /// "tutti1 KEY PORT ADDRESS...", at most `longest` bytes.
  [[nodiscard]] const std::string& text() const { return text_; }

  friend bool operator==(const UniqueId&, const UniqueId&) = default;

 private:
  std::string text_;
};

}  // namespace tutti
