#pragma once

#include <cstddef>
#include <string>

#include <tutti/communicator_options.hpp>
#include <tutti/export.hpp>

namespace tutti {

/// The meeting point of a new group, and the key by which its ranks authenticate each other. The
/// process of rank 0 makes it and passes its text to the other ranks by any means. All ranks pass
/// it to Communicator::create(). An id makes one group.
///
/// Any process that knows the text can join, so keep it secret.
class TUTTI_API UniqueId {
 public:
  static constexpr std::size_t longest = 127;

  /// Starts to listen for the other ranks on the addresses of this host (see
  /// CommunicatorOptions::interfaces).
  [[nodiscard]] static UniqueId make(const CommunicatorOptions& options = {});
  /// An id that another process has made. create() throws if the text is not valid.
  explicit UniqueId(std::string text) : text_(std::move(text)) {}

  /// "tutti1 KEY PORT ADDRESS...", at most `longest` bytes.
  [[nodiscard]] const std::string& text() const { return text_; }

  friend bool operator==(const UniqueId&, const UniqueId&) = default;

 private:
  std::string text_;
};

}  // namespace tutti
