#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tutti {

/// Writes JSON to an open file through a small buffer. Async-signal-safe: it neither allocates nor
/// locks.
class JsonWriter {
 public:
  explicit JsonWriter(int fd) : fd_(fd) {}

  void open_object();
  void close_object();  ///< Also ends the line.
  void member(std::string_view key, std::uint64_t value);
  void member(std::string_view key, std::string_view text);
  /// As a string of hexadecimal digits, since JSON readers that use doubles would lose bits of a
  /// 64-bit number.
  void hexadecimal(std::string_view key, std::uint64_t value, std::size_t digits);

  /// Flushes the buffer. Returns 0 or the first errno.
  [[nodiscard]] int finish();

 private:
  void key(std::string_view key);
  void add(std::string_view text);
  void add(char letter);
  void add_quoted(std::string_view text);
  void flush();

  int fd_;
  int error_ = 0;
  bool is_first_ = true;
  std::size_t used_ = 0;
  std::array<char, 1024> buffer_;
};

}  // namespace tutti
