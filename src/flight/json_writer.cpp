#include "flight/json_writer.hpp"

#include <unistd.h>

#include <cerrno>

#include "flight/digits.hpp"

namespace tutti {
namespace {

bool continues(char letter) { return (static_cast<unsigned char>(letter) & 0xC0U) == 0x80; }

/// The length in bytes of the first UTF-8 character; 0 if it is invalid.
std::size_t character_bytes(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  std::size_t bytes = 0;
  if (first < 0x80) bytes = 1;
  if (first >= 0xC2 && first < 0xE0) bytes = 2;
  if (first >= 0xE0 && first < 0xF0) bytes = 3;
  if (first >= 0xF0 && first < 0xF5) bytes = 4;
  if (bytes > text.size()) return 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!continues(text[i])) return 0;
  }
  // Overlong encodings, UTF-16 surrogates, and code points beyond U+10FFFF.
  const auto second = static_cast<unsigned char>(bytes > 1 ? text[1] : 0);
  const bool wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) ||
                     (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90);
  return wrong ? 0 : bytes;
}

}  // namespace

void JsonWriter::open_object() {
  add('{');
  is_first_ = true;
}

void JsonWriter::close_object() { add("}\n"); }

void JsonWriter::member(std::string_view key_text, std::uint64_t value) {
  key(key_text);
  add(Digits(value).text());
}

void JsonWriter::member(std::string_view key_text, std::string_view text) {
  key(key_text);
  add_quoted(text);
}

void JsonWriter::hexadecimal(std::string_view key_text, std::uint64_t value, std::size_t digits) {
  key(key_text);
  add_quoted(Digits(value, 16, digits).text());
}

int JsonWriter::finish() {
  flush();
  return error_;
}

void JsonWriter::key(std::string_view key) {
  if (!is_first_) add(',');
  is_first_ = false;
  add_quoted(key);
  add(':');
}

void JsonWriter::add(std::string_view text) {
  for (const char letter : text) add(letter);
}

void JsonWriter::add(char letter) {
  if (used_ == buffer_.size()) flush();
  buffer_[used_++] = letter;
}

void JsonWriter::add_quoted(std::string_view text) {
  add('"');
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    const auto letter = static_cast<unsigned char>(text[0]);
    if (bytes == 0) {
      add('?');
    } else if (letter < 0x20) {
      add("\\u");
      add(Digits(letter, 16, 4).text());
    } else {
      if (letter == '"' || letter == '\\') add('\\');
      add(text.substr(0, bytes));
    }
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  add('"');
}

void JsonWriter::flush() {
  std::string_view left(buffer_.data(), used_);
  used_ = 0;
  while (!left.empty() && error_ == 0) {
    const ssize_t written = ::write(fd_, left.data(), left.size());
    if (written < 0 && errno != EINTR) error_ = errno;
    if (written > 0) left.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace tutti
