#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tutti {

/// Writes JSON to an open file by way of a small buffer. It takes no memory and no lock, so that a
/// signal handler may use it.
class JsonWriter {
 public:
  explicit JsonWriter(int fd) : fd_(fd) {}

  void open_object();
  void close_object();  ///< And ends the line.
  void member(std::string_view key, std::uint64_t value);
  void member(std::string_view key, std::string_view text);
  /// As so many hexadecimal digits in quotes: readers of JSON that take numbers for doubles would
  /// lose some of 64 bits.
  void hexadecimal(std::string_view key, std::uint64_t value, std::size_t digits);

  /// Writes what is left. Zero, or the first errno.
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
